package contracttest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A validator that refuses nothing would let every other test of this package pass. So each of these
// takes something that conforms, spoils one thing in it, and wants that to be refused, for that reason.

func TestSpoiltAnswerIsRefused(t *testing.T) {
	c := loadContract(t)
	for name, tc := range map[string]struct {
		file, old, new, want string
	}{
		"renamed field":             {"consultar_200.json", `"razonSocial"`, `"razon_social"`, "razon_social"},
		"missing field":             {"consultar_200.json", `"tipo": "INSTITUCIONES PUBLICAS",`, ``, "/tipo"},
		"further field":             {"consultar_200.json", `"tipo":`, `"nombreComercial": "SUNAT", "tipo":`, "nombreComercial"},
		"RUC of 10 digits":          {"consultar_200.json", `"20131312955"`, `"2013131295"`, "/ruc"},
		"ubigeo of 5 digits":        {"consultar_200.json", `"150101"`, `"15010"`, "/ubigeo"},
		"null field":                {"consultar_200.json", `"HABIDO"`, `null`, "/condicion"},
		"date the Peruvian way":     {"consultar_200.json", `"1993-05-07"`, `"07/05/1993"`, "/fechaInscripcion"},
		"30 February":               {"consultar_200.json", "1993-05-07", "1993-02-30", "/fechaInscripcion"},
		"trailing data":             {"consultar_200.json", "}\n", "} x", "one JSON value"},
		"empty search as null":      {"buscar_200_vacio.json", `[]`, `null`, "not nullable"},
		"codigo of another service": {"validar_200_aceptado.json", `"codigo": "0"`, `"codigo": "1"`, "/codigo"},
		"esValido as a string":      {"validar_200_aceptado.json", `true`, `"true"`, "/esValido"},
		"rate as a string":          {"tipocambio_200.json", `3.750`, `"3.750"`, "/compra"},
		"no origen":                 {"tipocambio_200.json", `"origen"`, `"fuente"`, "/origen"},
		"an empty code":             {"validar_500.json", `"SUNAT_UNAVAILABLE"`, `""`, "/code"},
		"another currency":          {"tipocambio_200.json", `"USD"`, `"EUR"`, "/moneda"},
		"error with another name":   {"validar_500.json", `"error"`, `"message"`, "message"},
		"another code for a 404":    {"consultar_404.json", `NOT_FOUND`, `NO_RATE`, "/code"},
	} {
		t.Run(name, func(t *testing.T) {
			body := readSample(t, tc.file)
			spoilt := strings.Replace(body, tc.old, tc.new, 1)
			require.NotEqual(t, body, spoilt, "the edit must change the sample")
			assert.ErrorContains(t, samples[tc.file].check(t, c, answerHeader(), spoilt), tc.want)
		})
	}
}

func TestSpoiltHeaderIsRefused(t *testing.T) {
	c := loadContract(t)
	for name, tc := range map[string]struct{ header, value string }{
		"no limit":                    {"X-RateLimit-Limit", ""},
		"remaining is no number":      {"X-RateLimit-Remaining", "many"},
		"reset with Lima's offset":    {"X-RateLimit-Reset", "2026-11-21T00:00:00-05:00"},
		"a page instead of an answer": {"Content-Type", "text/html"},
	} {
		t.Run(name, func(t *testing.T) {
			header := answerHeader()
			header.Set(tc.header, tc.value)
			if tc.value == "" {
				header.Del(tc.header)
			}
			err := samples["consultar_200.json"].check(t, c, header, readSample(t, "consultar_200.json"))
			assert.ErrorContains(t, err, tc.header)
		})
	}
}

// What TestAServerByTheDocument sends is not repeated here.
func TestSpoiltRequestIsRefused(t *testing.T) {
	c := loadContract(t)
	receipt := readSample(t, requestSample)
	post := func(old, new string) *http.Request {
		return newRequest(t, http.MethodPost, anyBase+cpePath, "key", strings.Replace(receipt, old, new, 1))
	}
	ask := func(target, key, body string) *http.Request {
		return newRequest(t, http.MethodGet, anyBase+target, key, body)
	}
	text := post("", "")
	text.Header.Set("Content-Type", "text/plain")
	for name, tc := range map[string]struct {
		req  *http.Request
		want string
	}{
		"another path":       {ask("/api/contribuyente/20131312955", "key", ""), "no matching operation"},
		"text renamed":       {ask("/api/contribuyentes/search?nombre=peru", "key", ""), `"nombre"`},
		"limit renamed":      {ask(searchPath+"&limite=5", "key", ""), `"limite"`},
		"date renamed":       {ask("/api/tipocambio?date=2026-11-20", "key", ""), `"date"`},
		"no key":             {ask(lookupPath, "", ""), "X-API-KEY"},
		"body on a GET":      {ask(lookupPath, "key", "{}"), "body not allowed"},
		"another method":     {newRequest(t, http.MethodPost, anyBase+lookupPath, "key", "{}"), "method not allowed"},
		"further field":      {post(`"numero"`, `"monto": 1, "numero"`), `"monto"`},
		"tipo as a number":   {post(`"01"`, `1`), "/tipoComprobante"},
		"null clave":         {post(`"claveFalsa12"`, `null`), "/claveSol"},
		"another media type": {text, "Content-Type"},
	} {
		t.Run(name, func(t *testing.T) { assert.ErrorContains(t, c.checkRequest(tc.req), tc.want) })
	}
}
