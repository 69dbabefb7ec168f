package fiscope_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

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

func TestRefusedAsMalformed(t *testing.T) {
	everywhere := map[string]string{
		"null": "null", "null with blanks": " null\n", "empty": "", "blanks": " \n", "HTML": "<html><body>Access denied</body></html>",
		"a number": "1", "a string": `"x"`, "true": "true", "trailing data": record + `{}`, "trailing letters": record + "x",
		"two answers": record + "\n" + record, "NaN": "NaN", "a comma": `{"ruc":"20131312955",}`, "single quotes": `{'ruc':1}`,
	}
	for name, test := range map[string]struct{ op, body, says string }{
		"truncated record":                        {"consultar", record[:len(record)-1], "JSON"},
		"an array for a record":                   {"consultar", results, "the answer is a JSON array"},
		"an empty record":                         {"consultar", `{}`, "ruc is missing"},
		"success:false":                           {"consultar", `{"success":false,"message":"x"}`, "ruc is missing"},
		"no ruc":                                  {"consultar", change(record, `"ruc"`, `"RUT"`), "ruc is missing"},
		"no razonSocial":                          {"consultar", change(record, `razonSocial`, `nombre`), "razonSocial is missing"},
		"no estado":                               {"consultar", change(record, `estado`, `status`), "estado is missing"},
		"no condicion":                            {"consultar", change(record, `condicion`, `x`), "condicion is missing"},
		"null ruc":                                {"consultar", change(record, `"20131312955"`, `null`), "ruc is missing"},
		"null razonSocial":                        {"consultar", change(record, `"SUNAT"`, `null`), "razonSocial is missing"},
		"null estado":                             {"consultar", change(record, `"ACTIVO"`, `null`), "estado is missing"},
		"ruc as a number":                         {"consultar", change(record, `"20131312955"`, `20131312955`), "ruc is a JSON number"},
		"another ruc":                             {"consultar", change(record, "20131312955", "20100070970"), "asked for the RUC 20…955, the answer is of 20…970"},
		"an empty ruc":                            {"consultar", change(record, "20131312955", ""), "asked for the RUC 20…955"},
		"an object for an array":                  {"buscar", record, "the answer is a JSON object"},
		"an element is null":                      {"buscar", `[null]`, "element 0"},
		"an element without a key":                {"buscar", `[{"ruc":"20131312955"}]`, "element 0"},
		"an element without ruc":                  {"buscar", change(results, `"ruc"`, `"x"`), "element 0: ruc is missing"},
		"an element without a name":               {"buscar", change(results, `"razonSocial"`, `"x"`), "element 0: razonSocial is missing"},
		"an element without estado":               {"buscar", change(results, `"estado"`, `"x"`), "element 0: estado is missing"},
		"an element, no condicion":                {"buscar", change(results, `"condicion"`, `"x"`), "element 0: condicion is missing"},
		"an element with a null name":             {"buscar", change(results, `"SUNAT"`, `null`), "element 0"},
		"an element of another shape":             {"buscar", `["x"]`, "element 0 is a JSON string"},
		"an element with a short ruc":             {"buscar", change(results, "20131312955", "2013"), "element 0 is not 11 digits"},
		"truncated array":                         {"buscar", results[:len(results)-1], "JSON"},
		"no codigo":                               {"validar", change(verdict, `"codigo":"0",`, ``), "codigo is missing"},
		"null codigo":                             {"validar", change(verdict, `"0"`, `null`), "codigo is missing"},
		"empty codigo":                            {"validar", change(verdict, `"0"`, `""`), "codigo is missing"},
		"no esValido":                             {"validar", change(verdict, `,"esValido":true`, ``), "esValido is missing"},
		"null esValido":                           {"validar", change(verdict, `true`, `null`), "esValido is missing"},
		"esValido in words":                       {"validar", change(verdict, `true`, `"true"`), "esValido is a JSON string"},
		"accepted and not valid":                  {"validar", change(verdict, `true`, `false`), "exclude each other"},
		"cancelled and valid":                     {"validar", change(verdict, `"0"`, `"2"`), "exclude each other"},
		"an unknown code and valid":               {"validar", change(verdict, `"0"`, `"0001"`), "exclude each other"},
		"code and status differ":                  {"validar", change(verdict, `Aceptado`, `ANULADO`), "exclude each other"},
		"code and status differ 2":                {"validar", `{"codigo":98,"mensaje":"","estado":"en  proceso","esValido":false}`, "exclude each other"},
		"an unknown code, accepted and not valid": {"validar", `{"codigo":"1","mensaje":"","estado":"Aceptado","esValido":false}`, "estado \"Aceptado\" and esValido false exclude each other"},
		"an unknown code, cancelled and valid":    {"validar", `{"codigo":"77","mensaje":"","estado":"Anulado","esValido":true}`, "exclude each other"},
		"an unknown status and a code":            {"validar", `{"codigo":"98","mensaje":"","estado":"Conforme","esValido":true}`, "exclude each other"},
		"accepted, an unknown status, not valid":  {"validar", `{"codigo":"0","mensaje":"","estado":"","esValido":false}`, "exclude each other"},
		"no compra":                               {"tipocambio", change(price, `"compra"`, `"x"`), "compra is missing"},
		"null venta":                              {"tipocambio", change(price, `3.760`, `null`), "venta is missing"},
		"compra zero":                             {"tipocambio", change(price, `3.750`, `0.000`), "compra is not above zero"},
		"venta below zero":                        {"tipocambio", change(price, `3.760`, `-3.760`), "venta is not above zero"},
		"compra in words":                         {"tipocambio", change(price, `3.750`, `"tres"`), "compra is no number"},
		"compra that fills memory":                {"tipocambio", change(price, `3.750`, `1e999999999`), "compra is no number"},
		"compra of many digits":                   {"tipocambio", change(price, `3.750`, `3.`+strings.Repeat("1", 500)), "too many digits"},
		"no moneda":                               {"tipocambio", change(price, `"moneda":"USD",`, ``), "moneda is missing"},
		"another moneda":                          {"tipocambio", change(price, `USD`, `EUR`), `moneda is "EUR"`},
		"no fecha":                                {"tipocambio", change(price, `"fecha":"2026-11-20",`, ``), "fecha is missing"},
		"null fecha":                              {"tipocambio", change(price, `"2026-11-20"`, `null`), "fecha is missing"},
		"empty fecha":                             {"tipocambio", change(price, `2026-11-20`, ``), "fecha is missing"},
		"another fecha":                           {"tipocambio", change(price, `2026-11-20`, `2026-11-19`), "asked for the rate of 2026-11-20, the answer is of 2026-11-19"},
		"a fecha that is no day":                  {"tipocambio", change(price, `2026-11-20`, `2026-02-30`), "not a day"},
		"no fecha, asked for today":               {"hoy", change(price, `"fecha":"2026-11-20",`, ``), "fecha is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, raw(200, test.body))
			err := operations[test.op](t.Context(), client)
			require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
			assert.ElementsMatch(t, []string{"ErrMalformedResponse"}, classes(err))
			assert.ErrorContains(t, err, test.says)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, 200, e.StatusCode)
			assert.Len(t, s.seen(), 1)
		})
	}
	for name, body := range everywhere {
		for op, do := range operations {
			t.Run(op+" "+name, func(t *testing.T) {
				client, _ := answers(t, raw(200, body))
				require.ErrorIs(t, do(t.Context(), client), fiscope.ErrMalformedResponse)
			})
		}
	}
}

