package mockserver_test

import (
	"fmt"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValidationFindsByTheWholeIdentity(t *testing.T) {
	srv, api := start(t, mockserver.WithComprobantes(mockserver.Comprobante{
		RUCEmisor: "20100053455", Tipo: "07", Serie: "FC01", Numero: 9, Codigo: mockserver.CodigoAnulado, Mensaje: "Con mensaje & propio",
	}))
	body := func(replace ...string) string {
		return cpe(t, append([]string{"rucEmisor", `"20100053455"`, "tipoComprobante", `"07"`, "serie", `"FC01"`, "numero", "9"}, replace...)...)
	}
	assert.Contains(t, api.validar(body()).body, `"codigo":"2","mensaje":"Con mensaje & propio"`)
	for name, other := range map[string][]string{
		"issuer": {"rucEmisor", `"20100047218"`}, "type": {"tipoComprobante", `"08"`},
		"series": {"serie", `"fc01"`}, "number": {"numero", "10"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, api.validar(cpeFrom(body(), other)).body, `"codigo":"98"`)
		})
	}
	require.NoError(t, srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 123, Codigo: "2"}))
	assert.Contains(t, api.validar(cpe(t)).body, `"codigo":"2"`, "over the default receipt")
	for _, tipo := range []string{"01", "03", "07", "08"} {
		assert.Equal(t, 200, api.validar(cpe(t, "tipoComprobante", `"`+tipo+`"`)).status)
	}
}

func TestComprobantesAreListed(t *testing.T) {
	const issuer, other = "20100070970", "20331898008" // those of the default receipts
	ids := func(cs []mockserver.Comprobante) (list []string) {
		for _, c := range cs {
			list = append(list, fmt.Sprintf("%s-%s-%s-%d %s", c.RUCEmisor[9:], c.Tipo, c.Serie, c.Numero, c.Codigo))
		}
		return list
	}
	receipt := func(issuer, serie string, numero int, codigo string) mockserver.Comprobante {
		return mockserver.Comprobante{RUCEmisor: issuer, Tipo: "01", Serie: serie, Numero: numero, Codigo: codigo}
	}
	srv, api := start(t)
	assert.Equal(t, []string{"08-01-E001-42 0", "08-08-FND1-8 0"}, ids(srv.Control().Comprobantes(other)))
	assert.Contains(t, ids(srv.Control().Comprobantes(issuer)), "70-01-F001-126 98", "a default one that does not exist")

	require.NoError(t, srv.PutComprobante(receipt(other, "E001", 42, "2"), receipt(other, "A001", 10, "98"), receipt(other, "A001", 9, "4")))
	assert.Equal(t, []string{"08-01-A001-9 4", "08-01-A001-10 98", "08-01-E001-42 2", "08-08-FND1-8 0"}, ids(srv.Control().Comprobantes(other)))
	require.NoError(t, srv.Control().DeleteComprobante(other, "08", "FND1", 8))
	require.NoError(t, srv.Control().DeleteComprobante(other, "01", "A001", 9))
	assert.Equal(t, []string{"08-01-A001-10 98", "08-01-E001-42 2"}, ids(srv.Control().Comprobantes(other)))
	assert.Len(t, srv.Control().Comprobantes(""), 10, "of all issuers")
	assert.Empty(t, srv.Control().Comprobantes("20999999999"))

	own := receipt(other, "FND1", 8, "98")
	own.Tipo, own.Mensaje = "08", "No figura."
	require.NoError(t, srv.PutComprobante(own))
	assert.Contains(t, ids(srv.Control().Comprobantes(other)), "08-08-FND1-8 98", "one with its own message was put, not deleted")
	assert.Contains(t, api.validar(cpe(t, "rucEmisor", `"`+other+`"`, "tipoComprobante", `"08"`, "serie", `"FND1"`, "numero", "8")).body, "No figura.")

	srv, _ = start(t, mockserver.WithoutDefaultData())
	assert.Empty(t, srv.Control().Comprobantes(""))
}
