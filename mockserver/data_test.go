package mockserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const fixture = `{
  "contribuyentes": [
    {"ruc": "20999990097", "razonSocial": "PEÑA & HIJOS", "estado": "ACTIVO", "condicion": "HABIDO", "direccion": "-"}
  ],
  "comprobantes": [
    {"rucEmisor": "20999990097", "tipoComprobante": "01", "serie": "F001", "numero": 7, "codigo": "2"}
  ],
  "usuarios": [{"ruc": "20999990097", "usuario": "USUARIO9", "clave": "canario-4711"}],
  "tiposCambio": [{"fecha": "2026-11-20", "compra": 3.750, "venta": "3.760"}],
  "keys": [{"key": "clave-propia", "quota": 7}],
  "deleted": {"contribuyentes": ["20131312955"], "usuarios": [{"ruc": "20131312955", "usuario": "MIUSER01"}], "tiposCambio": ["2026-11-19"]}
}
`

func readData(t *testing.T, text string) mockserver.Data {
	t.Helper()
	d, err := mockserver.Control{}.ReadData(strings.NewReader(text), "estado.json")
	require.NoError(t, err)
	return d
}

// answers is what a server with the fixture says, byte by byte.
func answers(a api, t *testing.T) string {
	key := a.withKey("clave-propia")
	var b strings.Builder
	for _, r := range []reply{
		key.get("/api/contribuyentes/20999990097"), a.get(lookup), a.get("/api/contribuyentes/search?razonSocial=sunat"),
		a.get("/api/contribuyentes/search?razonSocial=hijos"), a.get("/api/tipocambio?fecha=2026-11-20"), a.get("/api/tipocambio?fecha=2026-11-19"),
		a.get("/api/tipocambio?fecha=2026-11-18"), a.validar(cpe(t)),
		a.validar(cpe(t, "rucEmisor", `"20999990097"`, "numero", "7", "rucSolicitante", `"20999990097"`, "usuarioSol", `"USUARIO9"`, "claveSol", `"canario-4711"`)),
	} {
		fmt.Fprintln(&b, r.status, remaining(r), r.body)
	}
	return b.String()
}

func TestDataFromEverywhereIsTheSame(t *testing.T) {
	data := readData(t, fixture)
	file := filepath.Join(t.TempDir(), "estado.json")
	require.NoError(t, os.WriteFile(file, []byte(fixture), 0o600))
	loaded, err := mockserver.LoadData(file)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(data, loaded))

	clock := frozen(t, "2026-11-20T18:00:00-05:00")
	_, option := start(t, clock, mockserver.WithData(data))
	want := answers(option, t)
	for _, seen := range []string{"PEÑA & HIJOS", `"compra":3.750,"venta":3.760`, "Anulado", " 6 {"} {
		assert.Contains(t, want, seen)
	}
	assert.Equal(t, 3, strings.Count(want, "\n404 ")+strings.Count(want, "\n401 "), "the deleted ones: %s", want)

	srv, put := start(t, clock)
	require.NoError(t, srv.Control().PutData(data))
	assert.Equal(t, want, answers(put, t))

	byHand, setters := start(t, clock)
	require.NoError(t, byHand.PutContribuyente(data.Contribuyentes...))
	require.NoError(t, byHand.PutComprobante(data.Comprobantes...))
	require.NoError(t, byHand.PutUsuarioSOL(data.Usuarios...))
	require.NoError(t, byHand.PutTipoCambio("2026-11-20", "3.750", "3.760"))
	require.NoError(t, byHand.PutKey("clave-propia", 7))
	require.NoError(t, byHand.DeleteContribuyente("20131312955"))
	require.NoError(t, byHand.DeleteUsuarioSOL("20131312955", "MIUSER01"))
	require.NoError(t, byHand.DeleteTipoCambio("2026-11-19"))
	exported := byHand.Data()
	assert.Equal(t, want, answers(setters, t))

	// What was exported answers the same, and is exported the same again.
	saved := filepath.Join(t.TempDir(), "guardado.json")
	require.NoError(t, exported.Save(saved))
	info, err := os.Stat(saved)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	again, err := mockserver.LoadData(saved)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(exported, again))
	third, api := start(t, clock, mockserver.WithData(again))
	assert.Equal(t, want, answers(api, t))
	assert.Empty(t, cmp.Diff(exported, third.Data()))
}

func TestDataOfAnUntouchedServerIsItsKey(t *testing.T) {
	srv, _ := start(t)
	assert.Empty(t, cmp.Diff(mockserver.Data{Keys: []mockserver.Key{{Key: mockserver.DefaultAPIKey, Quota: 1000}}}, srv.Data()))
	bare, api := start(t, mockserver.WithData(mockserver.Data{WithoutDefaults: true}))
	assert.True(t, bare.Data().WithoutDefaults)
	api.get(lookup).isError(t, 404, "NOT_FOUND")
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20000000001"}))
	require.NoError(t, srv.Control().PutData(mockserver.Data{WithoutDefaults: true}))
	assert.Empty(t, cmp.Diff(bare.Data(), srv.Data()), "all was taken away")
}

