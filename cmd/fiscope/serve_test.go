package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/conformance"
	"github.com/fiscope/fiscope/internal/padrongen"
	"github.com/fiscope/fiscope/internal/testservice"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/padron"
)

const lookupPath = "/api/contribuyentes/20131312955"

// serving is a running "fiscope serve".
type serving struct {
	url    string // the first line of stdout
	stdout *bufio.Scanner
	stderr *testservice.Output
	end    context.CancelFunc
	status chan int
}

func startServe(t *testing.T, args ...string) *serving {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	out, in := io.Pipe()
	s := &serving{stdout: bufio.NewScanner(out), stderr: new(testservice.Output), end: end, status: make(chan int, 1)}
	go func() {
		s.status <- run(ctx, append([]string{"serve", "-addr", "127.0.0.1:0"}, args...), in, s.stderr)
		_ = in.Close()
	}()
	t.Cleanup(func() { s.stop(t) })
	require.True(t, s.stdout.Scan(), s.stderr)
	s.url = s.stdout.Text()
	return s
}

// stop is a SIGTERM.
func (s *serving) stop(t *testing.T) {
	t.Helper()
	s.end()
	for s.stdout.Scan() { // what nobody read
	}
	status := <-s.status
	assert.Zero(t, status, s.stderr)
	s.status <- status
	for _, secret := range []string{secretKey, secretClave, mockserver.DefaultAPIKey, mockserver.ClaveSOL, appKey} {
		assert.NotContains(t, s.stderr.String(), secret)
	}
}

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// get returns the status, the header and the body of an answer.
func get(t *testing.T, url, key string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	req.Header.Set("X-API-KEY", key)
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, string(body)
}

const appKey = "clave-de-la-tienda-1"

// The suite of the contract passes, without a cache: a cached lookup costs no query.
func TestServeKeepsTheContract(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	s := startServe(t, "-sin-cache", "-log", "off")
	conformance.Run(t, conformance.Target{BaseURL: s.url, APIKey: secretKey, CPE: &conformance.CPE{
		Comprobantes: []conformance.Comprobante{
			{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 123, Codigo: "0"},
			{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 124, Codigo: "2"},
			{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 125, Codigo: "4"},
			{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 126, Codigo: "98"},
			{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 127, Codigo: "99"},
			{RUCEmisor: "20100070970", Tipo: "03", Serie: "B001", Numero: 4567, Codigo: "0"},
			{RUCEmisor: "20100070970", Tipo: "07", Serie: "F001", Numero: 15, Codigo: "0"},
			{RUCEmisor: "20331898008", Tipo: "08", Serie: "FND1", Numero: 8, Codigo: "0"},
		},
		Usuario: conformance.UsuarioSOL{RUC: mockserver.RUCSolicitante, Usuario: "SECUND01", Clave: secretClave},
	}, WrongClave: true})
	s.stop(t)
	assert.Empty(t, s.stderr.String(), "-log off")
}

// What was answered and refused outlives a restart.
func TestServeRemembers(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	t.Setenv("FISCOPE_SOL_CLAVE", "otra")
	for _, source := range []string{"service", "cache"} {
		s := startServe(t, "-estado", "estado")
		status, header, _ := get(t, s.url+lookupPath, secretKey)
		assert.Equal(t, 200, status)
		assert.Equal(t, source, header.Get("Fiscope-Source"))
		resp, err := client.Post(s.url+"/api/cpe/validar", "application/json", nil)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, 401, resp.StatusCode, "no key")
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/cpe/validar",
			strings.NewReader(`{"rucEmisor":"20100070970","tipoComprobante":"01","serie":"F001","numero":123}`))
		require.NoError(t, err)
		req.Header = http.Header{"X-Api-Key": {secretKey}, "Content-Type": {"application/json"}, "X-Request-Id": {"pedido-7"}}
		resp, err = client.Do(req)
		require.NoError(t, err)
		body, _ := io.ReadAll(resp.Body)
		require.NoError(t, resp.Body.Close())
		assert.Contains(t, string(body), "INVALID_SOL_CREDENTIALS")
		s.stop(t)
		assert.Regexp(t, `app=local op=consultar ruc=20…955 status=200 code="" source=`+source+` ms=\d+ request=""\n`, s.stderr)
		assert.Regexp(t, `app=local op=validar ruc=20…970 status=401 code=INVALID_SOL_CREDENTIALS source="" ms=\d+ request=pedido-7\n`, s.stderr)
	}
	srv.AssertSpent(t, mockserver.Filter{}, 2)
	srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, "SECUND01", 1)
}

