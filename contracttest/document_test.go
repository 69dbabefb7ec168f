package contracttest

import (
	"os"
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
}

// docs/contract.md, 4: four paths, one operation each.
func TestDocumentHasTheFourOperations(t *testing.T) {
	var operations []string
	for path, item := range loadContract(t).doc.Paths.Map() {
		for method := range item.Operations() {
			operations = append(operations, method+" "+path)
		}
	}
	assert.ElementsMatch(t, []string{
		"GET /api/contribuyentes/{ruc}",
		"GET /api/contribuyentes/search",
		"POST /api/cpe/validar",
		"GET /api/tipocambio",
	}, operations)
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

// Were these accepted, that openapi.yaml is accepted would mean nothing.
func TestInvalidDocumentIsRefused(t *testing.T) {
	raw, err := os.ReadFile(document)
	require.NoError(t, err)
	for name, edit := range map[string][2]string{
		"dangling reference":           {"#/components/schemas/ErrorNotFound", "#/components/schemas/Missing"},
		"path parameter not declared":  {"name: ruc", "name: numeroRuc"},
		"example against its schema":   {`example: "150101"`, `example: "15"`},
		"unknown type":                 {"type: boolean", "type: booleano"},
		"response without description": {"description: The rate (2.5).", "summary: The rate (2.5)."},
	} {
		t.Run(name, func(t *testing.T) {
			broken := strings.Replace(string(raw), edit[0], edit[1], 1)
			require.NotEqual(t, string(raw), broken, "the edit must change the document")
			_, err := parseContract([]byte(broken))
			assert.Error(t, err)
		})
	}
}
