package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// real is a service that answers what a test says, and notes what it was asked.
type real struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // path, query and key
}

func realServer(t *testing.T, answers map[string]func(w http.ResponseWriter)) *real {
	r := &real{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, q.Method+" "+q.URL.RequestURI()+" "+q.Header.Get("X-API-KEY"))
		r.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if q.Header.Get("X-API-KEY") != "clave-real" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"error": "quién es", "code": "DESCONOCIDA"}`))
			return
		}
		answer, ok := answers[q.URL.RequestURI()]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error": "no hay", "code": "NOT_FOUND"}`))
			return
		}
		answer(w)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *real) since() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = nil
	return asked
}

func body(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = w.Write([]byte(text)) }
}

const (
	realTaxpayer = `{"ruc": "20700000001", "razonSocial": "REAL & CÍA S.A.C.", "estado": "ACTIVO", "condicion": "HABIDO", "direccion": "", "ubigeo": "150101",
		"departamento": "LIMA", "provincia": "LIMA", "distrito": "LIMA", "tipo": "SOCIEDAD", "actividadEconomica": "", "fechaInscripcion": "2001-02-03", "fechaInicioActividades": "", "nuevo": 1}`
	lookUp = "/api/contribuyentes/"
	search = "/api/contribuyentes/search?limit=10&razonSocial=hallada+s.a."
	rate   = "/api/tipocambio?fecha=2026-11-19"
)

