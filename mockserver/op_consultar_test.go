package mockserver_test

import (
	"net/url"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLookupAnswersTheRecordOfTheContract(t *testing.T) {
	_, api := start(t, mockserver.WithContribuyentes(mockserver.Contribuyente{
		RUC: "20999990097", RazonSocial: `PEÑA & "HIJOS" <S.A.>`, NombreComercial: "NO SE MUESTRA",
		Estado: "ACTIVO", Condicion: "HABIDO", Direccion: "AV. UNO 1", Ubigeo: "150101",
		Departamento: "LIMA", Provincia: "LIMA", Distrito: "LIMA", Tipo: "SOCIEDAD ANONIMA",
		ActividadEconomica: "1050", FechaInscripcion: "2020-01-02", FechaInicioActividades: "2020-02-03",
	}))
	r := api.get("/api/contribuyentes/20999990097")
	require.Equal(t, 200, r.status)
	assert.Equal(t, "application/json", r.header.Get("Content-Type"))
	// docs/contract.md, 2.1: thirteen fields, no more; & and < as they are.
	assert.Equal(t, `{"ruc":"20999990097","razonSocial":"PEÑA & \"HIJOS\" <S.A.>","estado":"ACTIVO","condicion":"HABIDO",`+
		`"direccion":"AV. UNO 1","ubigeo":"150101","departamento":"LIMA","provincia":"LIMA","distrito":"LIMA",`+
		`"tipo":"SOCIEDAD ANONIMA","actividadEconomica":"1050","fechaInscripcion":"2020-01-02",`+
		`"fechaInicioActividades":"2020-02-03"}`+"\n", r.body)
}

func TestLookupRefusesWhatIsNotElevenDigits(t *testing.T) {
	_, api := start(t)
	for name, ruc := range map[string]string{
		"ten":             "2013131295",
		"twelve":          "201313129555",
		"letter":          "2013131295A",
		"space":           "20131312955%20",
		"other digits":    url.PathEscape("２０１３１３１２９５５"),
		"slash":           "2013131%2F955",
		"dots":            "%2e%2e",
		"query":           "20131312955%3Fa",
		"signed":          "+2013131295",
		"almost a search": "searchh",
	} {
		t.Run(name, func(t *testing.T) {
			r := api.get("/api/contribuyentes/" + ruc)
			r.isError(t, 400, "INVALID_RUC")
			assert.Contains(t, r.body, "11 dígitos")
		})
	}
}
