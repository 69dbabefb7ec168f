package admin

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/mockserver"
)

// canaries are secrets that are put wherever a person may put them, rightly or by mistake.
const (
	canaryKey   = "canario-de-clave-api"
	canaryClave = "canario-de-clave-sol"
)

// noCanary fails where a text has one of them, or a part that says it all.
func noCanary(t *testing.T, text, of string) {
	t.Helper()
	if at := strings.Index(strings.ToLower(text), "canario"); at >= 0 {
		assert.Fail(t, "a secret is shown", "%s: %s", of, text[max(0, at-60):min(len(text), at+60)])
	}
}

// paths fills in the names of an endpoint's path.
func (e endpoint) at(name string) string {
	return strings.TrimPrefix(strings.NewReplacer(
		"{name}", name, "{ruc}", name, "{usuario}", name, "{fecha}", name, "{fingerprint}", name, "{rucEmisor}", name, "{tipo}", name, "{serie}", name, "{numero}", name,
	).Replace(e.path), Prefix)
}

// What has been put on a server is shown without its keys and claves by everything but GET data, whose purpose
// they are.
func TestNoAnswerShowsASecret(t *testing.T) {
	r := start(t)
	r.ok(nil, "POST", "keys", `{"key": "`+canaryKey+`", "quota": 50}`)
	r.ok(nil, "PUT", "sol/20131312955/MIUSER01", `{"clave": "`+canaryClave+`"}`)
	r.ok(nil, "PUT", "sol/20131312955/"+canaryKey, `{"clave": "`+canaryClave+`"}`)

	// Every text of a record that is a key.
	var taxpayer []string
	for _, name := range members(reflect.TypeFor[mockserver.Contribuyente]()) {
		if name != "ruc" {
			taxpayer = append(taxpayer, fmt.Sprintf("%q: %q", name, "de "+canaryKey+" <"+strings.ReplaceAll(canaryKey, "-", "%2D")+">"))
		}
	}
	r.ok(nil, "PUT", "contribuyentes/20700000001", "{"+strings.Join(taxpayer, ", ")+"}")
	r.ok(nil, "PUT", "comprobantes/20700000001/01/"+canaryKey+"/1", `{"codigo": "4", "mensaje": "`+canaryKey+`", "luego": [{"codigo": "0", "tras": "1m", "mensaje": "`+canaryKey+`"}]}`)
	r.ok(new(any), "POST", "faults", `{"name": "`+canaryKey+`", "match": {"ruc": "`+canaryKey+`", "userAgent": "`+canaryKey+`", "key": "`+canaryKey+`"},
		"steps": [{"status": 200, "body": "`+canaryKey+`", "header": {"X-Canary": "`+canaryKey+`"}}]}`)
	r.ok(new(any), "PUT", "assumptions", `{"QuotaExceeded": "403:`+canaryKey+`", "CodeInvalidRUC": "`+canaryKey+`"}`)

	// Every place of a call.
	r.call("/api/contribuyentes/"+canaryKey+"?razonSocial="+canaryKey, canaryKey)
	r.call("/api/contribuyentes/search?razonSocial="+canaryKey, "otra-"+canaryKey)
	r.call("/"+canaryKey, canaryKey)
	r.validate(canaryKey, canaryClave)
	r.validate(canaryKey, canaryKey)
	r.validate(canaryKey, "otro-"+canaryClave)

	ruc := strings.NewReplacer("{ruc}", "20700000001")
	for _, e := range endpoints {
		if e.method != http.MethodGet || e.path == "/_mock/data" || strings.HasSuffix(e.path, "/stream") {
			continue
		}
		path := ruc.Replace(strings.TrimPrefix(e.path, Prefix))
		got := r.do("GET", path, "")
		noCanary(t, got.body+fmt.Sprint(got.header), e.path)
		got = r.do("GET", path+"?text=de&limit=1000&mes=2026-11&"+canaryKey+"="+canaryKey, "", "X-API-KEY", canaryKey)
		noCanary(t, got.body+fmt.Sprint(got.header), e.path)
	}
	assert.Contains(t, r.do("GET", "contribuyentes?text=207", "").body, fingerprint(canaryKey), "it was there to be seen")
	assert.Contains(t, r.do("GET", "data", "").body, canaryClave)

	r.ok(nil, "DELETE", "comprobantes/20700000001/01/"+canaryKey+"/1", "")
	r.ok(nil, "DELETE", "faults/"+fingerprint(canaryKey), "")
	r.ok(nil, "DELETE", "sol/20131312955/"+canaryKey, "")
	r.ok(nil, "DELETE", "keys/"+fingerprint(canaryKey), "")
	noCanary(t, r.log.String(), "the log")
}

// A secret in the wrong place is refused without being repeated: one that the server knows anywhere, a new one
// where a secret is expected.
func TestNoRefusalShowsASecret(t *testing.T) {
	r := start(t, mockserver.WithKey(canaryKey, 5))
	r.ok(nil, "PUT", "sol/20131312955/MIUSER01", `{"clave": "`+canaryClave+`"}`)
	r.call(lookup, canaryKey) // or requests/wait would wait for it
	for _, e := range endpoints {
		if strings.HasSuffix(e.path, "/stream") { // it does not end
			continue
		}
		bodies := []string{
			canaryKey, `"` + canaryKey + `"`, `{"` + canaryKey + `": 1}`, `{"key": {"` + canaryKey + `": 1}}`, `{"ruc": "` + canaryKey + `"}`,
			`{"now": "` + canaryKey + `", "by": "` + canaryKey + `", "name": "` + canaryKey + `"}`, `{"parts": ["` + canaryKey + `"]}`,
			`{"compra": "` + canaryKey + `", "venta": "` + canaryKey + `"}`, `{"contribuyentes": [{"ruc": "` + canaryKey + `"}]}`,
			`{"tiposCambio": [{"fecha": "` + canaryKey + `", "compra": 1, "venta": 1}]}`, `{"BlockAfter": "` + canaryKey + `"}`,
			`{"steps": [{"preset": "` + canaryKey + `"}]}`, `{"steps": [{"latency": "` + canaryKey + `"}]}`, `{"match": {"op": "` + canaryKey + `"}, "steps": [{}]}`,
		}
		if strings.HasPrefix(e.path, "/_mock/sol") || strings.HasPrefix(e.path, "/_mock/keys") || strings.HasPrefix(e.path, "/_mock/session") {
			for i := range bodies {
				bodies = append(bodies, strings.ReplaceAll(bodies[i], canaryKey, canaryClave))
			}
		}
		if e.method != http.MethodPost && e.method != http.MethodPut {
			bodies = bodies[:1]
		}
		for _, path := range []string{e.at(canaryKey), e.at("20700000001"), e.at(canaryKey) + "?" + canaryKey + "=" + canaryKey, e.at("x") + "/" + canaryKey} {
			if e.path == "/_mock/data" && e.method == "GET" && !strings.Contains(path, "/") {
				continue
			}
			for _, body := range bodies {
				got := r.do(e.method, path, body)
				noCanary(t, got.body+fmt.Sprint(got.header), e.method+" "+path+" "+body)
			}
		}
		noCanary(t, r.do(canaryKey, e.at(canaryKey), "").body, e.path)
	}
	noCanary(t, r.log.String(), "the log")
}

// members are the names of a struct's JSON.
func members(t reflect.Type) (names []string) {
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