// The keys are read again when their file changes; a wrong one changes nothing.
func TestServeReadsItsKeysAgain(t *testing.T) {
	environment(t, mockserver.New(t))
	write(t, "claves", "\ufeff# nuestras\r\n\r\ntienda "+appKey+" reserva=10 # la caja\r\n")
	s := startServe(t, "-claves", "claves", "-log", "json")
	admits := func(key string) bool {
		status, _, _ := get(t, s.url+lookupPath, key)
		return status == 200
	}
	assert.True(t, admits(appKey))
	assert.False(t, admits(secretKey), "the service's own")
	write(t, "claves", "tienda "+appKey+"\notra clave-de-la-otra-1\n")
	require.Eventually(t, func() bool { return admits("clave-de-la-otra-1") }, 5*time.Second, 50*time.Millisecond)
	write(t, "claves", "tienda corta\n")
	require.Eventually(t, func() bool { return strings.Contains(s.stderr.String(), "claves, línea 1: la clave tiene menos") }, 5*time.Second, 50*time.Millisecond)
	require.NoError(t, os.Remove("claves"))
	require.Eventually(t, func() bool { return strings.Contains(s.stderr.String(), "no such file") }, 5*time.Second, 50*time.Millisecond)
	assert.True(t, admits(appKey))
}

// Without a provider the registry answers, to applications of its own keys alone.
func TestServeFromTheRegistry(t *testing.T) {
	environment(t, nil)
	t.Setenv("FISCOPE_API_KEY", "")
	var rows bytes.Buffer
	_, err := padrongen.Generate(&rows, 500, 1)
	require.NoError(t, err)
	write(t, "padron.txt", rows.String())
	_, err = padron.Import(t.Context(), "padron.txt", "padron.idx", padron.ImportOptions{})
	require.NoError(t, err)
	_, stderr, status := execute(t, "serve", "-addr", "127.0.0.1:0", "-padron", "padron.idx")
	assert.Equal(t, int(wrongUse), status)
	assert.Contains(t, stderr, "sin FISCOPE_BASE_URL hace falta -claves")
	write(t, "claves", "tienda "+appKey)
	s := startServe(t, "-padron", "padron.idx", "-claves", "claves")
	ruc := regexp.MustCompile(`(?m)^(20\d{9})\|`).FindStringSubmatch(rows.String())[1]
	code, header, body := get(t, s.url+"/api/contribuyentes/"+ruc, appKey)
	assert.Equal(t, 200, code, body)
	assert.Equal(t, "registry", header.Get("Fiscope-Source"))
	assert.NotEmpty(t, header.Get("Age"))
	code, _, body = get(t, s.url+"/api/tipocambio", appKey)
	assert.Equal(t, 503, code)
	assert.Contains(t, body, "NO_PROVIDER")
}

func TestServeOverTLSWithMetrics(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	cert, key := selfSigned(t)
	s := startServe(t, "-tls-cert", cert, "-tls-key", key, "-metricas", "127.0.0.1:0")
	require.True(t, strings.HasPrefix(s.url, "https://127.0.0.1:"), s.url)
	require.True(t, s.stdout.Scan())
	metrics := s.stdout.Text() + "/metrics"
	for range 2 {
		status, _, _ := get(t, s.url+lookupPath, secretKey)
		assert.Equal(t, 200, status)
	}
	get(t, s.url+lookupPath, "otra")
	status, header, body := get(t, metrics, "")
	assert.Equal(t, 200, status)
	assert.Contains(t, header.Get("Content-Type"), "text/plain")
	for _, line := range []string{
		`fiscope_calls_total{app="",code="UNAUTHORIZED",op="",source=""} 1`,
		`fiscope_calls_total{app="local",code="",op="consultar",source="cache"} 1`,
		`fiscope_calls_total{app="local",code="",op="consultar",source="service"} 1`,
		`fiscope_call_duration_seconds_count{op="consultar"} 2`,
		"fiscope_queries_sent_total 1", "fiscope_quota_remaining 999",
	} {
		assert.Contains(t, body, line+"\n")
	}
}

// At the end calls under way finish. What takes longer is answered 503.
func TestServeEnds(t *testing.T) {
	for name, c := range map[string]struct {
		drain  time.Duration
		status int
	}{"a call finishes": {time.Minute, 200}, "a call is cut": {10 * time.Millisecond, 503}} {
		t.Run(name, func(t *testing.T) {
			before := drain
			drain = c.drain
			defer func() { drain = before }()
			srv := mockserver.New(t)
			environment(t, srv)
			held := srv.Fault(mockserver.Match{Times: 1}, mockserver.Hold())
			defer held.Release()
			s := startServe(t)
			got := make(chan int, 1)
			go func() {
				req, _ := http.NewRequest(http.MethodGet, s.url+lookupPath, nil)
				req.Header.Set("X-API-KEY", secretKey)
				resp, err := client.Do(req)
				if err != nil {
					got <- 0
					return
				}
				got <- resp.StatusCode
				_ = resp.Body.Close()
			}()
			_, err := srv.WaitRequests(t.Context(), mockserver.Filter{}, 1)
			require.NoError(t, err)
			s.end()
			if c.status == 200 {
				require.Eventually(t, func() bool {
					conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
					if err == nil {
						_ = conn.Close()
					}
					return err != nil
				}, 5*time.Second, time.Millisecond)
				held.Release()
			}
			assert.Equal(t, c.status, <-got)
			held.Release()
			s.stop(t)
		})
	}
}