func TestErrorBodyShowsWhatCame(t *testing.T) {
	client, _ := answers(t, raw(200, change(record, "20131312955", "20100070970")))
	err := operations["consultar"](t.Context(), client)
	var e *fiscope.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, change(record, "20131312955", "20100070970"), string(e.Body()))
}

func TestReadWithAWarningOrNone(t *testing.T) {
	for name, test := range map[string]struct {
		op, body string
		says     string // "" for no warning
		media    string
	}{
		"a record":                   {"consultar", record, "", ""},
		"any media type":             {"consultar", record, "", "text/html"},
		"a byte order mark":          {"consultar", "\uFEFF" + record, "", ""},
		"an empty name":              {"consultar", change(record, `"SUNAT"`, `""`), "without a name", ""},
		"a dash for a name":          {"consultar", change(record, `"SUNAT"`, `" - "`), "without a name", ""},
		"an unknown estado":          {"consultar", change(record, `ACTIVO`, `OTROS`), `estado "OTROS" is unknown`, ""},
		"an unknown condicion":       {"consultar", change(record, `HABIDO`, `EN LA LUNA`), `condicion "EN LA LUNA" is unknown`, ""},
		"an Ñ of Latin-1":            {"consultar", change(record, `SUNAT`, "COMPA\xd1IA"), "not valid UTF-8", ""},
		"results":                    {"buscar", results, "", ""},
		"a result without a name":    {"buscar", change(results, `"SUNAT"`, `"-"`), "without a name", ""},
		"a verdict":                  {"validar", verdict, "", ""},
		"codigo as a number":         {"validar", change(verdict, `"0"`, `0`), "", ""},
		"estado in another case":     {"validar", change(verdict, `Aceptado`, ` ACEPTADO `), "", ""},
		"an unknown estado of a CPE": {"validar", change(verdict, `Aceptado`, `Conforme`), `estado "Conforme"`, ""},
		"no estado of a CPE":         {"validar", change(verdict, `"estado":"Aceptado",`, ``), `estado ""`, ""},
		"an unknown code":            {"validar", `{"codigo":"77","mensaje":"","estado":"Observado","esValido":false}`, "Observado", ""},
		"an unknown code, cancelled": {"validar", `{"codigo":"1","mensaje":"","estado":"Anulado","esValido":false}`, `codigo "1" is not one of the contract`, ""},
		"an unknown code, a number":  {"validar", `{"codigo":1,"mensaje":"","estado":"ERROR","esValido":false}`, `codigo "1" is not one of the contract`, ""},
		"neither is known":           {"validar", `{"codigo":"77","mensaje":"","estado":"Conforme","esValido":false}`, `codigo "77" is not one of the contract, nor is estado "Conforme"`, ""},
		"a price":                    {"tipocambio", price, "", ""},
		"as dear as it ever was":     {"tipocambio", change(change(price, `3.750`, `9.99`), `3.760`, `10`), "", ""},
		"as cheap as it ever was":    {"tipocambio", change(change(price, `3.750`, `1`), `3.760`, `1.000`), "", ""},
		"a point in another place":   {"tipocambio", change(price, `3.760`, `37.60`), "venta 37.60 is not between 1 and 10 soles for a dollar", ""},
		"no point":                   {"tipocambio", change(price, `3.760`, `3760`), "venta 3760 is not between", ""},
		"no point, as a string":      {"tipocambio", change(price, `3.760`, `"3760"`), "venta 3760 is not between", ""},
		"soles in dollars":           {"hoy", change(change(price, `3.750`, `0.266`), "2026-11-20", fiscope.HoyEnLima().String()), "compra 0.266 is not between", ""},
		"compra above venta":         {"tipocambio", change(price, `3.750`, `3.761`), "compra 3.761 is above venta 3.760", ""},
		"rates as strings":           {"tipocambio", change(change(price, `3.750`, `"3.750"`), `3.760`, `"3.760"`), "", ""},
		"today of another day":       {"hoy", change(price, "2026-11-20", "2020-01-02"), "asked for the rate of today", ""},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(200, test.body, "Content-Type: "+cmp.Or(test.media, "application/json")))
			var resp fiscope.Response
			require.NoError(t, operations[test.op](t.Context(), client, fiscope.WithResponse(&resp)))
			if test.says == "" {
				assert.Empty(t, resp.Warnings)
			} else {
				require.Len(t, resp.Warnings, 1)
				assert.Contains(t, resp.Warnings[0], test.says)
			}
		})
	}
	t.Run("today is Lima's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // midnight UTC of 2000-01-01: still 1999 in Lima
			client, _ := answers(t, raw(200, change(price, "2026-11-20", "1999-12-31")))
			var resp fiscope.Response
			require.NoError(t, operations["hoy"](t.Context(), client, fiscope.WithResponse(&resp)))
			assert.Empty(t, resp.Warnings)
		})
	})
}

