package mockserver_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeT records what a Server does to the test it was given.
type fakeT struct {
	cleanups []func()
	errors   []string
	fatal    string
}

func (f *fakeT) Helper()          {}
func (f *fakeT) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *fakeT) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}
func (f *fakeT) Fatalf(format string, args ...any) { f.fatal = fmt.Sprintf(format, args...) }
func (f *fakeT) Logf(string, ...any)               {}

func TestNewClosesWithTheTest(t *testing.T) {
	var f fakeT
	srv := mockserver.New(&f)
	require.Regexp(t, `^http://127\.0\.0\.1:[1-9][0-9]*$`, srv.URL)
	require.Equal(t, mockserver.DefaultAPIKey, srv.APIKey)
	resp, err := http.Get(srv.URL + "/api/tipocambio")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 401, resp.StatusCode)
	require.Len(t, f.cleanups, 1)
	f.cleanups[0]()
	_, err = net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	require.Error(t, err)
	assert.Empty(t, f.errors, "calls that match nothing do not fail the test")
}

func TestNewEndsTheTestWhenAnOptionCannotWork(t *testing.T) {
	var f fakeT
	mockserver.New(&f, mockserver.WithClock(nil))
	assert.Contains(t, f.fatal, "mockserver: WithClock: the clock is nil")
}

func TestSettersRefuseWhatCannotBe(t *testing.T) {
	var f fakeT
	srv := mockserver.New(&f, mockserver.WithoutSocket())
	refused := map[string]error{
		"PutContribuyente":   srv.PutContribuyente(mockserver.Contribuyente{RUC: "2010007097"}),
		"PutComprobante":     srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 1, Codigo: "3"}),
		"PutComprobante 2":   srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "2010007097", Tipo: "01", Serie: "F001", Numero: 1, Codigo: "0"}),
		"PutComprobante 3":   srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "1", Serie: "F001", Numero: 1, Codigo: "0"}),
		"PutComprobante 4":   srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Codigo: "0"}),
		"PutUsuarioSOL":      srv.PutUsuarioSOL(mockserver.SOL{RUC: "20100070970", Usuario: "X"}),
		"PutTipoCambio":      srv.PutTipoCambio("2026-02-30", "3.750", "3.760"),
		"PutTipoCambio 2":    srv.PutTipoCambio("2026-11-20", "3,750", "3.760"),
		"PutTipoCambio 3":    srv.PutTipoCambio("2026-11-20", "3.750", "03.760"),
		"PutTipoCambio 4":    srv.PutTipoCambio("2026-11-20", "0.000", "3.760"),
		"PutTipoCambio 5":    srv.PutTipoCambio("2026-11-21", "3.750", "3.760"),
		"PutTipoCambio 6":    srv.PutTipoCambio("2026-11-20", "-3.750", "3.760"),
		"DeleteTipoCambio":   srv.DeleteTipoCambio("2026-12-25"),
		"DeleteTipoCambio 2": srv.DeleteTipoCambio("ayer"),
		"PutKey":             srv.PutKey("", 1),
		"PutKey 2":           srv.PutKey("otra", -2),
	}
	for name, err := range refused {
		setter, _, _ := strings.Cut(name, " ")
		assert.ErrorContains(t, err, "mockserver: "+setter+": ", name)
	}
	assert.Len(t, f.errors, len(refused), "each fails the test too: %s", strings.Join(f.errors, "\n"))
}

