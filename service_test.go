package fiscope_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/testservice"
)

const (
	baseURL   = "https://api.fiscope.example"
	apiKey    = "llave-de-prueba-7f3a"
	clave     = "claveFalsa12"
	rucSUNAT  = "20131312955"
	rucEmisor = "20100070970"
)

var (
	factura      = fiscope.Comprobante{RUCEmisor: rucEmisor, Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123}
	credenciales = fiscope.CredencialesSOL{RUC: rucSUNAT, Usuario: "MIUSER01", Clave: fiscope.NewSecreto(clave)}
	viernes      = fiscope.NewFecha(2026, time.November, 20)

	raw   = testservice.Raw
	after = testservice.After
)

// handler answers one request. It is a transport, too.
type handler = testservice.Answer

// service is the far end as raw bytes: each request gets the next of its answers, and the last of them
// from then on.
type service struct {
	mu       sync.Mutex
	answers  []handler
	requests []sent
}

// sent is what left of one request.
type sent struct {
	method, url string
	header      http.Header
	body        string
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	left := sent{method: r.Method, url: r.URL.String(), header: r.Header.Clone()}
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		left.body = string(b)
	}
	s.mu.Lock()
	s.requests = append(s.requests, left)
	next := s.answers[min(len(s.requests), len(s.answers))-1]
	s.mu.Unlock()
	resp, err := next(r)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

func (s *service) seen() []sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// posts returns how many validations it saw.
func (s *service) posts() (n int) {
	for _, r := range s.seen() {
		if r.method == http.MethodPost {
			n++
		}
	}
	return n
}

// inBubble runs a part of a test in a bubble of its own: there it is midnight UTC of 2000-01-01.
func inBubble(t *testing.T, name string, part func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, part) })
}

// answers returns a service of raw answers and a client of it.
func answers(t testing.TB, raw ...handler) (*fiscope.Client, *service) {
	t.Helper()
	s := &service{answers: raw}
	return newClient(t, s), s
}

func newClient(t testing.TB, rt http.RoundTripper, opts ...fiscope.Option) *fiscope.Client {
	t.Helper()
	opts = append([]fiscope.Option{fiscope.WithHTTPClient(&http.Client{Transport: rt})}, opts...)
	client, err := fiscope.NewClient(baseURL, apiKey, opts...)
	require.NoError(t, err)
	closeWith(t, client)
	return client
}

// closeWith waits at the end of the test for what goes on in the background.
func closeWith(t testing.TB, client *fiscope.Client) {
	t.Cleanup(func() { require.NoError(t, client.Close(context.Background())) })
}

// broken is a request that gets no answer.
func broken(err error) handler {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// contract returns the bytes of an answer of the contract.
func contract(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(b)
}

// compact returns JSON without the white space between its members.
func compact(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Compact(&b, []byte(text)))
	return b.String()
}

func TestMain(m *testing.M) {
	// Fuzzing would try for a minute to make each new input smaller, and do nothing else meanwhile. The
	// flag of that name on the command line still decides.
	_ = flag.Set("test.fuzzminimizetime", "10x")
	goleak.VerifyTestMain(m)
}