func TestUpstreamIsAskedAndRecorded(t *testing.T) {
	var elsewhere *real
	service := realServer(t, map[string]func(http.ResponseWriter){
		lookUp + "20131312955": body(strings.NewReplacer("20700000001", "20131312955", "REAL & CÍA", "NO ES ESTA").Replace(realTaxpayer)),
		lookUp + "20700000001": func(w http.ResponseWriter) {
			w.Header().Set("X-RateLimit-Remaining", "41")
			w.Header().Set("Location", "http://otro.invalid")
			body(realTaxpayer)(w)
		},
		lookUp + "20700000002": body(`{"ruc": "20700000009", "razonSocial": "OTRO"}`),
		lookUp + "20700000003": func(w http.ResponseWriter) {
			w.Header().Set("Location", elsewhere.URL+lookUp+"20700000003")
			w.WriteHeader(http.StatusFound)
		},
		lookUp + "20700000004": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusServiceUnavailable)
			body("<html>cerrado</html>")(w)
		},
		lookUp + "20700000005": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
			body(`{"error": "cuota", "code": "QUOTA"}`)(w)
		},
		lookUp + "20700000006": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			body(`{"ruc": `)(w)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		lookUp + "20700000007": body(`{"ruc": "20700000007", "razonSocial": "CON NULL", "estado": "ACTIVO", "condicion": "HABIDO", "direccion": 5}`),
		search:                 body(`[{"ruc": "20700000008", "razonSocial": "HALLADA S.A.", "estado": "BAJA DE OFICIO", "condicion": "NO HABIDO"}]`),
		rate:                   body(`{"compra": 3.500, "venta": 3.510, "moneda": "USD", "fecha": "2026-11-19", "origen": "SBS"}`),
	})
	elsewhere = realServer(t, nil)
	file := filepath.Join(t.TempDir(), "grabado.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"comprobantes": [{"rucEmisor": "20700000001", "tipoComprobante": "01", "serie": "F001", "numero": 1, "codigo": "0"}]}`), 0o600))
	flags := []string{"-addr", "127.0.0.1:0", "-now", "2026-11-20T12:00:00-05:00", "-frozen", "-log", "json"}
	p := startProgram(t, nil, append(flags, "-upstream", service.URL+"/", "-record", file)...)
	send := func(method, path, key, body string) (int, string, http.Header) {
		req, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Close = true
		req.Header.Set("X-API-KEY", key)
		req.Header.Set("Content-Type", "application/json")
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := client.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text), resp.Header
	}
	upstream := func() string {
		_, text := ask(t, "GET", p.url+"/_mock/requests?limit=1", "")
		var journal struct {
			Requests []struct{ Upstream, Key string }
		}
		require.NoError(t, json.Unmarshal([]byte(text), &journal))
		require.Len(t, journal.Requests, 1)
		assert.Regexp(t, `^k_[0-9a-f]{8}$`, journal.Requests[0].Key)
		return journal.Requests[0].Upstream
	}
	first := true
	for _, c := range []struct {
		path, key, upstream string
		status              int
		says                string
		asked               bool
	}{
		{lookUp + "20131312955", "clave-de-prueba", "", 200, "SUPERINTENDENCIA", false},
		{lookUp + "20131312955", "clave-mala", "asked", 403, "DESCONOCIDA", true},
		{lookUp + "20700000001", "clave-mala", "asked", 403, "DESCONOCIDA", true},
		{lookUp + "20131312955", "clave-real", "asked", 200, "SUPERINTENDENCIA", true},
		{lookUp + "20700000001", "clave-de-prueba", "asked", 403, "DESCONOCIDA", true},
		{lookUp + "20700000001", "clave-real", "asked", 200, realTaxpayer, true},
		{lookUp + "20700000001", "clave-real", "", 200, `"razonSocial":"REAL & CÍA S.A.C.","estado":"ACTIVO","condicion":"HABIDO","direccion":"","ubigeo":"150101"`, false},
		{lookUp + "20700000001", "clave-de-prueba", "", 200, `"fechaInscripcion":"2001-02-03","fechaInicioActividades":"-"`, false},
		{lookUp + "20700000001", "clave-mala", "asked", 403, "DESCONOCIDA", true},
		{lookUp + "20700000002", "clave-real", "strange", 200, "OTRO", true},
		{lookUp + "20700000002", "clave-real", "strange", 200, "OTRO", true},
		{lookUp + "20700000003", "clave-real", "strange", 302, "", true},
		{lookUp + "20700000004", "clave-real", "strange", 503, "<html>cerrado</html>", true},
		{lookUp + "20700000005", "clave-real", "asked", 429, `"QUOTA"`, true},
		{lookUp + "20700000006", "clave-real", "asked", 502, `"error":"el servicio real no respondió: su respuesta se cortó","code":"MOCK_UPSTREAM"`, true},
		{lookUp + "20700000007", "clave-real", "strange", 200, "CON NULL", true},
		{lookUp + "20799999999", "clave-real", "asked", 404, "NOT_FOUND", true},
		{search, "clave-real", "asked", 200, "HALLADA S.A.", true},
		{search, "clave-real", "", 200, `[{"ruc":"20700000008","razonSocial":"HALLADA S.A.","estado":"BAJA DE OFICIO","condicion":"NO HABIDO"}]`, false},
		{lookUp + "20700000008", "clave-real", "asked", 404, "NOT_FOUND", true},
		{rate, "clave-real", "asked", 200, `3.510`, true},
		{rate, "clave-real", "", 200, `"compra":3.500,"venta":3.510`, false},
		{"/api/tipocambio?fecha=2026-11-21", "clave-real", "", 404, "NOT_FOUND", false},
	} {
		name := c.key + " " + c.path
		status, text, header := send("GET", c.path, c.key, "")
		assert.Equal(t, c.status, status, name)
		assert.Contains(t, text, c.says, name)
		assert.Equal(t, c.upstream, upstream(), name)
		asked := service.since()
		if c.asked {
			assert.Equal(t, []string{"GET " + c.path + " " + c.key}, asked)
		} else {
			assert.Empty(t, asked, name)
		}
		assert.Empty(t, header.Get("Location"), "nobody is sent elsewhere with a key")
		switch {
		case c.status == 429:
			assert.Equal(t, "30", header.Get("Retry-After"))
		case text == realTaxpayer && first:
			assert.Equal(t, "41", header.Get("X-RateLimit-Remaining"))
			first = false
		}
	}
	assert.Empty(t, elsewhere.since())
	const receipt = `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123, "rucSolicitante": "20131312955", "usuarioSol": "MIUSER01", "claveSol": "clave-mock-1"}`
	for key, want := range map[string]int{"clave-real": 200, "clave-mala": 401} {
		status, text, _ := send("POST", "/api/cpe/validar", key, receipt)
		assert.Equal(t, want, status, text)
	}
	assert.Empty(t, service.since(), "no validation is passed on")
	service.Close()
	status, text, _ := send("GET", lookUp+"20788888888", "clave-real", "")
	assert.Equal(t, 502, status)
	assert.Contains(t, text, "el servicio real no respondió: ")
	assert.Contains(t, text, "connection refused")

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait())
	assert.NotContains(t, p.stderr.String(), "clave-real")
	assert.Contains(t, p.stderr.String(), `"upstream":"strange"`)
	recorded := string(readFile(t, file))
	for _, secret := range []string{"clave-real", "clave-mala", "clave-de-prueba", "keys"} {
		assert.NotContains(t, recorded, secret)
	}
	assert.Contains(t, recorded, "REAL & CÍA S.A.C.")
	assert.Contains(t, recorded, `"numero": 1,`, "what was there stays")
	assert.NotContains(t, recorded, "OTRO", "what is strange is not kept")
	assert.NotContains(t, recorded, "20131312955", "nor what it had")

	// A fixture for -data, with which nobody is asked.
	p = startProgram(t, nil, append(flags, "-data", file)...)
	for path, says := range map[string]string{
		lookUp + "20700000001": `"tipo":"SOCIEDAD"`, search: "BAJA DE OFICIO", rate: `"compra":3.500`, lookUp + "20700000008": `"ubigeo":"-"`,
	} {
		status, text, _ := send("GET", path, "clave-de-prueba", "")
		assert.Equal(t, 200, status, path)
		assert.Contains(t, text, says)
	}
	// Asked once more with the same file, only what it lacks is.
	service = realServer(t, map[string]func(http.ResponseWriter){lookUp + "20700000008": body(strings.ReplaceAll(realTaxpayer, "20700000001", "20700000008"))})
	t.Setenv("FISCOPE_MOCK_API_KEY", "clave-real")
	_, stderr, exit := runProgram(t, nil, "exec", "-upstream", service.URL, "-record", file, "--", "sh", "-c",
		`for ruc in 20700000001 20700000008 20700000008; do curl -s -H "X-API-KEY: $FISCOPE_API_KEY" "$FISCOPE_BASE_URL/api/contribuyentes/$ruc"; done`)
	assert.Equal(t, 0, exit, stderr)
	assert.Equal(t, []string{"GET " + lookUp + "20700000008 clave-real"}, service.since())
	d, err := mockserver.LoadData(file)
	require.NoError(t, err)
	require.Len(t, d.Contribuyentes, 2)
	assert.Equal(t, []string{"REAL & CÍA S.A.C.", "SOCIEDAD"}, []string{d.Contribuyentes[1].RazonSocial, d.Contribuyentes[1].Tipo})
	assert.Len(t, d.TiposCambio, 1)
	assert.Len(t, d.Comprobantes, 1)
	assert.Equal(t, []string{"grabado.json"}, filesIn(t, filepath.Dir(file)))
}

