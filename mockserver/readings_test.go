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

// A refusal of SOL credentials that has neither the contract's code nor status 401 cannot be distinguished from one of
// the key or of the request: the SDK reports that, and may send the credentials again. So may it after a 401 whose code
// speaks of the key.
func TestRefusedSOLUsersWithTheSDK(t *testing.T) {
	for name, c := range map[string]struct {
		refusal mockserver.Refusal
		class   error
		sent    int // of two
	}{
		"as the contract has it":    {mockserver.Refusal{Status: 401, Code: wrongSOL}, fiscope.ErrInvalidSOLCredentials, 1},
		"another status":            {mockserver.Refusal{Status: 403, Code: wrongSOL}, fiscope.ErrInvalidSOLCredentials, 1},
		"an empty code":             {mockserver.Refusal{Status: 401}, fiscope.ErrUnauthorized, 1},
		"another code":              {mockserver.Refusal{Status: 401, Code: "SOL_USER_BLOCKED"}, fiscope.ErrUnauthorized, 1},
		"a code about the key":      {mockserver.Refusal{Status: 401, Code: "INVALID_API_KEY"}, fiscope.ErrUnauthorized, 2},
		"another status and code":   {mockserver.Refusal{Status: 403, Code: "SOL_USER_BLOCKED"}, fiscope.ErrUnauthorized, 2},
		"a locked resource":         {mockserver.Refusal{Status: 423, Code: "SOL_USER_BLOCKED"}, fiscope.ErrInvalidRequest, 2},
		"a request that is no good": {mockserver.Refusal{Status: 400, Code: "BAD_REQUEST"}, fiscope.ErrInvalidRequest, 2},
		"a user that is not there":  {mockserver.Refusal{Status: 404, Code: "SOL_USER_NOT_FOUND"}, fiscope.ErrMalformedResponse, 2},
	} {
		t.Run(name, func(t *testing.T) {
			a := mockserver.DefaultAssumptions()
			a.BlockedSOL = c.refusal
			srv := mockserver.New(t, mockserver.WithoutSocket(), mockserver.WithAssumptions(a))
			for range a.BlockAfter {
				_, err := validate(t, srv.Client(), mockserver.UsuarioSOL, "mala")
				require.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials, "a wrong clave is refused as the contract says")
			}
			client, before := srv.Client(), len(srv.Requests())
			_, err := validate(t, client, mockserver.UsuarioSOL, mockserver.ClaveSOL)
			assert.ErrorIs(t, err, c.class)
			_, err = validate(t, client, mockserver.UsuarioSOL, mockserver.ClaveSOL)
			if c.sent == 1 {
				assert.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
			} else {
				assert.ErrorIs(t, err, c.class)
			}
			assert.Equal(t, c.sent, len(srv.Requests())-before)
		})
	}
}

// validate asks for a receipt that is accepted.
func validate(t *testing.T, client *fiscope.Client, usuario, clave string) (*fiscope.ResultadoCPE, error) {
	return client.CPE.Validar(t.Context(),
		fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
		fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: usuario, Clave: fiscope.NewSecreto(clave)})
}
