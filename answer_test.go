package fiscope_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

const (
	record  = `{"ruc":"20131312955","razonSocial":"SUNAT","estado":"ACTIVO","condicion":"HABIDO"}`
	results = `[{"ruc":"20131312955","razonSocial":"SUNAT","estado":"ACTIVO","condicion":"HABIDO"}]`
	verdict = `{"codigo":"0","mensaje":"ok","estado":"Aceptado","esValido":true}`
	price   = `{"compra":3.750,"venta":3.760,"moneda":"USD","fecha":"2026-11-20","origen":"SBS"}`
)

func change(from, old, new string) string { return strings.Replace(from, old, new, 1) }

// plus adds members to an object.
func plus(object, members string) string { return object[:len(object)-1] + "," + members + "}" }

// What an answer cannot be used without is an error, and so is what contradicts the question or itself. Lenient reading
// lets contradictions and types pass, and nothing else.
func TestRefusedAsMalformed(t *testing.T) {
	for name, test := range map[string]struct {
		op, body, says string
		lenient        bool // lenient reading lets it pass, with that for a warning
	}{
		"a truncated record":                     {"consultar", record[:len(record)-1], "the answer is not JSON", false},
		"an array for a record":                  {"consultar", results, "the answer is a JSON array", false},
		"an empty record":                        {"consultar", `{}`, "ruc is missing", false},
		"success:false":                          {"consultar", `{"success":false,"message":"x"}`, "ruc is missing", false},
		"another name for ruc":                   {"consultar", change(record, `"ruc"`, `"RUT"`), "ruc is missing", false},
		"no razonSocial":                         {"consultar", change(record, `razonSocial`, `nombre`), "razonSocial is missing", false},
		"a null estado":                          {"consultar", change(record, `"ACTIVO"`, `null`), "estado is missing", false},
		"an object for a name":                   {"consultar", change(record, `"SUNAT"`, `{}`), "razonSocial is a JSON object", true},
		"another ruc":                            {"consultar", change(record, "20131312955", "20100070970"), "asked for the RUC 20…955, the answer is of \"20…970\"", true},
		"an empty ruc":                           {"consultar", change(record, "20131312955", ""), "asked for the RUC 20…955", true},
		"an object for results":                  {"buscar", record, "the answer is a JSON object", false},
		"one row that is no taxpayer":            {"buscar", `[null]`, "none of the 1 rows is a taxpayer", false},
		"no row that is a taxpayer":              {"buscar", `[null,"x",{"ruc":"2013"}]`, "none of the 3 rows is a taxpayer", false},
		"truncated results":                      {"buscar", results[:len(results)-1], "the answer is not JSON", false},
		"no codigo":                              {"validar", change(verdict, `"codigo":"0",`, ``), "codigo is missing", false},
		"a blank codigo":                         {"validar", change(verdict, `"0"`, `" "`), "codigo is missing", false},
		"a null esValido":                        {"validar", change(verdict, `true`, `null`), "esValido is missing", false},
		"esValido in words":                      {"validar", change(verdict, `true`, `"true"`), "esValido is a JSON string", true},
		"accepted and not valid":                 {"validar", change(verdict, `true`, `false`), `codigo "0" and esValido false exclude each other`, true},
		"cancelled and valid":                    {"validar", change(verdict, `"0"`, `"2"`), "exclude each other", true},
		"an unknown code and valid":              {"validar", change(verdict, `"0"`, `"0001"`), "exclude each other", true},
		"a code and another's estado":            {"validar", change(verdict, `Aceptado`, `ANULADO`), `codigo "0" and estado "ANULADO" exclude each other`, true},
		"... however it is spelled":              {"validar", `{"codigo":98,"mensaje":"","estado":"en  proceso","esValido":false}`, "exclude each other", true},
		"an unknown code, accepted, not valid":   {"validar", `{"codigo":"1","mensaje":"","estado":"Aceptado","esValido":false}`, `estado "Aceptado" and esValido false exclude each other`, true},
		"accepted, an unknown estado, not valid": {"validar", `{"codigo":"0","mensaje":"","estado":"","esValido":false}`, "exclude each other", true},
		"all three":                              {"validar", `{"codigo":"2","mensaje":"","estado":"Aceptado","esValido":true}`, "exclude each other", true},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, raw(200, test.body))
			var resp fiscope.Response
			err := operations[test.op](t.Context(), client, fiscope.WithResponse(&resp))
			assert.Equal(t, []string{"ErrMalformedResponse"}, classes(err))
			assert.Empty(t, resp.Warnings, "nobody reads the fields")
			assert.ErrorContains(t, err, test.says)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, 200, e.StatusCode)
			assert.Equal(t, test.body, string(e.Body()))
			assert.Len(t, s.seen(), 1)

			err = operations[test.op](t.Context(), newClient(t, s, fiscope.WithLenientReading()), fiscope.WithResponse(&resp))
			if test.lenient {
				require.NoError(t, err)
				assert.Contains(t, strings.Join(resp.Warnings, "\n"), test.says)
			} else {
				require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
			}
		})
	}
	for name, body := range map[string]string{
		"null": " null\n", "empty": "", "blanks": " \n", "HTML": "<html><body>Access denied</body></html>", "a number": "1", "a string": `"x"`,
		"two answers": record + "\n" + record, "trailing letters": record + "x", "NaN": "NaN", "single quotes": `{'ruc':1}`,
	} {
		for op, do := range operations {
			client, _ := answers(t, raw(200, body))
			assert.ErrorIs(t, do(t.Context(), client), fiscope.ErrMalformedResponse, "%s %s", op, name)
		}
	}
}

