package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/padron"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func none(string) string { return "" }

func TestWithoutFlagsItMakesASampleRequest(t *testing.T) {
	var out, log bytes.Buffer
	require.NoError(t, run(t.Context(), nil, none, &out, &log))
	for _, shows := range []string{"POST /facturas", "200 OK", "SUPERMERCADOS PERUANOS", `"cierre"`, "Listo."} {
		assert.Contains(t, out.String(), shows)
	}
}

func TestItSaysWhatIsMissing(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), []string{"-addr", "127.0.0.1:0"}, none, io.Discard, io.Discard), "FISCOPE_BASE_URL")
}

func TestHelpRunsNothing(t *testing.T) {
	var out bytes.Buffer
	require.ErrorIs(t, run(t.Context(), []string{"-addr", "127.0.0.1:0", "-h"}, none, &out, io.Discard), flag.ErrHelp)
	assert.Equal(t, uso, out.String())
	require.ErrorContains(t, run(t.Context(), []string{"-x"}, none, &out, io.Discard), "-x")
	require.ErrorContains(t, run(t.Context(), []string{"x"}, none, &out, io.Discard), "no lleva argumentos")
}

func TestItServesUntilItIsToldToStop(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out := &lines{found: make(chan string, 1)}
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"-addr", "127.0.0.1:0", "-mock"}, none, out, io.Discard) }()
	base := <-out.found
	client := &http.Client{}
	defer client.CloseIdleConnections()
	resp, err := client.Get(base + "/salud")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, resp.Body.Close())
	stop()
	require.NoError(t, <-ended)
}

// An invoice in soles needs no rate: it gets its totals whatever becomes of the rate, and at most a few seconds later.
func TestSolesNeedNoRate(t *testing.T) {
	const invoice = `{"ruc":"20100070970","fecha":"%s","moneda":"PEN","lineas":[{"descripcion":"x","cantidad":1,"valorUnitario":"100"}]}`
	cases := []struct {
		name, fecha string
		fault       mockserver.Step
	}{
		{"before the rate is out", "2026-11-21", nil},
		{"months ahead", "2027-03-01", nil},
		{"none was published", "2026-11-19", mockserver.Status(404)},
		{"the key is refused for rates", "2026-11-19", mockserver.Status(401)},
		{"the quota ends between both", "2026-11-19", mockserver.Status(429)},
		{"out of order", "2026-11-19", mockserver.Status(501)},
		{"a page instead of an answer", "2026-11-19", mockserver.HTML200},
		{"it never answers", "2026-11-19", mockserver.Hang},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				friday := time.Date(2026, time.November, 20, 12, 0, 0, 0, fiscope.Lima)
				srv := mockserver.New(t, mockserver.WithNow(friday), mockserver.WithoutSocket())
				if tc.fault != nil {
					srv.Fault(mockserver.Match{Op: mockserver.OpTipoCambio}, tc.fault)
				}
				client := srv.Client()
				defer client.CloseIdleConnections()
				var log bytes.Buffer
				r := httptest.NewRequestWithContext(t.Context(), "POST", "/facturas", strings.NewReader(fmt.Sprintf(invoice, tc.fecha)))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				nuevoServicio(client, srv.Now, slog.New(slog.NewTextHandler(&log, nil))).rutas().ServeHTTP(w, r)
				assert.Equal(t, 200, w.Code, w.Body.String())
				var f struct {
					Soles, Dolares map[string]string
					Advertencias   []string
				}
				require.NoError(t, json.Unmarshal(w.Body.Bytes(), &f))
				assert.Equal(t, "118.00", f.Soles["total"])
				assert.Nil(t, f.Dolares)
				assert.Contains(t, strings.Join(f.Advertencias, " "), "sin importes en dólares")
				assert.Contains(t, log.String(), "sin tipo de cambio")
				assert.NotContains(t, log.String(), "20100070970")
			})
		})
	}
}

