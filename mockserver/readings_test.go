package mockserver_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadingsChangeOneFieldEach(t *testing.T) {
	usual := reflect.ValueOf(mockserver.DefaultAssumptions())
	changed := map[string]bool{}
	names := map[string]bool{}
	for i, r := range mockserver.Readings() {
		require.False(t, names[r.Name], "%s twice", r.Name)
		names[r.Name] = true
		var fields []string
		for j := range usual.NumField() {
			if !reflect.DeepEqual(usual.Field(j).Interface(), reflect.ValueOf(r.Assumptions).Field(j).Interface()) {
				fields = append(fields, usual.Type().Field(j).Name)
			}
		}
		if i == 0 {
			assert.Equal(t, "default", r.Name)
			assert.Empty(t, fields)
			continue
		}
		field, _, _ := strings.Cut(r.Name, "=")
		assert.Equal(t, []string{field}, fields, r.Name)
		changed[field] = true
		_, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithAssumptions(r.Assumptions))
		assert.NoError(t, err, r.Name)
	}
	for field := range usual.Type().Fields() {
		assert.True(t, changed[field.Name], "no reading changes %s", field.Name)
	}
}

// What a caller of the SDK relies on must hold in every reading.
func TestEachAssumptionWithTheSDK(t *testing.T) {
	var ran []mockserver.Assumptions
	mockserver.EachAssumption(t, func(t *testing.T, a mockserver.Assumptions) {
		ran = append(ran, a)
		srv := mockserver.New(t, mockserver.WithoutSocket(), mockserver.WithAssumptions(a))
		client := srv.Client()
		c, err := client.Contribuyentes.Consultar(t.Context(), "20131312955")
		require.NoError(t, err)
		assert.True(t, c.Estado.Activo())
		_, err = client.Contribuyentes.Consultar(t.Context(), "20000000001")
		assert.ErrorIs(t, err, fiscope.ErrNotFound)
		baja, err := client.Contribuyentes.Consultar(t.Context(), "20100000131")
		require.NoError(t, err)
		assert.True(t, baja.Estado.Baja())
		v, err := client.CPE.Validar(t.Context(), fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
			fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(mockserver.ClaveSOL)})
		require.NoError(t, err)
		assert.True(t, v.EsValido)
		require.NoError(t, srv.PutKey(srv.APIKey, 0))
		_, err = srv.Client().Contribuyentes.Consultar(t.Context(), "20131312955")
		assert.Error(t, err)
		assert.NotErrorIs(t, err, fiscope.ErrNotFound)
	})
	assert.Len(t, ran, len(mockserver.Readings()))
}