func TestOnlyTheInvalidBytesAreReadAsWindows1252(t *testing.T) {
	// A valid Ñ, then one cut to its first byte, a euro sign and a dash of Windows-1252, a byte that is none.
	client, _ := answers(t, raw(200, change(record, "SUNAT", "PEÑA Y COMPA\xd1IA \x80 \x96 \x81")))
	c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.NoError(t, err)
	assert.Equal(t, "PEÑA Y COMPAÑIA € – \uFFFD", c.RazonSocial)
}

func TestLenientReadingWarnsOfContradictions(t *testing.T) {
	for name, test := range map[string]struct{ op, body, says string }{
		"another ruc":            {"consultar", change(record, "20131312955", "20100070970"), "asked for the RUC"},
		"another fecha":          {"tipocambio", change(price, `2026-11-20`, `2026-11-19`), "asked for the rate"},
		"another moneda":         {"tipocambio", change(price, `USD`, `EUR`), "EUR"},
		"accepted and not valid": {"validar", change(verdict, `true`, `false`), "exclude each other"},
		"code and status differ": {"validar", change(verdict, `Aceptado`, `Anulado`), "exclude each other"},
		"all three differ":       {"validar", `{"codigo":"2","mensaje":"","estado":"Aceptado","esValido":true}`, "exclude each other"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, test.body)}}
			client := newClient(t, s, fiscope.WithLenientReading())
			var resp fiscope.Response
			require.NoError(t, operations[test.op](t.Context(), client, fiscope.WithResponse(&resp)))
			require.Len(t, resp.Warnings, 1)
			assert.Contains(t, resp.Warnings[0], test.says)
		})
	}
	t.Run("what is missing stays an error", func(t *testing.T) {
		for op, body := range map[string]string{"consultar": `{}`, "buscar": `[{}]`, "validar": `{}`, "tipocambio": `{}`, "hoy": "null"} {
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, body)}}
			require.ErrorIs(t, operations[op](t.Context(), newClient(t, s, fiscope.WithLenientReading())), fiscope.ErrMalformedResponse)
		}
	})
}

