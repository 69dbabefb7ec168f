package fiscope_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// handWritten is a call as a careful program without this library has it: the key, a timeout, a capped read and a check
// of the status. body is nil for a GET.
func handWritten(ctx context.Context, client *http.Client, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	method, sent := http.MethodGet, io.Reader(nil)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		method, sent = http.MethodPost, bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, baseURL+path, sent)
	if err != nil {
		return err
	}
	req.Header.Set("X-API-KEY", apiKey)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return json.Unmarshal(text, answer)
}

type handWrittenContribuyente struct {
	RUC                    string `json:"ruc"`
	RazonSocial            string `json:"razonSocial"`
	Estado                 string `json:"estado"`
	Condicion              string `json:"condicion"`
	Direccion              string `json:"direccion"`
	Ubigeo                 string `json:"ubigeo"`
	Departamento           string `json:"departamento"`
	Provincia              string `json:"provincia"`
	Distrito               string `json:"distrito"`
	Tipo                   string `json:"tipo"`
	ActividadEconomica     string `json:"actividadEconomica"`
	FechaInscripcion       string `json:"fechaInscripcion"`
	FechaInicioActividades string `json:"fechaInicioActividades"`
}

type handWrittenPeticion struct {
	RUCEmisor       string `json:"rucEmisor"`
	TipoComprobante string `json:"tipoComprobante"`
	Serie           string `json:"serie"`
	Numero          int    `json:"numero"`
	RUCSolicitante  string `json:"rucSolicitante"`
	UsuarioSol      string `json:"usuarioSol"`
	ClaveSol        string `json:"claveSol"`
}

type handWrittenResultado struct {
	Codigo   string `json:"codigo"`
	Mensaje  string `json:"mensaje"`
	Estado   string `json:"estado"`
	EsValido bool   `json:"esValido"`
}

// usualHeaders are the headers of an answer as it comes through a proxy: nine, and a Date.
func usualHeaders() http.Header {
	now := time.Now().UTC()
	return http.Header{
		"Cache-Control":             {"no-store"},
		"Content-Type":              {"application/json; charset=utf-8"},
		"Date":                      {now.Format(http.TimeFormat)},
		"Server":                    {"nginx"},
		"Strict-Transport-Security": {"max-age=31536000"},
		"Vary":                      {"Accept-Encoding"},
		"X-Content-Type-Options":    {"nosniff"},
		"X-Ratelimit-Limit":         {"1000000000"},
		"X-Ratelimit-Remaining":     {"999999999"},
		"X-Ratelimit-Reset":         {now.Add(12 * time.Hour).Format(time.RFC3339)},
	}
}

// inMemory answers every request with the contract's record and the usual headers, at next to no cost.
func inMemory(tb testing.TB) http.RoundTripper {
	body, header := contract(tb, "consultar_200.json"), usualHeaders()
	return handler(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
	})
}

// measured is a call of ours, the same by hand, and what docs/performance.md promises of the allocations.
type measured struct {
	name         string
	allocs       float64
	byHand, ours func()
}

func allMeasured(tb testing.TB) []measured {
	found, missing := inMemory(tb), raw(http.StatusNotFound, contract(tb, "consultar_404.json"))
	accepted := raw(http.StatusOK, contract(tb, "validar_200_aceptado.json"))
	byHand := func(rt http.RoundTripper) func() {
		client := &http.Client{Transport: rt}
		return func() {
			_ = handWritten(tb.Context(), client, "/api/contribuyentes/"+rucSUNAT, nil, new(handWrittenContribuyente))
		}
	}
	lookup := func(rt http.RoundTripper, call []fiscope.CallOption, opts ...fiscope.Option) func() {
		client := newClient(tb, rt, append(opts, fiscope.WithMaxRetries(0))...)
		return func() { _, _ = client.Contribuyentes.Consultar(tb.Context(), rucSUNAT, call...) }
	}
	hc, client := &http.Client{Transport: accepted}, newClient(tb, accepted)
	validated := func() {
		err := handWritten(tb.Context(), hc, "/api/cpe/validar", handWrittenPeticion{rucEmisor, "01", "F001", 123, rucSUNAT, "MIUSER01", clave}, new(handWrittenResultado))
		require.NoError(tb, err)
	}
	validate := func() {
		_, err := client.CPE.Validar(tb.Context(), factura, credenciales)
		require.NoError(tb, err)
	}
	hit := lookup(found, nil, fiscope.WithCache(fiscope.CachePolicy{}))
	hit()
	return []measured{
		{"a lookup", 60, byHand(found), lookup(found, nil)},
		{"with a Response", 80, byHand(found), lookup(found, []fiscope.CallOption{fiscope.WithResponse(new(fiscope.Response))})},
		{"with an observer", 80, byHand(found), lookup(found, nil, fiscope.WithObserver(func(context.Context, fiscope.Event) {}))},
		{"cached", 4, byHand(found), hit},
		{"not cached", 110, byHand(found), lookup(found, nil, fiscope.WithCache(fiscope.CachePolicy{Consulta: -1}))},
		{"coalesced", 110, byHand(found), lookup(found, nil, fiscope.WithCoalescing())},
		{"NOT_FOUND", 110, byHand(missing), lookup(missing, nil)},
		{"a validation", 80, validated, validate},
	}
}