func TestStart(t *testing.T) {
	srv, err := mockserver.Start(mockserver.WithAddr("127.0.0.1:0"))
	require.NoError(t, err)
	_, err = mockserver.Start(mockserver.WithAddr(strings.TrimPrefix(srv.URL, "http://")))
	assert.ErrorContains(t, err, "mockserver: listen tcp")
	require.NoError(t, srv.Close())
	require.NoError(t, srv.Close(), "twice is fine")

	everywhere, err := mockserver.Start(mockserver.WithAddr(":0"))
	require.NoError(t, err)
	assert.Regexp(t, `^http://127\.0\.0\.1:[1-9]`, everywhere.URL, "an address that can be dialled")
	require.NoError(t, everywhere.Close())

	_, err = mockserver.Start(mockserver.WithAddr(""))
	assert.Error(t, err)
	_, err = mockserver.Start(mockserver.WithRegistro(nil))
	assert.Error(t, err)
}

// slowRegistro answers when told to.
type slowRegistro struct {
	mockserver.RegistroEnMemoria
	asked, answer chan struct{}
}

func (r *slowRegistro) PorRUC(ctx context.Context, ruc string) (mockserver.Contribuyente, bool, error) {
	close(r.asked)
	select {
	case <-r.answer:
	case <-ctx.Done():
		return mockserver.Contribuyente{}, false, ctx.Err()
	}
	return mockserver.Contribuyente{RUC: ruc}, true, nil
}

func TestCloseWaitsForWhatIsInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		takes  time.Duration
		status int
	}{"half a second": {time.Second / 2, 200}, "for ever": {time.Hour, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registro := &slowRegistro{asked: make(chan struct{}), answer: make(chan struct{})}
				srv, api := start(t, mockserver.WithRegistro(registro))
				got := make(chan int, 1)
				go func() {
					req, _ := http.NewRequest(http.MethodGet, api.url+lookup, nil)
					req.Header.Set("X-API-KEY", api.key)
					resp, err := api.hc.Do(req)
					if err != nil {
						got <- 0
						return
					}
					_ = resp.Body.Close()
					got <- resp.StatusCode
				}()
				<-registro.asked
				time.AfterFunc(c.takes, func() { close(registro.answer) })
				began := time.Now()
				require.NoError(t, srv.Close())
				assert.LessOrEqual(t, time.Since(began), 1100*time.Millisecond)
				assert.Equal(t, c.status, <-got)
			})
		})
	}
}

func TestCloseDoesNotWaitForUnusedConnections(t *testing.T) {
	srv, err := mockserver.Start()
	require.NoError(t, err)
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	// A second connection that was answered proves that the first one was accepted.
	raw(t, srv, "GET / HTTP/1.1\r\nHost: mock\r\nConnection: close\r\n\r\n")
	began := time.Now()
	require.NoError(t, srv.Close())
	assert.Less(t, time.Since(began), 900*time.Millisecond)
}

func TestTransportSpeaksRealHTTP(t *testing.T) {
	_, api := start(t)
	var reused []bool
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { reused = append(reused, i.Reused) },
	})
	for range 3 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://cualquier.host.example/api/tipocambio", nil)
		require.NoError(t, err)
		resp, err := api.hc.Do(req)
		require.NoError(t, err)
		assert.Equal(t, "HTTP/1.1", resp.Proto)
		_, err = resp.Body.Read(make([]byte, 1<<10))
		_ = err
		require.NoError(t, resp.Body.Close())
	}
	assert.Equal(t, []bool{false, true, true}, reused, "keep-alive")
}

func TestTransportAfterClose(t *testing.T) {
	srv, api := start(t)
	require.Equal(t, 200, api.get(lookup).status)
	require.NoError(t, srv.Close())
	unused := mockserver.New(t, mockserver.WithoutSocket())
	require.NoError(t, unused.Close())
	for name, rt := range map[string]http.RoundTripper{
		"made before": api.hc.Transport, "made after": srv.Transport(), "the first": unused.Transport(),
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := (&http.Client{Transport: rt}).Get(srv.URL + lookup)
			if err == nil {
				_ = resp.Body.Close()
			}
			assert.ErrorIs(t, err, net.ErrClosed)
		})
	}
}