// Two rows in the form of the registry's file.
const dosFilas = `RUC|NOMBRE O RAZÓN SOCIAL|ESTADO DEL CONTRIBUYENTE|CONDICIÓN DE DOMICILIO|UBIGEO|TIPO DE VÍA|NOMBRE DE VÍA|CÓDIGO DE ZONA|TIPO DE ZONA|NÚMERO|INTERIOR|LOTE|DEPARTAMENTO|MANZANA|KILÓMETRO|
20600000005|EMPRESA DEL PADRON S.A.|ACTIVO|NO HABIDO|150101|AV.|LOS ALAMOS|----|-|123|-|-|-|-|-|
20131312955|SUPERINTENDENCIA NACIONAL|ACTIVO|HABIDO|150101|AV.|GARCILASO DE LA VEGA|----|-|1472|-|-|-|-|-|
`

// While the service is down, a customer of the registry is one of an earlier day, and the invoice says so.
func TestACustomerOfTheRegistry(t *testing.T) {
	dir := t.TempDir()
	texto, indice := filepath.Join(dir, "padron.txt"), filepath.Join(dir, "padron.index")
	require.NoError(t, os.WriteFile(texto, []byte(dosFilas), 0o600))
	jueves := time.Date(2026, time.November, 19, 12, 0, 0, 0, fiscope.Lima)
	require.NoError(t, os.Chtimes(texto, jueves, jueves))
	_, err := padron.Import(t.Context(), texto, indice, padron.ImportOptions{})
	require.NoError(t, err)
	srv := mockserver.New(t)
	srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(501))
	env := func(name string) string {
		return map[string]string{"FISCOPE_BASE_URL": srv.URL, "FISCOPE_API_KEY": srv.APIKey}[name]
	}
	ctx, stop := context.WithCancel(t.Context())
	out := &lines{found: make(chan string, 1)}
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"-addr", "127.0.0.1:0", "-padron", indice}, env, out, io.Discard) }()
	base := <-out.found
	client := &http.Client{}
	defer client.CloseIdleConnections()
	for ruc, shows := range map[string][]string{
		"20600000005": {`"datosDel": "2026-11-19"`, "el cliente está ACTIVO, NO HABIDO", "son del padrón del 2026-11-19"},
		"20100070970": {"servicio_no_disponible"}, // the registry lacks it: the service's error stands
	} {
		resp, err := client.Post(base+"/facturas", "application/json", strings.NewReader(fmt.Sprintf(
			`{"ruc":"%s","fecha":"%s","moneda":"PEN","lineas":[{"descripcion":"x","cantidad":1,"valorUnitario":"100"}]}`, ruc, fiscope.HoyEnLima())))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		for _, text := range shows {
			assert.Contains(t, string(body), text)
		}
	}
	stop()
	require.NoError(t, <-ended)
}

func TestARegistryThatIsNone(t *testing.T) {
	err := run(t.Context(), []string{"-padron", "main.go"}, none, io.Discard, io.Discard)
	require.ErrorContains(t, err, "-padron: ")
	require.ErrorContains(t, err, "main.go")
}

func TestARegistryThatDoesNotExistIsNamedFirst(t *testing.T) {
	for name, args := range map[string][]string{
		"the sample":     {"-padron", "no-existe.index"},
		"and no service": {"-addr", "127.0.0.1:0", "-padron", "no-existe.index"},
		"on a mock":      {"-addr", "127.0.0.1:0", "-mock", "-padron", "no-existe.index"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), args, none, io.Discard, io.Discard)
			require.EqualError(t, err, "no existe el archivo no-existe.index")
		})
	}
}

// lines finds the address in the first line that is printed.
type lines struct {
	once  sync.Once
	found chan string
}

func (l *lines) Write(p []byte) (int, error) {
	if _, rest, ok := strings.Cut(string(p), "en "); ok {
		l.once.Do(func() { l.found <- strings.SplitN(rest, ",", 2)[0] })
	}
	return len(p), nil
}