func TestTheReadIsBounded(t *testing.T) {
	endless := func(r *http.Request) (*http.Response, error) {
		resp, _ := raw(200, "")(r)
		resp.ContentLength = -1
		resp.Body = io.NopCloser(&counted{t: t, most: 1<<20 + 64<<10})
		return resp, nil
	}
	client, s := answers(t, endless)
	err := operations["consultar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
	assert.ErrorContains(t, err, "longer than the client reads")
	assert.Len(t, s.seen(), 1, "and it is not tried again")

	s = &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record)}}
	require.NoError(t, operations["consultar"](t.Context(), newClient(t, s, fiscope.WithMaxResponseBytes(int64(len(record))))))
	require.ErrorIs(t, operations["consultar"](t.Context(), newClient(t, s, fiscope.WithMaxResponseBytes(int64(len(record)-1)))), fiscope.ErrMalformedResponse)
	for _, n := range []int64{0, -1, 1 << 40} {
		_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithMaxResponseBytes(n))
		require.Error(t, err)
	}
}

// counted is a body without an end that notices who reads too much of it.
type counted struct {
	t          testing.TB
	read, most int
}

func (c *counted) Read(p []byte) (int, error) {
	c.read += len(p)
	assert.LessOrEqual(c.t, c.read, c.most, "the whole body is being read")
	return copy(p, bytes.Repeat([]byte(" "), len(p))), nil
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
	defer client.CloseIdleConnections()
	require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrMalformedResponse)
}