func TestUpstreamRefuses(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct{ args, says string }{
		"plain http":          {"-upstream http://api.ejemplo.pe", "-upstream: se espera la URL de un servicio con https"},
		"no URL":              {"-upstream api.ejemplo.pe", "-upstream: se espera la URL"},
		"record alone":        {"-record x.json", "-record no sirve sin -upstream"},
		"no folder":           {"-upstream http://localhost:1 -record " + filepath.Join(folder, "no", "x.json"), "-record: "},
		"no data":             {"-upstream http://localhost:1 -record " + writeFile(t, folder, "mal.json", "hola"), "mal.json:1: "},
		"a folder":            {"-upstream http://localhost:1 -record " + folder, "no es un archivo"},
		"a URL with a user":   {"-upstream https://u:secreta@api.ejemplo.pe", "se espera la URL"},
		"a URL with a query ": {"-upstream https://api.ejemplo.pe?a=1", "se espera la URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, status := runMain(t, nil, append(strings.Fields(c.args), "-addr", "127.0.0.1:0")...)
			assert.Equal(t, 2, status)
			assert.Contains(t, stderr, c.says)
		})
	}
	assert.Equal(t, []string{"mal.json"}, filesIn(t, folder))
}

// What was answered is in the file within a minute, and an unchanged one is not written again.
func TestARecordingIsWrittenEveryMinute(t *testing.T) {
	file := filepath.Join(t.TempDir(), "grabado.json")
	synctest.Test(t, func(t *testing.T) {
		r, err := readRecording(file)
		require.NoError(t, err)
		var log buffer
		done := make(chan struct{})
		go func() {
			r.follow(t.Context(), newLogger(logText, &log))
			close(done)
		}()
		t.Cleanup(func() { <-done })
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.NoFileExists(t, file, "nothing was answered")
		r.add(mockserver.Data{TiposCambio: []mockserver.TipoCambio{{Fecha: "2026-11-19", Compra: "3.500", Venta: "3.510"}}})
		time.Sleep(recordEvery)
		synctest.Wait()
		assert.Contains(t, string(readFile(t, file)), "3.500")
		require.NoError(t, os.Remove(file))
		time.Sleep(recordEvery)
		synctest.Wait()
		assert.NoFileExists(t, file)
		r.file = filepath.Join(file, "no")
		r.add(mockserver.Data{TiposCambio: []mockserver.TipoCambio{{Fecha: "2026-11-18", Compra: "3.500", Venta: "3.510"}}})
		time.Sleep(recordEvery)
		synctest.Wait()
		assert.Contains(t, log.String(), "aviso: no se pudo escribir -record")
	})
}

// A service whose clock is another one is not strange for it.
func TestUpstreamOfAnotherTime(t *testing.T) {
	real := mockserver.New(t, mockserver.WithNow(time.Date(2020, time.March, 2, 12, 0, 0, 0, time.UTC)))
	service := newRealService(real.URL, func(mockserver.Data) {})
	defer service.close()
	answer := service.ask(t.Context(), mockserver.UpstreamQuery{Op: mockserver.OpConsultar, Key: real.APIKey, RUC: "20131312955"})
	assert.False(t, answer.Strange)
	assert.Len(t, answer.Keep.Contribuyentes, 1)
	assert.NotEmpty(t, answer.Header["X-Ratelimit-Reset"], "it is passed on")
}