// Each failure of the service behind has its own status here, and the log names nobody.
func TestStatuses(t *testing.T) {
	friday := time.Date(2026, time.November, 20, 12, 0, 0, 0, fiscope.Lima)
	const invoice = `{"ruc":"20100070970","fecha":"2026-11-19","moneda":"USD","lineas":[{"descripcion":"x","cantidad":1,"valorUnitario":"100"}]}`
	cases := []struct {
		name, method, path, body string
		prepare                  func(*mockserver.Server)
		status                   int
		says                     string
	}{
		{"an invoice", "POST", "/facturas", invoice, nil, 200, `"cierre":"2026-11-18"`},
		{"an invoice of today", "POST", "/facturas", strings.Replace(invoice, `"fecha":"2026-11-19",`, "", 1), nil, 200, `"fecha":"2026-11-20"`},
		{"in soles", "POST", "/facturas", strings.Replace(invoice, "USD", "PEN", 1), nil, 200, `"dolares":{"valorVenta"`},
		{"a note has the rate of what it modifies", "POST", "/facturas", strings.Replace(invoice, `"fecha":"2026-11-19"`, `"fecha":"2026-11-19","fechaModificado":"2026-11-10"`, 1), nil, 200, `"cierre":"2026-11-09"`},
		{"a note of today, before its rate is out", "POST", "/facturas", strings.Replace(invoice, `"fecha":"2026-11-19"`, `"fechaModificado":"2026-11-19"`, 1), nil, 200, `"cierre":"2026-11-18"`},
		{"a note before what it modifies", "POST", "/facturas", strings.Replace(invoice, `"fecha":"2026-11-19"`, `"fecha":"2026-11-19","fechaModificado":"2026-11-20"`, 1), nil, 400, "dato_invalido"},
		{"a note of a date that is none", "POST", "/facturas", strings.Replace(invoice, `"fecha":"2026-11-19"`, `"fecha":"2026-11-19","fechaModificado":"2026-02-30"`, 1), nil, 400, "dato_invalido"},
		{"a customer", "GET", "/clientes/20100070970", "", nil, 200, `"activoYHabido":true`},
		{"no such customer", "GET", "/clientes/20999999990", "", nil, 404, "cliente_no_existe"},
		{"not a RUC", "GET", "/clientes/123", "", nil, 400, "dato_invalido"},
		{"a date whose rate is to come", "POST", "/facturas", strings.Replace(invoice, "2026-11-19", "2026-11-21", 1), nil, 409, "tipo_de_cambio_sin_publicar"},
		{"a date that is none", "POST", "/facturas", strings.Replace(invoice, "2026-11-19", "2026-02-30", 1), nil, 400, "dato_invalido"},
		{"a field that does not exist", "POST", "/facturas", strings.Replace(invoice, "fecha", "fehca", 1), nil, 400, "dato_invalido"},
		{"no amount", "POST", "/facturas", strings.Replace(invoice, `"100"`, `"0"`, 1), nil, 400, "mayores que cero"},
		{"a float in exponent form", "POST", "/facturas", strings.Replace(invoice, `"100"`, `1e9`, 1), nil, 400, "dato_invalido"},
		{"the quota is spent", "GET", "/clientes/20100070970", "", func(s *mockserver.Server) { _ = s.PutKey(s.APIKey, 0) }, 503, "cuota_agotada"},
		{"the service is down", "GET", "/clientes/20100070970", "", func(s *mockserver.Server) { s.Fault(mockserver.Match{}, mockserver.Status(501)) }, 502, "servicio_no_disponible"},
		{"our key is refused", "GET", "/clientes/20100070970", "", func(s *mockserver.Server) { s.Fault(mockserver.Match{}, mockserver.Status(401)) }, 500, "interno"},
		{"a page instead of an answer", "GET", "/clientes/20100070970", "", func(s *mockserver.Server) { s.Fault(mockserver.Match{}, mockserver.Preset("html-200")) }, 502, "respuesta_inesperada"},
		{"another path", "GET", "/factura", "", nil, 404, "ruta_no_existe"},
		{"another method", "DELETE", "/facturas", "", nil, 405, "metodo"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			srv := mockserver.New(t, mockserver.WithNow(friday), mockserver.WithFrozenClock())
			if tc.prepare != nil {
				tc.prepare(srv)
			}
			client := srv.Client()
			defer client.CloseIdleConnections()
			var log bytes.Buffer
			r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, strings.NewReader(tc.body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			nuevoServicio(client, srv.Now, slog.New(slog.NewTextHandler(&log, nil))).rutas().ServeHTTP(w, r)
			assert.Equal(t, tc.status, w.Code, w.Body.String())
			var compact bytes.Buffer
			require.NoError(t, json.Compact(&compact, w.Body.Bytes()))
			assert.Contains(t, compact.String(), tc.says)
			for _, private := range []string{"20100070970", "20999999990", "SUPERMERCADOS", srv.APIKey} {
				assert.NotContains(t, log.String(), private)
			}
		})
	}
}
