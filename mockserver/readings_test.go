package mockserver_test

import (
	"errors"
	"net/http"
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

func TestEachAssumptionRunsAllReadings(t *testing.T) {
	var want, ran []mockserver.Assumptions
	for _, r := range mockserver.Readings() {
		want = append(want, r.Assumptions)
	}
	mockserver.EachAssumption(t, func(_ *testing.T, a mockserver.Assumptions) { ran = append(ran, a) })
	assert.Equal(t, want, ran)
	assert.Less(t, len(ran), 40, "users' tests stay fast")
}

// What a caller of the SDK relies on must hold in every reading.
func TestEachAssumptionWithTheSDK(t *testing.T) {
	mockserver.EachAssumption(t, func(t *testing.T, a mockserver.Assumptions) {
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
		require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{
			RUC: "20999990098", RazonSocial: "SIN DATOS", Estado: "ACTIVO", Condicion: "HABIDO", Ubigeo: "-", FechaInscripcion: "-",
		}))
		sinDatos, err := client.Contribuyentes.Consultar(t.Context(), "20999990098")
		require.NoError(t, err)
		assert.True(t, sinDatos.FechaInscripcion.IsZero())
		assert.Contains(t, []string{"", "-"}, sinDatos.Ubigeo)
		some, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "gloria de prueba"})
		require.NoError(t, err)
		assert.NotEmpty(t, some)
		_, err = validate(t, client, mockserver.UsuarioSOL, mockserver.ClaveSOL)
		require.NoError(t, err)

		stranger, err := fiscope.NewClient(srv.URL, "otra-clave", fiscope.WithHTTPClient(&http.Client{Transport: srv.Transport()}))
		require.NoError(t, err)
		_, err = stranger.Contribuyentes.Consultar(t.Context(), "20131312955")
		refused := fiscope.ErrUnauthorized
		if a.InvalidKey.Status == http.StatusForbidden && errors.Is(err, fiscope.ErrUnavailable) {
			refused = fiscope.ErrUnavailable // a 403 without an error body is a firewall's
		}
		assert.ErrorIs(t, err, refused)

		require.NoError(t, srv.PutKey(srv.APIKey, 0))
		client = srv.Client()
		_, err = client.Contribuyentes.Consultar(t.Context(), "20131312955")
		switch status := a.QuotaExceeded.Status; {
		case status == http.StatusServiceUnavailable:
			assert.ErrorIs(t, err, fiscope.ErrUnavailable, "it cannot be distinguished from a service that fails")
		case status == http.StatusForbidden && !a.HeadersOnErrors && errors.Is(err, fiscope.ErrUnavailable): // as above
		case status != http.StatusTooManyRequests && !a.HeadersOnErrors:
			assert.ErrorIs(t, err, fiscope.ErrUnauthorized, "without headers it cannot be distinguished from a refused key")
		default:
			assert.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
		}
		if a.HeadersOnErrors {
			before := len(srv.Requests())
			_, err = client.Contribuyentes.Consultar(t.Context(), "20131312955")
			assert.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
			assert.Len(t, srv.Requests(), before, "until the reset it asks no more, whatever the status was")
		}
	})
}

// validate asks for a receipt that is accepted.
func validate(t *testing.T, client *fiscope.Client, usuario, clave string) (*fiscope.ResultadoCPE, error) {
	return client.CPE.Validar(t.Context(),
		fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
		fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: usuario, Clave: fiscope.NewSecreto(clave)})
}
