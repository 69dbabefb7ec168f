package contracttest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The list is written by hand from docs/contract.md, 7, with each operation's success, so that the document
// can neither lose a status nor grow one that the contract does not know.
func TestDocumentNamesEveryStatusOfTheContract(t *testing.T) {
	assert.ElementsMatch(t, []string{
		"consultarContribuyente 200", "consultarContribuyente 400", "consultarContribuyente 404",
		"buscarContribuyentes 200", "buscarContribuyentes 400",
		"validarCPE 200", "validarCPE 400", "validarCPE 401", "validarCPE 500",
		"consultarTipoCambio 200", "consultarTipoCambio 400", "consultarTipoCambio 404",
	}, loadContract(t).documented())
	for path, method := range map[string]string{
		"/api/contribuyentes/{ruc}": "GET", "/api/contribuyentes/search": "GET", "/api/cpe/validar": "POST", "/api/tipocambio": "GET",
	} {
		assert.NotNil(t, loadContract(t).doc.Paths.Find(path).GetOperation(method), path)
	}
}

// The contract's field names, by hand from docs/contract.md, 2: a name misspelt both in the document and in
// testdata/ would otherwise go unseen.
func TestDocumentHasTheContractsFields(t *testing.T) {
	doc := loadContract(t).doc
	for name, fields := range map[string]string{
		"Contribuyente": "ruc razonSocial estado condicion direccion ubigeo departamento provincia distrito " +
			"tipo actividadEconomica fechaInscripcion fechaInicioActividades",
		"ContribuyenteResumen": "ruc razonSocial estado condicion",
		"SolicitudCPE":         "rucEmisor tipoComprobante serie numero rucSolicitante usuarioSol claveSol",
		"ResultadoCPE":         "codigo mensaje estado esValido",
		"TipoCambio":           "compra venta moneda fecha origen",
		"Error":                "error code",
		"ErrorNotFound":        "error code",
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, doc.Components.Schemas, name)
			schema := doc.Components.Schemas[name].Value
			var properties []string
			for property := range schema.Properties {
				properties = append(properties, property)
			}
			assert.ElementsMatch(t, strings.Fields(fields), properties)
			assert.ElementsMatch(t, strings.Fields(fields), schema.Required)
		})
	}
}

// What a generator of clients reads: no pointer for a field that is required, no float that loses digits of
// a rate. A float32 makes 393400.0015 of 100000 times 3.934.
func TestDocumentIsGoodToGenerateFrom(t *testing.T) {
	schemas := loadContract(t).doc.Components.Schemas
	for name, schema := range schemas {
		for property, p := range schema.Value.Properties {
			assert.False(t, p.Value.ReadOnly || p.Value.WriteOnly || p.Value.Nullable, "%s.%s becomes optional", name, property)
		}
	}
	for _, property := range []string{"compra", "venta"} {
		rate := schemas["TipoCambio"].Value.Properties[property].Value
		assert.Equal(t, "double", rate.Format)
		assert.Equal(t, "decimal.Decimal", rate.Extensions["x-go-type"])
		assert.Equal(t, map[string]any{"path": "github.com/shopspring/decimal"}, rate.Extensions["x-go-type-import"])
	}
}