func TestDataPrintsWithoutSecrets(t *testing.T) {
	d := readData(t, fixture)
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(h).Info("estado", "data", d, "key", d.Keys[0], "user", d.Usuarios[0])
	}
	shown := log.String()
	for _, v := range []any{d, &d, d.Keys, d.Usuarios, []any{d}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			shown += fmt.Sprintf(verb, v)
		}
	}
	assert.NotContains(t, shown, "canario-4711")
	assert.NotContains(t, shown, "clave-propia")
	assert.Equal(t, "Data{1 taxpayers, 1 receipts, 1 SOL users, 1 rates, 1 keys}", fmt.Sprintf("%#v", d))
	srv, _ := start(t, mockserver.WithData(d))
	assert.NotContains(t, fmt.Sprintf("%+v %#v", srv, srv), "canario-4711")
	text, err := json.Marshal(d)
	require.NoError(t, err)
	assert.Contains(t, string(text), "canario-4711", "the stored form has it: a fixture without it would be useless")
}

// A server that is started with what another one held, or that takes it while it runs, holds the same.
func TestDataRoundTrip(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *mockserver.Server{
		"untouched": func(t *testing.T) *mockserver.Server { srv, _ := start(t); return srv },
		"another key": func(t *testing.T) *mockserver.Server {
			srv, _ := start(t, mockserver.WithAPIKey("clave-mia"), mockserver.WithQuota(7))
			return srv
		},
		"another key beside it": func(t *testing.T) *mockserver.Server {
			srv, _ := start(t, mockserver.WithKey("a-otra", 3))
			return srv
		},
		"the default key deleted": func(t *testing.T) *mockserver.Server {
			srv, _ := start(t, mockserver.WithKey("clave-b", 3), mockserver.WithKey("clave-a", 2))
			require.NoError(t, srv.DeleteKey(mockserver.DefaultAPIKey))
			return srv
		},
		"no key at all": func(t *testing.T) *mockserver.Server {
			srv, _ := start(t)
			require.NoError(t, srv.DeleteKey(mockserver.DefaultAPIKey))
			return srv
		},
		"without the default data": func(t *testing.T) *mockserver.Server {
			srv, _ := start(t, mockserver.WithoutDefaultData(), mockserver.WithAPIKey("clave-mia"))
			require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20000000001"}))
			return srv
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := make(t)
			want := first.Data()
			var text bytes.Buffer
			require.NoError(t, want.Write(&text))
			read := readData(t, text.String())
			assert.Empty(t, cmp.Diff(want, read))

			second, api := start(t, mockserver.WithData(read))
			assert.Empty(t, cmp.Diff(want, second.Data()))
			status := 200
			if len(want.Keys) == 0 {
				status = 401
			} else if want.WithoutDefaults {
				status = 404
			}
			assert.Equal(t, status, api.get(lookup).status, "with the server's own key, %s", second.APIKey)
			require.NoError(t, second.Reset(mockserver.PartData))
			assert.Empty(t, cmp.Diff(want, second.Data()), "after a reset too")

			running, _ := start(t)
			require.NoError(t, running.Control().PutData(read))
			assert.Empty(t, cmp.Diff(want, running.Data()))
		})
	}
	t.Run("a key that was asked for stays", func(t *testing.T) {
		gone := mockserver.Data{Deleted: mockserver.Deleted{DefaultKey: true}, Keys: []mockserver.Key{{Key: "clave-a", Quota: 1}}}
		srv, api := start(t, mockserver.WithAPIKey(mockserver.DefaultAPIKey), mockserver.WithData(gone))
		assert.Equal(t, 200, api.get(lookup).status)
		require.NoError(t, srv.Control().PutData(gone))
		assert.Equal(t, 200, api.get(lookup).status)
		srv, _ = start(t, mockserver.WithAPIKey("clave-mia"), mockserver.WithData(gone))
		assert.Equal(t, "clave-mia", srv.APIKey)
	})
}

// Taking the default data away takes nothing else that the server was started with or given.
func TestWithoutDefaultsKeepsTheRest(t *testing.T) {
	var registro mockserver.RegistroEnMemoria
	require.NoError(t, registro.Put(mockserver.Contribuyente{RUC: "20000000001", RazonSocial: "DEL REGISTRO"}))
	srv, api := start(t, mockserver.WithRegistro(&registro))
	srv.SetSUNATDown(true)
	require.NoError(t, srv.DeleteContribuyente("20000000001"))
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20000000002"}))
	require.NoError(t, srv.Control().PutData(mockserver.Data{WithoutDefaults: true, Usuarios: []mockserver.SOL{{RUC: "20000000003", Usuario: "USUARIO3", Clave: "clave-sol"}}}))
	assert.Equal(t, 200, api.get("/api/contribuyentes/20000000001").status, "the Registro answers again, without what lay over it")
	assert.Equal(t, 404, api.get("/api/contribuyentes/20000000002").status)
	assert.Equal(t, []string{"20000000001"}, rucs(api.get("/api/contribuyentes/search?razonSocial=registro").body))
	assert.True(t, srv.Control().SUNATDown())
	api.validar(cpe(t)).isError(t, 500, "SUNAT_UNAVAILABLE")
	api.get("/api/tipocambio?fecha=2024-02-29").isError(t, 404, "NOT_FOUND")
	srv.SetSUNATDown(false)
	api.validar(cpe(t)).isError(t, 401, "INVALID_SOL_CREDENTIALS")
}