// skipUnlessCounted skips a test of allocations, which are those of Go 1.26, on another toolchain: a later Go, one with
// an experiment, or the race detector.
func skipUnlessCounted(t *testing.T) {
	t.Helper()
	built, _ := debug.ReadBuildInfo()
	race := slices.Contains(built.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
	if version := runtime.Version(); race || !strings.HasPrefix(version, "go1.26.") || strings.Contains(version, "X:") {
		t.Skip("allocations are counted with Go 1.26, without the race detector")
	}
}

// What the promise says of allocations is exact, so it can be a test.
func TestCallsMakeFewAllocations(t *testing.T) {
	skipUnlessCounted(t)
	for _, m := range allMeasured(t) {
		assert.LessOrEqual(t, testing.AllocsPerRun(200, m.ours), m.allocs, m.name)
	}
}

// BenchmarkCalls compares calls of one goroutine over a transport in memory with hand-written ones.
func BenchmarkCalls(b *testing.B) {
	for _, m := range allMeasured(b) {
		b.Run(m.name, func(b *testing.B) {
			compare(b, "x-hand", 20, timed(m.byHand), timed(m.ours))
			b.ReportMetric(testing.AllocsPerRun(100, m.ours), "allocs")
			b.ReportMetric(testing.AllocsPerRun(100, m.byHand), "allocs-hand")
		})
	}
}

// compare measures a baseline and ours in turn, round after round, so that what else the machine does hits both. It
// reports the least that a call of ours cost, and the ratios of the minima and of the medians.
func compare(b *testing.B, ratio string, calls int, baseline, ours func(calls int) time.Duration) {
	var costs [2][]float64
	for b.Loop() {
		for i, cost := range []func(int) time.Duration{baseline, ours} {
			costs[i] = append(costs[i], float64(cost(calls))/float64(calls))
		}
	}
	slices.Sort(costs[0])
	slices.Sort(costs[1])
	middle := len(costs[0]) / 2
	b.ReportMetric(costs[1][0], "ns/op")
	b.ReportMetric(costs[1][0]/costs[0][0], ratio)
	b.ReportMetric(costs[1][middle]/costs[0][middle], ratio+"-median")
}

// timed returns the time that calls of do take, one after the other.
func timed(do func()) func(calls int) time.Duration {
	return func(calls int) time.Duration {
		start := time.Now()
		for range calls {
			do()
		}
		return time.Since(start)
	}
}

// everyRUC answers every lookup with the contract's record, at next to no cost.
func everyRUC(tb testing.TB) http.RoundTripper {
	before, after, _ := strings.Cut(contract(tb, "consultar_200.json"), rucSUNAT)
	header := usualHeaders()
	return handler(func(r *http.Request) (*http.Response, error) {
		body := before + r.URL.Path[len(r.URL.Path)-len(rucSUNAT):] + after
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
	})
}

// BenchmarkConsultarLote compares a batch of 100 000 different RUCs, whose answers come at once, with as many
// goroutines that make the same calls.
func BenchmarkConsultarLote(b *testing.B) {
	client := newClient(b, everyRUC(b))
	byHand := func(calls int) time.Duration {
		start := time.Now()
		slots := make(chan struct{}, 8)
		var wg sync.WaitGroup
		for ruc := range rucs(calls) {
			slots <- struct{}{}
			wg.Go(func() {
				if _, err := client.Contribuyentes.Consultar(b.Context(), ruc); err != nil {
					b.Error(err)
				}
				<-slots
			})
		}
		wg.Wait()
		return time.Since(start)
	}
	batch := func(calls int) time.Duration {
		start := time.Now()
		for _, err := range client.Contribuyentes.ConsultarLote(b.Context(), rucs(calls), fiscope.LotePolicy{}) {
			if err != nil {
				b.Error(err)
			}
		}
		return time.Since(start)
	}
	compare(b, "x-goroutines", 100_000, byHand, batch)
}
