package contracttest

import (
	"net/http"
	"os"
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
		"RUC as a number":           {"consultar_200.json", `"20131312955"`, `20131312955`, "/ruc"},
		"ubigeo of 5 digits":        {"consultar_200.json", `"150101"`, `"15010"`, "/ubigeo"},
		"null field":                {"consultar_200.json", `"HABIDO"`, `null`, "/condicion"},
		"date the Peruvian way":     {"consultar_200.json", `"1993-05-07"`, `"07/05/1993"`, "/fechaInscripcion"},
		"30 February":               {"consultar_200.json", "1993-05-07", "1993-02-30", "/fechaInscripcion"},
		"trailing data":             {"consultar_200.json", "}\n", "} x", "one JSON value"},
		"empty search as null":      {"buscar_200_vacio.json", `[]`, `null`, "not nullable"},
		"empty search as an object": {"buscar_200_vacio.json", `[]`, `{}`, "must be an array"},
		"renamed field in a list":   {"buscar_200.json", `"condicion"`, `"condición"`, "condición"},
		"codigo as a number":        {"validar_200_aceptado.json", `"codigo": "0"`, `"codigo": 0`, "/codigo"},
		"codigo of another service": {"validar_200_aceptado.json", `"codigo": "0"`, `"codigo": "1"`, "/codigo"},
		"estado in capitals":        {"validar_200_aceptado.json", `"Aceptado"`, `"ACEPTADO"`, "/estado"},
		"esValido as a string":      {"validar_200_aceptado.json", `true`, `"true"`, "/esValido"},
		"rate as a string":          {"tipocambio_200.json", `3.750`, `"3.750"`, "/compra"},
		"a rate of 0":               {"tipocambio_200.json", `3.750`, `0`, "/compra"},
		"a rate that is null":       {"tipocambio_200.json", `3.760`, `null`, "/venta"},
		"no origen":                 {"tipocambio_200.json", `"origen"`, `"fuente"`, "/origen"},
		"mensaje as null":           {"validar_200_aceptado.json", `"mensaje": "`, `"mensaje": null, "nota": "`, "/mensaje"},
		"esValido as a number":      {"validar_200_aceptado.json", `true`, `1`, "/esValido"},
		"a list as direccion":       {"consultar_200.json", `"direccion": "`, `"direccion": [], "nota": "`, "/direccion"},
		"an empty error":            {"validar_500.json", `"El servicio de SUNAT no responde."`, `""`, "/error"},
		"an empty code":             {"validar_500.json", `"SUNAT_UNAVAILABLE"`, `""`, "/code"},
		"another currency":          {"tipocambio_200.json", `"USD"`, `"EUR"`, "/moneda"},
		"time in a date":            {"tipocambio_200.json", `"2026-11-20"`, `"2026-11-20T00:00:00Z"`, "/fecha"},
		"error with another name":   {"validar_500.json", `"error"`, `"message"`, "message"},
		"error without code":        {"validar_401.json", `"code"`, `"codigo"`, "codigo"},
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
		"no remaining":                {"X-RateLimit-Remaining", ""},
		"no reset":                    {"X-RateLimit-Reset", ""},
		"remaining is no number":      {"X-RateLimit-Remaining", "many"},
		"remaining is negative":       {"X-RateLimit-Remaining", "-1"},
		"reset as an epoch":           {"X-RateLimit-Reset", "1795237200"},
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

func TestSpoiltRequestIsRefused(t *testing.T) {
	c := loadContract(t)
	for name, tc := range map[string]struct{ target, want string }{
		"another path":          {"/api/contribuyente/20131312955", "no matching operation"},
		"RUC of 10 digits":      {"/api/contribuyentes/2013131295", "\"ruc\""},
		"text too short":        {"/api/contribuyentes/search?razonSocial=pe", "\"razonSocial\""},
		"text missing":          {"/api/contribuyentes/search", "required but missing"},
		"text renamed":          {"/api/contribuyentes/search?nombre=peru", "\"nombre\""},
		"limit 0":               {searchPath + "&limit=0", "at least 1"},
		"limit 51":              {searchPath + "&limit=51", "at most 50"},
		"limit no number":       {searchPath + "&limit=ten", "\"limit\""},
		"limit renamed":         {searchPath + "&limite=5", "\"limite\""},
		"date the Peruvian way": {"/api/tipocambio?fecha=20/11/2026", "\"fecha\""},
		"30 February":           {"/api/tipocambio?fecha=2026-02-30", `"fecha"`},
		"date renamed":          {"/api/tipocambio?date=2026-11-20", "\"date\""},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.checkRequest(newRequest(t, http.MethodGet, anyBase+tc.target, "key", ""))
			assert.ErrorContains(t, err, tc.want)
		})
	}
	t.Run("no key", func(t *testing.T) {
		assert.ErrorContains(t, c.checkRequest(newRequest(t, http.MethodGet, anyBase+lookupPath, "", "")), "X-API-KEY")
	})
	t.Run("body on a GET", func(t *testing.T) {
		assert.ErrorContains(t, c.checkRequest(newRequest(t, http.MethodGet, anyBase+lookupPath, "key", "{}")), "body not allowed")
	})
	t.Run("another method", func(t *testing.T) {
		assert.ErrorContains(t, c.checkRequest(newRequest(t, http.MethodPost, anyBase+lookupPath, "key", "{}")), "method not allowed")
	})
}

func TestSpoiltReceiptRequestIsRefused(t *testing.T) {
	c := loadContract(t)
	body := readSample(t, requestSample)
	for name, tc := range map[string]struct{ old, new, want string }{
		"renamed field":      {`"rucEmisor"`, `"ruc"`, "\"ruc\""},
		"further field":      {`"numero"`, `"monto": 1, "numero"`, "\"monto\""},
		"numero as a string": {`123`, `"123"`, "/numero"},
		"tipo as a number":   {`"01"`, `1`, "/tipoComprobante"},
		"tipo unknown":       {`"01"`, `"02"`, "/tipoComprobante"},
		"malformed RUC":      {`"20131312955"`, `"RUC"`, "/rucSolicitante"},
		"null clave":         {`"claveFalsa12"`, `null`, "/claveSol"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := strings.Replace(body, tc.old, tc.new, 1)
			require.NotEqual(t, body, spoilt, "the edit must change the sample")
			err := c.checkRequest(newRequest(t, http.MethodPost, anyBase+cpePath, "key", spoilt))
			assert.ErrorContains(t, err, tc.want)
		})
	}
	t.Run("another media type", func(t *testing.T) {
		req := newRequest(t, http.MethodPost, anyBase+cpePath, "key", body)
		req.Header.Set("Content-Type", "text/plain")
		assert.ErrorContains(t, c.checkRequest(req), "Content-Type")
	})
}

// The other direction: the samples hold the document to its names, too.
func TestRenamedFieldInTheDocumentIsNoticed(t *testing.T) {
	raw, err := os.ReadFile(document)
	require.NoError(t, err)
	c, err := parseContract([]byte(strings.ReplaceAll(string(raw), "razonSocial", "nombre")))
	require.NoError(t, err)
	for _, name := range []string{"consultar_200.json", "buscar_200.json"} {
		assert.ErrorContains(t, samples[name].check(t, c, answerHeader(), readSample(t, name)), "razonSocial")
	}
}