func TestAMemberThatComesTwice(t *testing.T) {
	with := func(body, member string) string { return body[:len(body)-1] + "," + member + "}" }
	ofElement := func(member string) string { return "[" + with(record, member) + "]" }
	for name, test := range map[string]struct {
		op, body string
		differs  bool   // an error; otherwise a warning
		says     string // "" for nothing at all
	}{
		"another ruc":                  {"consultar", with(record, `"ruc":"20100070970"`), true, "ruc comes twice"},
		"another estado before it":     {"consultar", `{"estado":"BAJA",` + record[1:], true, "estado comes twice"},
		"in another case":              {"consultar", with(record, `"Condicion":"NO HABIDO"`), true, "condicion comes twice"},
		"in capitals before it":        {"consultar", `{"RAZONSOCIAL":"OTRA",` + record[1:], true, "razonSocial comes twice"},
		"with an escape in its name":   {"consultar", with(record, `"e\u0073tado":"BAJA"`), true, "estado comes twice"},
		"with a letter that folds":     {"consultar", with(record, `"eſtado":"BAJA"`), true, "estado comes twice"},
		"null":                         {"consultar", with(record, `"estado":null`), true, "estado comes twice"},
		"empty":                        {"consultar", with(record, `"estado":""`), true, "estado comes twice"},
		"a member that may be absent":  {"consultar", with(record, `"ubigeo":"150101","Ubigeo":"150102"`), true, "ubigeo comes twice"},
		"a date":                       {"consultar", with(record, `"fechaInscripcion":"2001-01-01","fechaInscripcion":"2002-01-01"`), true, "fechaInscripcion comes twice"},
		"after the same":               {"consultar", with(with(record, `"ruc":"20131312955"`), `"estado":"BAJA"`), true, "estado comes twice"},
		"between values of every kind": {"consultar", with(record, ` "a" : [ {"b":"}]\"\\"} , [ ] ] , "c" : -1.5e+3 , "d" : true , "e" : null , "Estado" : "BAJA" `), true, "estado comes twice"},
		"the same":                     {"consultar", with(record, `"estado":"ACTIVO"`), false, "estado comes twice"},
		"the same in another case":     {"consultar", with(record, `"RUC":"20131312955"`), false, "ruc comes twice"},
		"within another value":         {"consultar", with(record, `"otro":{"estado":"BAJA","ruc":1,"ruc":2},"otros":[{"ruc":1}]`), false, ""},
		"within a text":                {"consultar", with(record, `"otro":"\",\"estado\":\"BAJA\""`), false, ""},
		"one that nobody reads":        {"consultar", with(record, `"otro":1,"otro":2,"Otro":3`), false, ""},
		"one with a longer name":       {"consultar", with(record, `"estados":"BAJA","estad":"BAJA","`+strings.Repeat("estado", 20)+`":1`), false, ""},
		"codigo":                       {"validar", with(verdict, `"codigo":"2"`), true, "codigo comes twice"},
		"Codigo":                       {"validar", with(verdict, `"Codigo":"2"`), true, "codigo comes twice"},
		"esValido, and the last fits":  {"validar", `{"esValido":false,` + verdict[1:], true, "esValido comes twice"},
		"estado, and the last fits":    {"validar", `{"Estado":"Anulado",` + verdict[1:], true, "estado comes twice"},
		"codigo as text and number":    {"validar", with(verdict, `"codigo":0`), true, "codigo comes twice"},
		"mensaje":                      {"validar", with(verdict, `"MENSAJE":"no"`), true, "mensaje comes twice"},
		"a verdict twice":              {"validar", verdict[:len(verdict)-1] + "," + verdict[1:], false, "codigo comes twice"},
		"venta":                        {"tipocambio", with(price, `"venta":37.60`), true, "venta comes twice"},
		"Compra":                       {"tipocambio", `{"Compra":3.751,` + price[1:], true, "compra comes twice"},
		"fecha":                        {"tipocambio", `{"fecha":"2026-11-19",` + price[1:], true, "fecha comes twice"},
		"moneda of today's":            {"hoy", `{"MONEDA":"EUR",` + price[1:], true, "moneda comes twice"},
		"in an element":                {"buscar", ofElement(`"ruc":"20100070970"`), true, "ruc comes twice"},
		"in an element, another case":  {"buscar", ofElement(`"RazonSocial":"OTRA"`), true, "razonSocial comes twice"},
		"in the last element":          {"buscar", "[" + record + ", " + with(record, `"estado":"BAJA"`) + " ]", true, "estado comes twice"},
		"the same in an element":       {"buscar", ofElement(`"estado":"ACTIVO"`), false, "estado comes twice"},
		"in two elements":              {"buscar", "[" + record + "," + change(record, "ACTIVO", "BAJA") + "]", false, ""},
		"an error, and then none":      {"consultar", `{"error":"no hay",` + with(record, `"error":false`)[1:], true, "error comes twice"},
	} {
		t.Run(name, func(t *testing.T) {
			var resp fiscope.Response
			client, _ := answers(t, raw(200, test.body))
			err := operations[test.op](t.Context(), client, fiscope.WithResponse(&resp))
			if test.differs {
				require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
				require.ErrorContains(t, err, test.says)

				s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, test.body)}}
				lenient := newClient(t, s, fiscope.WithLenientReading())
				require.NoError(t, operations[test.op](t.Context(), lenient, fiscope.WithResponse(&resp)))
				assert.Contains(t, strings.Join(resp.Warnings, "\n"), test.says)
				return
			}
			require.NoError(t, err)
			if test.says == "" {
				assert.NotContains(t, strings.Join(resp.Warnings, "\n"), "comes twice")
			} else {
				require.NotEmpty(t, resp.Warnings)
				assert.Contains(t, resp.Warnings[0], test.says)
			}
		})
	}
}