func TestReadWithAWarningOrNone(t *testing.T) {
	for name, test := range map[string]struct {
		op, body string
		says     []string
	}{
		"a record":                     {"consultar", record, nil},
		"a byte order mark":            {"consultar", "\uFEFF" + record, nil},
		"a member of nobody's":         {"consultar", plus(record, `"otro":{"ruc":1},"otros":[{"estado":null}]`), nil},
		"the same member twice":        {"consultar", `{"estado":"BAJA",` + record[1:], nil}, // the last counts, as in every Go program
		"blanks around a RUC":          {"consultar", change(record, rucSUNAT, " "+rucSUNAT+" "), []string{"ruc has blanks around it"}},
		"no name":                      {"consultar", change(record, `"SUNAT"`, `" - "`), []string{"without a name"}},
		"an unknown estado":            {"consultar", change(record, `ACTIVO`, strings.Repeat("X", 40)), []string{`estado "` + strings.Repeat("X", 40) + `" is unknown`}},
		"an unknown condicion":         {"consultar", change(record, `HABIDO`, strings.Repeat("X", 41)), []string{`condicion (41 bytes) is unknown`}},
		"no condicion":                 {"consultar", change(record, `condicion`, `x`), []string{`condicion`}},
		"a null condicion":             {"consultar", change(record, `"HABIDO"`, `null`), []string{`condicion`}},
		"optional fields of odd types": {"consultar", plus(record, `"ubigeo":150101,"actividadEconomica":[1],"tipo":{}`), []string{"ubigeo is a JSON number", "tipo is a JSON object", "actividadEconomica is a JSON array"}},
		"a blank before the ruc":       {"consultar", change(record, `"20`, `" 20`), []string{"ruc has blanks around it"}},
		"results":                      {"buscar", results, nil},
		"odd rows":                     {"buscar", `[null,` + record + `,{"ruc":"20131312955"},"x",` + change(record, rucSUNAT, "2013131295") + `]`, []string{"row 1 is left out", "row 3 is left out", "row 4 is left out", "row 5 is left out"}},
		"a row without a condicion":    {"buscar", change(results, `condicion`, `x`), []string{"condicion"}},
		"a verdict":                    {"validar", verdict, nil},
		"codigo as a number":           {"validar", change(verdict, `"0"`, `0`), nil},
		"blanks around codigo":         {"validar", change(verdict, `"0"`, `" 0 "`), nil},
		"estado in another case":       {"validar", change(verdict, `Aceptado`, ` ACEPTADO `), nil},
		"an unknown estado of a CPE":   {"validar", change(verdict, `Aceptado`, `Conforme`), []string{`estado "Conforme" is not one`}},
		"no estado":                    {"validar", change(verdict, `"estado":"Aceptado",`, ``), []string{`estado "" is not one`}},
		"an unknown code":              {"validar", `{"codigo":1,"mensaje":"","estado":"Anulado","esValido":false}`, []string{`codigo "1" is not one of the contract`}},
		"neither is known":             {"validar", `{"codigo":"77","mensaje":"","estado":"Observado","esValido":false}`, []string{`codigo "77" is not one of the contract, nor is estado "Observado"`}},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(200, test.body, "Content-Type: text/html"))
			var resp fiscope.Response
			require.NoError(t, operations[test.op](t.Context(), client, fiscope.WithResponse(&resp)))
			require.Len(t, resp.Warnings, len(test.says), "%q", resp.Warnings)
			for i, says := range test.says {
				assert.Contains(t, resp.Warnings[i], says)
			}
		})
	}
}

