package admin

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestComprobantes(t *testing.T) {
	r := start(t)
	all := func(query string) (list []map[string]any) {
		r.ok(&list, "GET", "comprobantes"+query, "")
		return list
	}
	assert.Len(t, all(""), 10)
	assert.Len(t, all("?limit=1"), 1)
	assert.Len(t, all("?limit=50"), 10)
	assert.Equal(t, map[string]any{
		"rucEmisor": "20331898008", "tipoComprobante": "01", "serie": "E001", "numero": float64(42), "codigo": "0", "mensaje": "",
	}, all("?ruc=20331898008")[0])
	assert.Equal(t, "[]\n", r.do("GET", "comprobantes?ruc=20999999999", "").body)

	r.ok(nil, "PUT", "comprobantes/20331898008/01/E001/42", `{"codigo": "2", "mensaje": "Anulado & <b>"}`)
	assert.Equal(t, "Anulado & <b>", all("?ruc=20331898008")[0]["mensaje"])
	r.ok(nil, "PUT", "comprobantes/20100070970/01/F001/123", `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123, "codigo": "0"}`)
	assert.Equal(t, 200, r.validate("s3creta", "clave-mock-1"))
	r.ok(nil, "DELETE", "comprobantes/20100070970/01/F001/123", "")
	r.validate("s3creta", "clave-mock-1")
	var answer map[string]any
	requests := r.mock.Requests()
	require.NoError(t, json.Unmarshal([]byte(requests[len(requests)-1].Answer), &answer))
	assert.Equal(t, "98", answer["codigo"])
	r.do("DELETE", "comprobantes/20100070970/01/F001/123", "").isProblem(t, 404, codeNotFound, "GET /_mock/comprobantes")
	assert.Len(t, all(""), 9)

	r.ok(nil, "PUT", "comprobantes/20700000001/03/B%2F1/9", `{"codigo": "4"}`)
	assert.Equal(t, "B/1", all("?ruc=20700000001")[0]["serie"])
	r.ok(nil, "DELETE", "comprobantes/20700000001/03/B%2F1/9", "")
	assert.Empty(t, all("?ruc=20700000001"))
}

func TestComprobantesThatCannotBe(t *testing.T) {
	r := start(t)
	before := r.do("GET", "data", "").body
	const path = "comprobantes/20100070970/01/F001/123"
	for name, c := range map[string]struct{ path, body, says string }{
		"a short RUC":     {"comprobantes/2010007097/01/F001/123", `{"codigo": "0"}`, "comprobante 2010007097-01-F001-123: rucEmisor no tiene 11 dígitos"},
		"number 0":        {"comprobantes/20100070970/01/F001/0", `{"codigo": "0"}`, "el numero de la dirección no es un entero desde 1"},
		"an unknown code": {path, `{"codigo": "1"}`, "codigo no es 0, 2, 4, 98 ni 99"},
		"no code":         {path, `{}`, "codigo no es"},
		"nothing":         {path, ``, "no dice el codigo"},
		"another issuer":  {path, `{"codigo": "0", "rucEmisor": "20331898008"}`, "el comprobante del cuerpo no es el de la dirección"},
		"another type":    {path, `{"codigo": "0", "tipoComprobante": "03"}`, "no es el de la dirección"},
		"another series":  {path, `{"codigo": "0", "serie": "f001"}`, "no es el de la dirección"},
		"another number":  {path, `{"codigo": "0", "numero": 124}`, "no es el de la dirección"},
	} {
		t.Run(name, func(t *testing.T) {
			r.do("PUT", c.path, c.body).isProblem(t, 400, codeInvalid, c.says)
			assert.Equal(t, before, r.do("GET", "data", "").body)
		})
	}
	r.do("DELETE", "comprobantes/20100070970/01/F001/uno", "").isProblem(t, 400, codeInvalid, "numero")
	r.do("DELETE", "comprobantes/20100070970/01/F001/9", "").isProblem(t, 404, codeNotFound, "no hay tal comprobante")
	r.do("GET", "comprobantes?limit=0", "").isProblem(t, 400, codeInvalid, "limit")
	r.do("GET", "comprobantes?emisor=20100070970", "").isProblem(t, 400, codeInvalid, "[ruc limit]")
}