func TestAnErrorMemberThatSaysNothing(t *testing.T) {
	for _, value := range []string{`false`, `null`, `0`, `0.0`, `-0`, `0e5`, `""`, `" "`, `"\t\n"`, `{}`, `{ }`, "{\n}", `[]`, `[ ]`} {
		for op, body := range map[string]string{"consultar": record, "validar": verdict, "tipocambio": price, "hoy": price} {
			for _, member := range []string{`"error":` + value, `"Error" : ` + value, `"code":` + value, `"error":` + value + `,"code":` + value} {
				t.Run(op+" "+member, func(t *testing.T) {
					client, _ := answers(t, raw(200, body[:len(body)-1]+","+member+"}"))
					require.NoError(t, operations[op](t.Context(), client))
				})
			}
		}
	}
}

// A code that is none of the contract's, beside an error that says nothing, makes no error of a whole record.
func TestACodeInAGoodAnswer(t *testing.T) {
	for op, body := range map[string]string{"consultar": record, "validar": verdict, "tipocambio": price, "hoy": price} {
		for _, members := range []string{`"error":false,"code":200`, `"error":false,"code":"200"`, `"code":"OK"`, `"error":"","code":"0"`, `"error":"false"`, `"error":"0"`, `"error":"null"`} {
			t.Run(op+" "+members, func(t *testing.T) {
				client, _ := answers(t, raw(200, body[:len(body)-1]+","+members+"}"))
				require.NoError(t, operations[op](t.Context(), client))
			})
		}
		t.Run(op+" that is an error", func(t *testing.T) {
			client, _ := answers(t, raw(200, body[:len(body)-1]+`,"error":false,"code":"NOT_FOUND"}`))
			require.ErrorIs(t, operations[op](t.Context(), client), fiscope.ErrNotFound)
		})
	}
}

