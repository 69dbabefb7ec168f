package admin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestTiposCambio(t *testing.T) {
	r := start(t)
	r.ok(new(any), "PUT", "clock", `{"now": "2026-11-30T23:30:00-05:00", "frozen": true}`) // it is December in UTC
	month := func(query string) (days []map[string]any) {
		r.ok(&days, "GET", "tiposcambio"+query, "")
		return days
	}
	days := month("")
	require.Len(t, days, 30)
	assert.Equal(t, map[string]any{"fecha": "2026-11-20", "compra": 3.924, "venta": 3.934}, days[19])
	assert.Equal(t, map[string]any{"fecha": "2026-11-22", "why": "es domingo; use el último día hábil anterior"}, days[21])
	assert.Equal(t, "es una fecha futura; hoy en Lima es 2026-11-30", month("?mes=2026-12")[0]["why"])
	r.ok(nil, "PUT", "tiposcambio/2026-12-02", `{"compra": 3.9, "venta": 3.91}`)
	assert.Equal(t, map[string]any{
		"fecha": "2026-12-02", "compra": 3.9, "venta": 3.91, "why": "es una fecha futura; hoy en Lima es 2026-11-30", "put": true,
	}, month("?mes=2026-12")[1], "before its hour")
	assert.Len(t, month("?mes=2024-02"), 29)
	assert.Len(t, month("?mes=0001-01"), 31)
	assert.Len(t, month("?mes=9999-12"), 31)

	r.ok(nil, "PUT", "tiposcambio/2026-11-20", `{"compra": 3.750, "venta": "4.0"}`)
	body := r.do("GET", "tiposcambio?mes=2026-11", "").body
	assert.Contains(t, strings.Join(strings.Fields(body), ""), `{"fecha":"2026-11-20","compra":3.750,"venta":4.0,"put":true}`, "with its digits")
	assert.Equal(t, 200, r.call("/api/tipocambio?fecha=2026-11-20", "s3creta"))
	r.ok(nil, "DELETE", "tiposcambio/2026-11-20", "")
	assert.Equal(t, map[string]any{
		"fecha": "2026-11-20", "why": "este servidor de pruebas no tiene ese día: se le quitó; use otro día hábil", "put": true,
	}, month("")[19])
	assert.Equal(t, 404, r.call("/api/tipocambio?fecha=2026-11-20", "s3creta"))
	r.ok(nil, "POST", "tiposcambio/2026-11-20/restore", "")
	assert.Equal(t, days, month(""))
}

func TestTiposCambioThatCannotBe(t *testing.T) {
	r := start(t)
	before := r.do("GET", "data", "").body
	for name, c := range map[string]struct{ method, path, body, says string }{
		"a Saturday":     {"PUT", "tiposcambio/2026-11-21", `{"compra": 1, "venta": 1}`, "es fin de semana o feriado nacional"},
		"zero":           {"PUT", "tiposcambio/2026-11-20", `{"compra": 0.000, "venta": 1}`, `"0.000" no es un decimal positivo como 3.750, en compra`},
		"one only":       {"PUT", "tiposcambio/2026-11-20", `{"compra": 1}`, "no dice la compra y la venta"},
		"nothing":        {"PUT", "tiposcambio/2026-11-20", ``, `{"compra": 3.750, "venta": 3.760}`},
		"deleted never":  {"DELETE", "tiposcambio/hoy", ``, `la fecha "hoy" no es un día`},
		"restored never": {"POST", "tiposcambio/hoy/restore", ``, `la fecha "hoy" no es un día`},
		"month 13":       {"GET", "tiposcambio?mes=2026-13", ``, "como 2026-11"},
		"year 0":         {"GET", "tiposcambio?mes=0000-01", ``, "como 2026-11"},
		"another name":   {"GET", "tiposcambio?fecha=2026-11", ``, "los parámetros son [mes]"},
	} {
		t.Run(name, func(t *testing.T) {
			r.do(c.method, c.path, c.body).isProblem(t, 400, codeInvalid, c.says)
			assert.Equal(t, before, r.do("GET", "data", "").body)
		})
	}
}

// What is answered from a recording cannot be changed here.
func TestWhatARecordingHasCannotBePut(t *testing.T) {
	r := start(t, mockserver.WithUpstream(mockserver.Upstream{URL: "https://api.ejemplo.pe"}))
	for _, c := range [][3]string{
		{"PUT", "tiposcambio/2026-11-20", `{"compra": 1, "venta": 1}`}, {"DELETE", "tiposcambio/2026-11-20", ""}, {"POST", "tiposcambio/2026-11-20/restore", ""},
		{"PUT", "contribuyentes/20700000001", `{"razonSocial": "A"}`}, {"DELETE", "contribuyentes/20131312955", ""},
	} {
		r.do(c[0], c[1], c[2]).isProblem(t, 409, codeRecorded, "la grabación")
	}
	r.ok(nil, "PUT", "comprobantes/20100070970/01/F001/123", `{"codigo": "2"}`)
	assert.Equal(t, 200, r.do("GET", "tiposcambio", "").status)
}
