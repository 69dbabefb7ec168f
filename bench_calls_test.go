package fiscope_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// compare measures a baseline and ours in turn, and reports the least that a call of ours cost, and its ratio to
// the least of the baseline.
func compare(b *testing.B, ratio string, calls int, baseline, ours func(calls int) time.Duration) {
	least := leastOf(b, calls, baseline, ours)
	b.ReportMetric(least[1], "ns/op")
	b.ReportMetric(least[1]/least[0], ratio)
}

// leastOf measures in turn, round after round, each round some calls of each, and returns the least nanoseconds
// that a call of each cost: what else the machine does in some of the rounds does not count.
func leastOf(b *testing.B, calls int, costs ...func(calls int) time.Duration) []float64 {
	least := slices.Repeat([]float64{math.Inf(1)}, len(costs))
	for b.Loop() {
		for i, cost := range costs {
			least[i] = min(least[i], float64(cost(calls))/float64(calls))
		}
	}
	return least
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

// BenchmarkConsultar compares calls of one goroutine over a transport in memory with hand-written ones.
func BenchmarkConsultar(b *testing.B) {
	found, missing := inMemory(b), raw(http.StatusNotFound, contract(b, "consultar_404.json"))
	byHand := func(rt http.RoundTripper) func() {
		client := &http.Client{Transport: rt}
		return func() { _, _ = handWritten(b.Context(), client, rucSUNAT) }
	}
	lookup := func(rt http.RoundTripper, ruc string, opts ...fiscope.Option) func(...fiscope.CallOption) {
		client := newClient(b, rt, append(opts, fiscope.WithRetry(noRetries()))...)
		return func(opts ...fiscope.CallOption) { _, _ = client.Contribuyentes.Consultar(b.Context(), ruc, opts...) }
	}
	plain, neverKept := lookup(found, rucSUNAT), lookup(found, rucSUNAT, fiscope.WithCache(fiscope.CachePolicy{Consulta: -1}))
	observed, coalesced := lookup(found, rucSUNAT, fiscope.WithObserver(func(fiscope.Event) {})), lookup(found, rucSUNAT, fiscope.WithCoalescing())
	missed, refused := lookup(roundTripper(missing), rucSUNAT), lookup(found, "123")
	var resp fiscope.Response
	for _, row := range []struct {
		name   string
		byHand func()
		ours   func()
	}{
		{"plain", byHand(found), func() { plain() }},
		{"with a Response", byHand(found), func() { plain(fiscope.WithResponse(&resp)) }},
		{"with an observer", byHand(found), func() { observed() }},
		{"cache miss", byHand(found), func() { neverKept() }},
		{"coalesced", byHand(found), func() { coalesced() }},
		{"NOT_FOUND", byHand(roundTripper(missing)), func() { missed() }},
		{"refused here", byHand(found), func() { refused() }},
	} {
		b.Run(row.name, func(b *testing.B) {
			compare(b, "x-hand", 20, timed(row.byHand), timed(row.ours))
			b.ReportMetric(testing.AllocsPerRun(100, row.ours), "allocs")
			b.ReportMetric(testing.AllocsPerRun(100, row.byHand), "allocs-hand")
		})
	}
}

// bodyOfStruct and bodyOfMap are two ways to write a validation's body by hand.
func bodyOfStruct() ([]byte, error) {
	return json.Marshal(struct {
		RUCEmisor       string `json:"rucEmisor"`
		TipoComprobante string `json:"tipoComprobante"`
		Serie           string `json:"serie"`
		Numero          int    `json:"numero"`
		RUCSolicitante  string `json:"rucSolicitante"`
		UsuarioSol      string `json:"usuarioSol"`
		ClaveSol        string `json:"claveSol"`
	}{rucEmisor, "01", "F001", 123, rucSUNAT, "MIUSER01", clave})
}

func bodyOfMap() ([]byte, error) {
	return json.Marshal(map[string]any{
		"rucEmisor": rucEmisor, "tipoComprobante": "01", "serie": "F001", "numero": 123,
		"rucSolicitante": rucSUNAT, "usuarioSol": "MIUSER01", "claveSol": clave,
	})
}

// handWrittenValidar is the validation as a careful program without this library has it.
func handWrittenValidar(ctx context.Context, client *http.Client, bodyOf func() ([]byte, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	body, err := bodyOf()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, baseURL+"/api/cpe/validar", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-API-KEY", apiKey)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
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
	var v struct {
		Codigo   string `json:"codigo"`
		Mensaje  string `json:"mensaje"`
		Estado   string `json:"estado"`
		EsValido bool   `json:"esValido"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if v.Codigo == "" {
		return errors.New("no codigo")
	}
	return nil
}

// BenchmarkValidar compares a validation whose credential is proven with hand-written ones.
func BenchmarkValidar(b *testing.B) {
	rt := roundTripper(raw(http.StatusOK, contract(b, "validar_200_aceptado.json")))
	hc, client := &http.Client{Transport: rt}, newClient(b, rt)
	ours := func() {
		_, err := client.CPE.Validar(b.Context(), factura, credenciales)
		require.NoError(b, err)
	}
	for name, bodyOf := range map[string]func() ([]byte, error){"body of a map": bodyOfMap, "body of a struct": bodyOfStruct} {
		b.Run(name, func(b *testing.B) {
			byHand := func() { require.NoError(b, handWrittenValidar(b.Context(), hc, bodyOf)) }
			compare(b, "x-hand", 20, timed(byHand), timed(ours))
			b.ReportMetric(testing.AllocsPerRun(100, ours), "allocs")
			b.ReportMetric(testing.AllocsPerRun(100, byHand), "allocs-hand")
		})
	}
}

// pageOf is an error page of about n bytes, as a gateway writes it.
func pageOf(n int) http.RoundTripper {
	const line = "<p>El servicio no está disponible &mdash; intente más tarde.</p>\n"
	return roundTripper(raw(http.StatusBadGateway, "<html><body>"+strings.Repeat(line, n/len(line))+"</body></html>"))
}

// BenchmarkErrorPage compares error pages with a lookup that succeeds.
func BenchmarkErrorPage(b *testing.B) {
	lookup := func(rt http.RoundTripper) func() {
		client := newClient(b, rt, fiscope.WithRetry(noRetries()))
		return func() { _, _ = client.Contribuyentes.Consultar(b.Context(), rucSUNAT) }
	}
	for _, page := range []struct {
		name  string
		bytes int
	}{{"2 KiB", 2 << 10}, {"12.8 KB", 12_800}, {"64 KiB", 64 << 10}, {"1 MiB", 1<<20 - 1<<10}} {
		b.Run(page.name, func(b *testing.B) {
			compare(b, "x-lookup", 1, timed(lookup(inMemory(b))), timed(lookup(pageOf(page.bytes))))
		})
	}
}