func TestTransportOfAServerWithASocket(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithQuota(10))
	assert.Equal(t, "9", remaining(plain(t, srv).get(lookup)))
	overSocket := api{t, srv.URL, srv.APIKey, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	assert.Equal(t, "8", remaining(overSocket.get(lookup)), "one server behind both")
}

// 100 servers in one process share nothing, while all are written to.
func TestServersShareNothing(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 100 {
		srv, api := start(t, mockserver.WithQuota(i+20))
		wg.Go(func() {
			name := fmt.Sprintf("SOLO DEL SERVIDOR %03d", i)
			assert.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20131312955", RazonSocial: name}))
			assert.NoError(t, srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: i + 1000, Codigo: "0"}))
			assert.NoError(t, srv.PutTipoCambio("2024-02-29", "3.750", fmt.Sprintf("4.%03d", i)))
			if i%2 == 0 {
				for range 3 {
					api.validar(cpe(t, "claveSol", `"mala"`))
				}
			}
			r := api.get(lookup)
			assert.Contains(t, r.body, name)
			used := 1 + 3*((i+1)%2)
			assert.Equal(t, fmt.Sprint(i+20-used), remaining(r))
			assert.Contains(t, api.get("/api/contribuyentes/search?razonSocial=solo+del+servidor").body, name)
			assert.Contains(t, api.get("/api/tipocambio?fecha=2024-02-29").body, fmt.Sprintf(`"venta":4.%03d`, i))
			v := api.validar(cpe(t, "numero", fmt.Sprint(i+1001)))
			if i%2 == 0 {
				v.isError(t, 401, wrongSOL)
			} else {
				assert.Contains(t, v.body, `"codigo":"98"`, "the receipt of the next server")
			}
		})
	}
	wg.Wait()
}

// Setters act while the server serves.
func TestSettersWhileServing(t *testing.T) {
	srv, api := start(t, mockserver.WithQuota(mockserver.Unlimited))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				assert.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: fmt.Sprintf("2000000%02d%02d", i, j), RazonSocial: "NUEVA SUNAT"}))
				assert.NoError(t, srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F002", Numero: j + 1, Codigo: "0"}))
				assert.NoError(t, srv.PutTipoCambio("2024-02-29", "3.750", "3.760"))
				assert.NoError(t, srv.PutKey(fmt.Sprint("k", i), j))
				assert.NoError(t, srv.PutUsuarioSOL(mockserver.SOL{RUC: "20100070970", Usuario: fmt.Sprint("USER", i), Clave: "x"}))
				srv.SetSUNATDown(j%2 == 0)
			}
		})
		wg.Go(func() {
			for range 10 {
				for _, call := range four(t, api) {
					assert.Contains(t, []int{200, 500}, call().status)
				}
			}
		})
	}
	wg.Wait()
	srv.SetSUNATDown(false)
	assert.Equal(t, 200, api.validar(cpe(t)).status)
}

func TestWithoutDefaultData(t *testing.T) {
	_, api := start(t, mockserver.WithoutDefaultData(), frozen(t, "2026-11-21T12:00:00-05:00"),
		mockserver.WithTipoCambio("2026-11-20", "3.750", "3.760"), mockserver.WithUsuariosSOL(mockserver.SOL{RUC: "20100053455", Usuario: "U", Clave: "c"}))
	api.get(lookup).isError(t, 404, "NOT_FOUND")
	assert.Equal(t, "[]\n", api.get("/api/contribuyentes/search?razonSocial=sunat").body)
	api.get("/api/tipocambio?fecha=2026-11-19").isError(t, 404, "NOT_FOUND")
	assert.Equal(t, 200, api.get("/api/tipocambio?fecha=2026-11-20").status)
	api.validar(cpe(t)).isError(t, 401, wrongSOL)
	r := api.validar(cpe(t, "rucSolicitante", `"20100053455"`, "usuarioSol", `"U"`, "claveSol", `"c"`))
	assert.Contains(t, r.body, `"codigo":"98"`)
}