// The server's own key is the own one of a server that is started with its data.
func TestTheOwnKeyStaysTheOwnKey(t *testing.T) {
	for name, c := range map[string]struct {
		opts   []mockserver.Option
		change func(*testing.T, *mockserver.Server)
		own    string
	}{
		"not the first in order": {[]mockserver.Option{mockserver.WithAPIKey("zeta-clave"), mockserver.WithKey("alfa-clave", 0)}, nil, "zeta-clave"},
		"beside the default one": {[]mockserver.Option{mockserver.WithAPIKey("zeta-clave"), mockserver.WithKey(mockserver.DefaultAPIKey, 0)}, nil, "zeta-clave"},
		"the default one":        {[]mockserver.Option{mockserver.WithKey("alfa-clave", 0)}, nil, mockserver.DefaultAPIKey},
		"deleted, and put again": {[]mockserver.Option{mockserver.WithKey("alfa-clave", 0)}, again(mockserver.DefaultAPIKey), mockserver.DefaultAPIKey},
		"another, and put again": {[]mockserver.Option{mockserver.WithAPIKey("zeta-clave"), mockserver.WithKey("alfa-clave", 0)}, again("zeta-clave"), "zeta-clave"},
	} {
		t.Run(name, func(t *testing.T) {
			first, _ := start(t, c.opts...)
			if c.change != nil {
				c.change(t, first)
			}
			want := first.Data()
			second, api := start(t, mockserver.WithData(want))
			assert.Equal(t, c.own, second.APIKey)
			assert.Equal(t, 200, api.get(lookup).status)
			assert.Empty(t, cmp.Diff(want, second.Data()))
		})
	}
}

func again(key string) func(*testing.T, *mockserver.Server) {
	return func(t *testing.T, s *mockserver.Server) {
		require.NoError(t, s.DeleteKey(key))
		require.NoError(t, s.PutKey(key, 9))
	}
}

// The default key goes by data as it goes by DeleteKey: with its faults and its journal. Where the data put it
// back, it stays, with what it has used.
func TestTheDefaultKeyGoesByData(t *testing.T) {
	srv, api := start(t)
	fault := srv.Fault(mockserver.Match{Key: srv.APIKey}, mockserver.OK)
	api.get(lookup)
	back := mockserver.Data{Deleted: mockserver.Deleted{DefaultKey: true}, Keys: []mockserver.Key{{Key: srv.APIKey, Quota: 7}}}
	require.NoError(t, srv.Control().PutData(back))
	q, _ := srv.Quota(srv.APIKey)
	assert.Equal(t, 7, q.Limit)
	assert.Equal(t, 1, q.Used)
	assert.Len(t, srv.Requests(), 1)
	back.Keys = nil
	require.NoError(t, srv.Control().PutData(back))
	assert.Empty(t, srv.Requests())
	assert.Empty(t, srv.Control().Faults(""))
	assert.False(t, fault.Status().Active)
	api.get(lookup).isError(t, 401, "UNAUTHORIZED")
}

// A call meanwhile sees what there was or what there is, never that it is gone.
func TestWhatIsDeletedAndPutIsReplacedInOneStep(t *testing.T) {
	srv, _ := start(t, mockserver.WithQuota(mockserver.Unlimited))
	body := cpe(t)
	data := mockserver.Data{
		Deleted: mockserver.Deleted{
			TiposCambio: []string{"2024-02-29"}, Usuarios: []mockserver.UsuarioID{{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL}},
			Contribuyentes: []string{lookedUp}, DefaultKey: true,
		},
		TiposCambio:    []mockserver.TipoCambio{{Fecha: "2024-02-29", Compra: "3.1", Venta: "3.2"}},
		Usuarios:       []mockserver.SOL{mockserver.UsuarioSecundario(mockserver.RUCSolicitante)},
		Contribuyentes: []mockserver.Contribuyente{mockserver.Empresa(lookedUp)},
		Keys:           []mockserver.Key{{Key: mockserver.DefaultAPIKey, Quota: mockserver.Unlimited}},
	}
	stop := make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				assert.NoError(t, srv.Control().PutData(data))
			}
		}
	})
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 500 {
				for _, req := range []*http.Request{
					httptest.NewRequest(http.MethodGet, "/api/tipocambio?fecha=2024-02-29", nil), httptest.NewRequest(http.MethodGet, lookup, nil),
					httptest.NewRequest(http.MethodPost, "/api/cpe/validar", strings.NewReader(body)),
				} {
					req.Header.Set("X-API-KEY", srv.APIKey)
					req.Header.Set("Content-Type", "application/json")
					rec := httptest.NewRecorder()
					srv.ServeHTTP(rec, req)
					assert.Equal(t, 200, rec.Code, req.URL)
				}
			}
		})
	}
	callers.Wait()
	close(stop)
	wg.Wait()
}
