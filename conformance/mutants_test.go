package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// mutant is the mock with one rule of the contract broken, and the subtest that must notice.
type mutant struct {
	name, owner string
	breaks      func(next http.Handler) http.Handler
}

func TestEveryMutantIsNoticedByItsOwnSubtest(t *testing.T) {
	owned := map[string]bool{}
	all := mutants()
	assert.GreaterOrEqual(t, len(all), 100)
	for _, m := range all {
		owned[m.owner] = true
		t.Run(m.name, func(t *testing.T) {
			results, _ := examine(t, m.breaks(newMock(t)), fullTarget("http://mock.invalid"))
			failed := failing(results)
			if assert.Contains(t, failed, m.owner) {
				assert.Contains(t, strings.Join(failed[m.owner], ""), "wrong: ")
			}
			for _, texts := range failed {
				assert.NotContains(t, strings.Join(texts, ""), theKey)
				assert.NotContains(t, strings.Join(texts, ""), theClave)
			}
		})
	}
	for _, c := range allChecks(t) {
		assert.True(t, owned[c.name], "no mutant shows that %q can fail", c.name)
	}
}

func mutants() (all []mutant) {
	add := func(owner, name string, breaks func(http.Handler) http.Handler) {
		all = append(all, mutant{owner + ": " + name, owner, breaks})
	}
	for _, op := range operations {
		add("5.1/a "+string(op)+" without a key is refused", "accepted", withKey(op, func(key string) bool { return key == "" }))
		add("5.1/a "+string(op)+" with a bad key is refused", "accepted", withKey(op, func(key string) bool { return key != "" }))
	}
	add("5.1/a rate without a key is refused", "204", answering(rate, func(r *http.Request, _ *reply) bool { return r.Header.Get("X-API-KEY") == "" }, status(204)))

	for _, field := range cpeFields {
		add("2.3/"+field+" is required", "left out and taken", asking(validation, func(_ *http.Request, body *fieldsOfBody) {
			right := map[string]string{
				"rucEmisor": `"20100070970"`, "tipoComprobante": `"01"`, "serie": `"F001"`, "numero": `123`, "rucSolicitante": `"` + solRUC + `"`,
				"usuarioSol": `"` + solUser + `"`,
			}
			clave, _ := json.Marshal(theClave)
			right["claveSol"] = string(clave)
			if _, there := (*body)[field]; !there {
				(*body)[field] = json.RawMessage(right[field])
				(*body)["usuarioSol"] = json.RawMessage(right["usuarioSol"])
			}
		}))
	}
	add("2.3/claveSol is required", "a wrong clave", answering(validation, func(_ *http.Request, a *reply) bool {
		return a.status == 400 && bytes.Contains(a.body, []byte("claveSol"))
	}, failWith(401, "INVALID_SOL_CREDENTIALS")))
	for _, tipo := range tipos {
		add("2.3/tipoComprobante "+tipo+" is allowed", "refused", asking(validation, func(_ *http.Request, body *fieldsOfBody) {
			if string((*body)["tipoComprobante"]) == `"`+tipo+`"` {
				(*body)["tipoComprobante"] = json.RawMessage(`"99"`)
			}
		}))
	}
	add("2.3/another tipoComprobante is not answered with 200", "taken as 01", asking(validation, func(_ *http.Request, body *fieldsOfBody) {
		if string((*body)["tipoComprobante"]) == `"02"` {
			(*body)["tipoComprobante"] = json.RawMessage(`"01"`)
		}
	}))

	for codigo, estado := range resultados {
		owner := "2.4/codigo " + codigo + " is " + estado
		add(owner, "another estado", answering(validation, ofCodigo(codigo), setMember("estado", `"ACEPTADO"`)))
		add(owner, "another codigo", answering(validation, ofCodigo(codigo), setMember("codigo", `"0`+codigo+`"`)))
		add(owner, "a number", answering(validation, ofCodigo(codigo), setMember("codigo", codigo)))
		if codigo != "99" {
			add(owner, "esValido inverted", answering(validation, ofCodigo(codigo), setMember("esValido", fmt.Sprint(codigo != "0"))))
			add(owner, "esValido null", answering(validation, ofCodigo(codigo), setMember("esValido", "null")))
		}
	}
	for _, field := range []string{"rucEmisor", "rucSolicitante"} {
		owner := "4.3/a malformed " + field + " is a 400"
		add(owner, "taken", asking(validation, func(_ *http.Request, body *fieldsOfBody) {
			if text := string((*body)[field]); len(text) == len(`"2010007097"`) {
				(*body)[field] = json.RawMessage(map[string]string{"rucEmisor": `"20100070970"`, "rucSolicitante": `"` + solRUC + `"`}[field])
			}
		}))
	}
	const wrongClave = "4.3/a wrong clave is a 401 INVALID_SOL_CREDENTIALS"
	add(wrongClave, "a 403", answering(validation, wrongSOL, status(403)))
	add(wrongClave, "it is taken", asking(validation, func(_ *http.Request, body *fieldsOfBody) {
		if _, there := (*body)["claveSol"]; there {
			(*body)["claveSol"], _ = json.Marshal(theClave)
		}
	}))

	add("3.1/estado", "lookup: of no list", answering(lookup, answered200, setMember("estado", `"HABILITADO"`)))
	add("3.1/estado", "lookup: in lower case", answering(lookup, answered200, setMember("estado", `"activo"`)))
	add("3.1/estado", "search: without its accent", answering(search, answered200, setMember("estado", `"SUSPENSION TEMPORAL"`)))
	add("3.2/condicion", "lookup: of no list", answering(lookup, answered200, setMember("condicion", `"NO HALLADO SE MUDO"`)))
	add("3.2/condicion", "search: in lower case", answering(search, answered200, setMember("condicion", `"habido"`)))

	for what, change := range map[string]func(*reply){
		"two values": appended("{}"), "text after it": appended("ok"), "HTML": body("<!DOCTYPE html><title>mantenimiento</title>"), "an empty body": body(""),
		"not UTF-8": body("{\"razonSocial\":\"\xd1\"}"), "too deep": body(strings.Repeat("[", 20_000)),
	} {
		add("4.1/a taxpayer is an object", what, answering(lookup, answered200, change))
	}
	add("4.1/a taxpayer is an object", "a list", answering(lookup, answered200, func(a *reply) { a.body = slices.Concat([]byte("["), a.body, []byte("]")) }))
	add("4.1/a taxpayer is an object", "null", answering(lookup, answered200, body("null")))
	add("4.1/a taxpayer is an object", "a 201", answering(lookup, answered200, status(201)))
	add("4.1/a taxpayer is an object", "a redirect", answering(lookup, answered200, func(a *reply) { a.status, a.header["Location"] = 302, []string{"/api/tipocambio"} }))
	add("4.1/a taxpayer is an object", "of another RUC", answering(lookup, answered200, setMember("ruc", `"20100070970"`)))
	for name, path := range map[string]string{"10 digits": "2013131295", "12 digits": "201313129550", "a letter": "2013131295A"} {
		owner := "4.1/" + name + map[bool]string{true: " is a 400", false: " are a 400"}[name == "a letter"]
		add(owner, "a 200", asking(lookup, func(r *http.Request, _ *fieldsOfBody) {
			if strings.HasSuffix(r.URL.Path, "/"+path) {
				r.URL.Path = "/api/contribuyentes/20131312955"
			}
		}))
	}
	const nobody = "4.1/a RUC that nobody has is a 404 NOT_FOUND"
	add(nobody, "null", answering(lookup, answered404, func(a *reply) { a.status, a.body = 200, []byte("null") }))
	add(nobody, "a 400", answering(lookup, answered404, status(400)))
	add(nobody, "another code", answering(lookup, answered404, setMember("code", `"RUC_NOT_FOUND"`)))
	add(nobody, "no code", answering(lookup, answered404, setMember("code", "")))
	add("4.1/a letter is a 400", "an empty code", answering(lookup, answered400, setMember("code", `" "`)))
	add("4.1/a letter is a 400", "an error in HTML", answering(lookup, answered400, body("<h1>400</h1>")))

	add("4.2/limit is 10 by default", "in an object", answering(search, answered200, func(a *reply) { a.body = slices.Concat([]byte(`{"data":`), a.body, []byte("}")) }))
	const none = "4.2/nothing found is an empty array"
	empty := func(_ *http.Request, a *reply) bool { return a.status == 200 && len(results(a)) == 0 }
	add(none, "null", answering(search, empty, body("null")))
	add(none, "a 404", answering(search, empty, failWith(404, "NOT_FOUND")))
	add(none, "all that there is", asking(search, func(r *http.Request, _ *fieldsOfBody) {
		setQuery(r, func(q url.Values) {
			if q.Get("razonSocial") == noSuchName {
				q.Set("razonSocial", "S.A")
			}
		})
	}))
	const anywhere = "4.2/the text may stand anywhere in the name"
	same := func(text string) bool { return len(text) < 15 }
	add(anywhere, "whole names alone", onlyFinds(func(text string) bool { return same(text) || text == sunat }))
	add(anywhere, "the beginning alone", onlyFinds(func(text string) bool { return same(text) || strings.HasPrefix(sunat, text) }))
	add(anywhere, "the beginning of words alone", onlyFinds(func(text string) bool { return same(text) || strings.Contains(" "+sunat, " "+text) }))
	add("4.2/lower case finds", "case tells", onlyFinds(func(text string) bool { return text == strings.ToUpper(text) }))
	add("4.2/upper case finds", "lower case alone", onlyFinds(func(text string) bool { return same(text) || text == strings.ToLower(text) }))
	add("4.2/3 characters are enough", "4 are", answering(search, func(r *http.Request, _ *reply) bool {
		return len([]rune(r.URL.Query().Get("razonSocial"))) < 4
	}, failWith(400, "SEARCH_TOO_SHORT")))
	for owner, text := range map[string]string{"2 characters are a 400 SEARCH_TOO_SHORT": "SA", "characters are counted, not bytes": "ÑÁ"} {
		owner = "4.2/" + owner
		add(owner, "an empty list", answering(search, withQuery("razonSocial", text), func(a *reply) { a.status, a.body = 200, []byte("[]") }))
	}
	add("4.2/razonSocial is required", "an empty list", answering(search, func(r *http.Request, _ *reply) bool {
		return !r.URL.Query().Has("razonSocial")
	}, func(a *reply) { a.status, a.body = 200, []byte("[]") }))
	limited := func(change func(url.Values)) func(http.Handler) http.Handler {
		return asking(search, func(r *http.Request, _ *fieldsOfBody) { setQuery(r, change) })
	}
	add("4.2/limit 1 returns one", "limit is not read", limited(func(q url.Values) { q.Del("limit") }))
	for _, other := range []string{"5", "20", "50"} {
		add("4.2/limit is 10 by default", other+" by default", limited(func(q url.Values) {
			if !q.Has("limit") {
				q.Set("limit", other)
			}
		}))
	}
	add("4.2/limit 50 returns up to fifty", "none", answering(search, withQuery("limit", "50"), body("[]")))
	for _, limit := range []string{"0", "51", "-1"} {
		owner := "4.2/limit " + limit + " is a 400"
		add(owner, "taken", limited(func(q url.Values) {
			if q.Get("limit") == limit {
				q.Set("limit", "10")
			}
		}))
	}
	const ordered = "4.2/a smaller limit returns the first of a larger one"
	add(ordered, "the last first", answering(search, answered200, func(a *reply) {
		list := results(a)
		slices.Reverse(list)
		setResults(a, list)
	}))
	const details = "4.2/a lookup has the details of a result"
	found := func(r *http.Request, a *reply) bool {
		return a.status == 200 && !strings.HasSuffix(r.URL.Path, "20131312955")
	}
	add(details, "of another RUC", answering(lookup, found, setMember("ruc", `"20131312955"`)))

	const object = "4.4/a rate is an object of the date asked for"
	add(object, "of another date", answering(rate, answered200, setMember("fecha", `"2024-01-16"`)))
	today := func(r *http.Request, _ *reply) bool {
		return r.URL.RawQuery == "" && r.Header.Get("X-API-KEY") == theKey
	}
	const ofToday = "4.4/without fecha it is of today"
	add(ofToday, "of an old day", answering(rate, today, func(a *reply) {
		a.status, a.body = 200, []byte(`{"compra":3.75,"venta":3.76,"moneda":"USD","fecha":"2024-01-17","origen":"SBS"}`)
	}))
	add(ofToday, "fecha is required", answering(rate, today, failWith(400, "INVALID_DATE")))
	add(ofToday, "another code", answering(rate, today, failWith(404, "NO_RATE")))
	for owner, fecha := range map[string]string{"DD-MM-YYYY with slashes": "05/01/2024", "YYYY-M-D": "2024-1-5", "YYYYMMDD": "20240105"} {
		owner = "4.4/" + owner + " is a 400"
		add(owner, "taken", asking(rate, func(r *http.Request, _ *fieldsOfBody) {
			if r.URL.Query().Get("fecha") == fecha {
				setQuery(r, func(q url.Values) { q.Set("fecha", "2024-01-05") })
			}
		}))
	}
	for owner, fecha := range map[string]string{"a Saturday": "2024-01-13", "a Sunday": "2024-01-14", "a national holiday": "2024-01-01"} {
		owner = "4.4/" + owner + " has no rate"
		add(owner, "it has", answering(rate, withQuery("fecha", fecha), func(a *reply) {
			a.status, a.body = 200, []byte(`{"compra":3.75,"venta":3.76,"moneda":"USD","fecha":"`+fecha+`","origen":"SBS"}`)
		}))
	}

	const february = "4.4/30 February has no rate"
	add(february, "that of 1 March", answering(rate, withQuery("fecha", "2024-02-30"), func(a *reply) {
		a.status, a.body = 200, []byte(`{"compra":3.75,"venta":3.76,"moneda":"USD","fecha":"2024-03-01","origen":"SBS"}`)
	}))
	add(february, "a 204", answering(rate, withQuery("fecha", "2024-02-30"), func(a *reply) { a.status, a.body = 204, nil }))

	for name, odd := range map[string][]string{
		headerLimit: {"muchas", "-1", "1000.5", "", "+5", "-0"}, headerRemaining: {"pocas", "-1", "0x10", "", "1001"},
		headerReset: {"1763701200", "2026-11-21", "2026-11-21T00:00:00-05:00", "2026-11-21T05:00:00", "Sat, 21 Nov 2026 05:00:00 GMT", "2026-13-21T05:00:00Z", "mañana"},
	} {
		key := http.CanonicalHeaderKey(name)
		add("8/"+name, "missing", answering(lookup, answered200, func(a *reply) { delete(a.header, key) }))
		add("8/"+name, "twice", answering(lookup, answered200, func(a *reply) { a.header[key] = append(a.header[key], "7") }))
		for _, value := range odd {
			add("8/"+name, fmt.Sprintf("%q", value), answering(lookup, answered200, header(key, value)))
		}
	}
	two := func(*reply) int { return 2 }
	for _, c := range []struct {
		op    operation
		owner string
	}{
		{search, "8/a search consumes 1 query"}, {search, "8/a search consumes 1 query, however many it finds"},
		{rate, "8/a rate consumes 1 query"}, {validation, "8/a validation consumes 1 query"},
	} {
		add(c.owner, "two", times(c.op, two))
		add(c.owner, "none", free(c.op))
	}
	add("8/a lookup consumes 1 query", "two", times(lookup, two))
	add("8/a lookup consumes 1 query", "none", answering(lookup, answered200, header(http.CanonicalHeaderKey(headerRemaining), "900")))
	day := 0
	add("8/a rate consumes 1 query", "two, and each lookup has another reset", func(next http.Handler) http.Handler {
		return answering(lookup, answered200, func(a *reply) {
			day++
			a.header[http.CanonicalHeaderKey(headerReset)] = []string{time.Date(2031, 1, day, 5, 0, 0, 0, time.UTC).Format(time.RFC3339)}
		})(times(rate, two)(next))
	})
	lookups := 0
	add("8/a lookup consumes 1 query", "two from the fifth on", answering(lookup, answered200, func(a *reply) {
		if lookups++; lookups >= 5 {
			left, _ := strconv.Atoi(a.header.Get(headerRemaining))
			a.header[http.CanonicalHeaderKey(headerRemaining)] = []string{strconv.Itoa(left - (lookups - 4))}
		}
	}))
	add("8/a search consumes 1 query, however many it finds", "one for each result", times(search, func(a *reply) int { return len(results(a)) }))
	return all
}