// selfSigned writes the certificate of a test server of net/http, and its key.
func selfSigned(t *testing.T) (cert, key string) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	of := server.TLS.Certificates[0]
	der, err := x509.MarshalPKCS8PrivateKey(of.PrivateKey)
	require.NoError(t, err)
	write(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: of.Certificate[0]})))
	write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	return "cert.pem", "key.pem"
}

func TestServeThatDoesNotStart(t *testing.T) {
	environment(t, nil)
	t.Setenv("FISCOPE_BASE_URL", "http://127.0.0.1:1")
	write(t, "claves", "tienda "+appKey+"\n")
	write(t, "sin", "# nada\n\n")
	write(t, "corta", "tienda "+appKey+"\n\notra "+appKey[:15]+"\n")
	write(t, "nombre", "tienda "+appKey+"\ntienda clave-de-la-otra-1\n")
	write(t, "clave", "tienda "+appKey+"\notra "+appKey+"\n")
	write(t, "forma", appKey+"\n")
	write(t, "latin1", "pe\xf1a "+appKey+"\n")
	write(t, "reserva", "tienda "+appKey+" reserva=-1\n")
	write(t, "propia", "tienda "+strings.Repeat(secretKey, 2)+"\n")
	busy := httptest.NewServer(http.NotFoundHandler())
	defer busy.Close()
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"open to the network":   {[]string{"-addr", "0.0.0.0:0"}, "sin -claves, -addr debe ser de esta máquina"},
		"every interface":       {[]string{"-addr", ":0"}, "sin -claves, -addr debe ser de esta máquina"},
		"a name":                {[]string{"-addr", "tienda.pe:0"}, "sin -claves, -addr debe ser de esta máquina"},
		"a busy address":        {[]string{"-addr", strings.TrimPrefix(busy.URL, "http://")}, "otro programa ya atiende ahí"},
		"no file of keys":       {[]string{"-claves", "nada"}, "nada: no existe"},
		"no keys":               {[]string{"-claves", "sin"}, "sin, línea 1: no hay ninguna clave"},
		"a short key":           {[]string{"-claves", "corta"}, "corta, línea 3: la clave tiene menos de 16 caracteres"},
		"two of a name":         {[]string{"-claves", "nombre"}, "nombre, línea 2: otra línea, o el servicio, tiene ese nombre o esa clave"},
		"two of a key":          {[]string{"-claves", "clave"}, "clave, línea 2: otra línea"},
		"a key alone":           {[]string{"-claves", "forma"}, "forma, línea 1: va como NOMBRE CLAVE, o NOMBRE CLAVE reserva=N"},
		"a name in Latin-1":     {[]string{"-claves", "latin1"}, "latin1, línea 1: no está en UTF-8"},
		"a reserve below 0":     {[]string{"-claves", "reserva"}, "reserva, línea 1: va como"},
		"the service's key":     {[]string{"-claves", "propia"}, "propia, línea 1: otra línea, o el servicio, tiene"},
		"a certificate alone":   {[]string{"-tls-cert", "nada"}, "-tls-cert y -tls-key: "},
		"no such index":         {[]string{"-padron", "nada"}, "-padron: "},
		"no such folder":        {[]string{"-estado", "nada/estado"}, "-estado: "},
		"no format of a log":    {[]string{"-log", "xml"}, "-log es text, json u off"},
		"an argument":           {[]string{"x"}, "serve no lleva argumentos"},
		"no duration":           {[]string{"-vencidas", "un día"}, `valor inválido "un día" de -vencidas`},
		"metrics on a busy one": {[]string{"-metricas", strings.TrimPrefix(busy.URL, "http://")}, "otro programa ya atiende ahí"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("FISCOPE_SERVE_ADDR", "127.0.0.1:0")
			t.Setenv("FISCOPE_API_KEY", strings.Repeat(secretKey, 2))
			_, stderr, status := execute(t, append([]string{"serve"}, c.args...)...)
			assert.Equal(t, int(wrongUse), status)
			assert.Contains(t, strings.Join(strings.Fields(stderr), " "), c.says)
			assert.NotContains(t, stderr, appKey[:15])
		})
	}
	t.Setenv("FISCOPE_SERVE_SIN_CACHE", "quizás")
	_, stderr, status := execute(t, "serve")
	assert.Equal(t, int(wrongUse), status)
	assert.Contains(t, stderr, `valor inválido "quizás" de FISCOPE_SERVE_SIN_CACHE`)
	t.Setenv("FISCOPE_SERVE_SIN_CACHE", "")
	t.Setenv("FISCOPE_BASE_URL", "")
	_, stderr, _ = execute(t, "serve")
	assert.Contains(t, stderr, "falta la variable FISCOPE_BASE_URL")
}