// Of two codes that differ none counts: encoding/json would let the last one win.
func TestACodeThatComesTwice(t *testing.T) {
	for name, test := range map[string]struct {
		op     string
		status int
		body   string
		class  error
	}{
		"NOT_FOUND last, 404":         {"consultar", 404, `{"error":"a","code":"INTERNAL","Code":"NOT_FOUND"}`, fiscope.ErrMalformedResponse},
		"NOT_FOUND first, 404":        {"consultar", 404, `{"error":"a","code":"NOT_FOUND","Code":"INTERNAL"}`, fiscope.ErrMalformedResponse},
		"NOT_FOUND in a 200":          {"consultar", 200, `{"error":"a","code":"INTERNAL","Code":"NOT_FOUND"}`, fiscope.ErrMalformedResponse},
		"NOT_FOUND in a whole record": {"consultar", 200, record[:len(record)-1] + `,"code":"","Code":"NOT_FOUND"}`, fiscope.ErrMalformedResponse},
		"deeper":                      {"consultar", 404, `{"error":{"code":"X","Code":"NOT_FOUND"}}`, fiscope.ErrMalformedResponse},
		"a clave that is refused":     {"validar", 401, `{"error":"a","code":"X","Code":"INVALID_SOL_CREDENTIALS"}`, fiscope.ErrInvalidSOLCredentials},
		"... and then another":        {"validar", 500, `{"error":"a","code":"INVALID_SOL_CREDENTIALS","Code":"X"}`, fiscope.ErrInvalidSOLCredentials},
		"... and two texts":           {"validar", 200, `{"error":"a","Error":"b","code":"INVALID_SOL_CREDENTIALS"}`, fiscope.ErrInvalidSOLCredentials},
		"a code, and two texts":       {"consultar", 404, `{"error":"a","Error":"b","code":"NOT_FOUND"}`, fiscope.ErrNotFound},
		"the same, spelled otherwise": {"consultar", 404, `{"code":"not found","Code":"NOT_FOUND"}`, fiscope.ErrNotFound},
		"three":                       {"consultar", 404, `{"code":"NOT_FOUND","Code":"X","CODE":"NOT_FOUND"}`, fiscope.ErrMalformedResponse},
		"the same twice":              {"consultar", 404, `{"error":"a","code":"NOT_FOUND","Code":"NOT_FOUND"}`, fiscope.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(test.status, test.body))
			require.ErrorIs(t, operations[test.op](t.Context(), client), test.class)
		})
	}
}

func TestTheTextOfAnErrorWithStatus200IsKept(t *testing.T) {
	for name, test := range map[string]struct{ body, says string }{
		"alone":                            {`{"error":"en mantenimiento"}`, "en mantenimiento"},
		"with a code":                      {`{"error":"en mantenimiento","code":"X"}`, "(HTTP 200 X): en mantenimiento"},
		"with a code that is a number":     {`{"error":"en mantenimiento","code":503}`, "(HTTP 200 503): en mantenimiento"},
		"escaped":                          {`{"error":"en \u006dantenimiento"}`, "en mantenimiento"},
		"an object":                        {`{"error":{"message":"en mantenimiento"}}`, "en mantenimiento"},
		"true":                             {`{"error":true}`, "true"},
		"true, and a message":              {`{"error":true,"message":"en mantenimiento"}`, "en mantenimiento"},
		"true, and a mensaje":              {`{"mensaje":"en mantenimiento","error":1}`, "en mantenimiento"},
		"a number":                         {`{"error":17}`, "17"},
		"beside members that are null":     {`{"error":"en mantenimiento","ruc":null,"codigo":null,"compra":null}`, "en mantenimiento"},
		"beside a record of another shape": {`{"error":"en mantenimiento","ruc":1,"codigo":{},"compra":"x"}`, "en mantenimiento"},
		"in a whole record":                {record[:len(record)-1] + `,"codigo":"0","esValido":true,"error":"en mantenimiento"}`, "en mantenimiento"},
		"in Latin-1":                       {"{\"error\":\"mantenimiento del a\xf1o\"}", "mantenimiento del año"},
		"without a text":                   {`{"error":"","code":"X"}`, "(HTTP 200 X): an error came with status 200"},
	} {
		for op, do := range operations {
			t.Run(name+" "+op, func(t *testing.T) {
				client, _ := answers(t, raw(200, test.body))
				err := do(t.Context(), client)
				require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
				assert.ErrorContains(t, err, test.says)
			})
		}
	}
}
