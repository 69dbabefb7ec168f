package mockserver_test

import (
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