func TestOddFieldsLoseNoRecord(t *testing.T) {
	client, _ := answers(t, raw(200, plus(change(record, "SUNAT", "COMPA\xd1IA"), `"ubigeo":90101,"provincia":["LIMA"],"distrito":true`)),
		raw(200, `[{"ruc":"x"},`+results[1:]))
	var resp fiscope.Response
	c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
	require.NoError(t, err)
	assert.Equal(t, fiscope.Contribuyente{RUC: rucSUNAT, RazonSocial: "COMPAÑIA", Estado: "ACTIVO", Condicion: "HABIDO", Ubigeo: "090101", Distrito: "true"}, *c)
	assert.Contains(t, resp.Warnings[0], "not valid UTF-8")
	rs, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "sunat"})
	require.NoError(t, err)
	assert.Equal(t, []fiscope.ContribuyenteResumen{{RUC: rucSUNAT, RazonSocial: "SUNAT", Estado: "ACTIVO", Condicion: "HABIDO"}}, rs)
}

func TestAGzipBombIsBoundedAfterDecompression(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	require.NoError(t, z.Close())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	}))
	defer srv.Close()
	client, err := fiscope.NewClient(srv.URL, apiKey)
	require.NoError(t, err)
	defer func() { _ = client.Close(context.Background()) }()
	err = operations["consultar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
	require.ErrorContains(t, err, "after 1048576 bytes: it is longer than the client reads")
}

// A whole record may have a member error or code that says nothing. Another one makes it an error, whose code decides.
func TestAnErrorBodyWithStatus200(t *testing.T) {
	bodies := map[string]string{"consultar": record, "validar": verdict, "tipocambio": price, "hoy": price}
	for _, members := range []string{`"error":null`, `"error":false,"code":200`, `"error":0`, `"error":"","code":"0"`, `"error":{}`, `"error":[],"errors":[]`, `"code":"OK"`} {
		for op, body := range bodies {
			client, _ := answers(t, raw(200, plus(body, members)))
			assert.NoError(t, operations[op](t.Context(), client), "%s %s", op, members)
		}
	}
	for members, test := range map[string]struct {
		class error
		says  string
	}{
		`"error":"en mantenimiento"`:                                  {fiscope.ErrMalformedResponse, `(HTTP 200): the answer says "en mantenimiento"`},
		`"error":"en \u006dantenimiento","code":"X"`:                  {fiscope.ErrMalformedResponse, `(HTTP 200 X): the answer says "en mantenimiento"`},
		`"error":"en mantenimiento","code":503,"ruc":{},"compra":[1]`: {fiscope.ErrMalformedResponse, `(HTTP 200 503): the answer says "en mantenimiento"`},
		`"error":true,"msg":"en mantenimiento"`:                       {fiscope.ErrMalformedResponse, "en mantenimiento"},
		"\"error\":\"mantenimiento del a\xf1o\"":                      {fiscope.ErrMalformedResponse, "mantenimiento del año"},
		`"error":{"code":"NOT_FOUND","message":"no hay"}`:             {fiscope.ErrNotFound, `(HTTP 200 NOT_FOUND): the answer says "no hay"`},
		`"errors":[{"message":"no hay"}]`:                             {fiscope.ErrMalformedResponse, "no hay"},
		`"error":false,"code":"NOT_FOUND"`:                            {fiscope.ErrNotFound, "(HTTP 200 NOT_FOUND)"},
		`"code":"INVALID_SOL_CREDENTIALS"`:                            {fiscope.ErrInvalidSOLCredentials, "SOL credentials refused"},
		`"code":"search too short"`:                                   {fiscope.ErrSearchTooShort, "(HTTP 200 SEARCH_TOO_SHORT)"},
	} {
		for op, body := range bodies {
			client, _ := answers(t, raw(200, plus(body, members)))
			err := operations[op](t.Context(), client)
			require.ErrorIs(t, err, test.class, "%s %s", op, members)
			assert.ErrorContains(t, err, test.says)
		}
	}
}
