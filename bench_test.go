package fiscope_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
)

// handWritten is the lookup as a careful program without this library has it: a timeout, a capped read
// and a look at the status.
func handWritten(ctx context.Context, client *http.Client, ruc string) (*handWrittenContribuyente, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, baseURL+"/api/contribuyentes/"+ruc, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-API-KEY", apiKey)
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	c := new(handWrittenContribuyente)
	if err := json.Unmarshal(body, c); err != nil {
		return nil, err
	}
	if c.RUC == "" {
		return nil, errors.New("no RUC")
	}
	return c, nil
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

// inMemory answers every request with the contract's record and its headers, at next to no cost.
func inMemory(tb testing.TB) http.RoundTripper {
	body := contract(tb, "consultar_200.json")
	reset := time.Now().Add(12 * time.Hour).UTC().Format(time.RFC3339)
	header := http.Header{
		"Content-Type":          {"application/json"},
		"X-Ratelimit-Limit":     {"1000000000"},
		"X-Ratelimit-Remaining": {"999999999"},
		"X-Ratelimit-Reset":     {reset},
	}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
	})
}

// BenchmarkConsultar compares a lookup with every guard on with the hand-written one. The time is shown
// as a ratio; the allocations are exact.
func BenchmarkConsultar(b *testing.B) {
	rt := inMemory(b)
	var baseline float64
	b.Run("hand-written", func(b *testing.B) {
		client := &http.Client{Transport: rt}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := handWritten(b.Context(), client, rucSUNAT); err != nil {
				b.Fatal(err)
			}
		}
		baseline = float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	})
	b.Run("fiscope", func(b *testing.B) {
		client := newClient(b, rt)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Contribuyentes.Consultar(b.Context(), rucSUNAT); err != nil {
				b.Fatal(err)
			}
		}
		if baseline > 0 {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/baseline, "x-hand-written")
		}
	})
}

// What the promise says of allocations is exact, so it can be a test.
func TestALookupMakesNoMoreAllocationsThanByHand(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: this is checked without it")
	}
	rt := inMemory(t)
	hc := &http.Client{Transport: rt}
	client := newClient(t, rt)
	hand := testing.AllocsPerRun(200, func() { _, _ = handWritten(t.Context(), hc, rucSUNAT) })
	ours := testing.AllocsPerRun(200, func() {
		_, _ = client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	})
	if ours > hand {
		t.Errorf("%v allocations, %v by hand: want no more", ours, hand)
	}
}

func TestAnAnswerFromTheCacheMakesOneAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: this is checked without it")
	}
	client := newClient(t, inMemory(t), fiscope.WithCache(fiscope.CachePolicy{}))
	for name, ask := range map[string]func() error{
		"a lookup": func() error { _, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT); return err },
	} {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(200, func() { _ = ask() }); n > 1 {
			t.Errorf("%s: %v allocations, want at most 1", name, n)
		}
	}
}

// BenchmarkCache compares an answer from the cache with the same lookup over a transport in memory, and
// one goroutine with 64 on one key.
func BenchmarkCache(b *testing.B) {
	var miss, one float64
	perCall := func(b *testing.B) float64 { return float64(b.Elapsed().Nanoseconds()) / float64(b.N) }
	b.Run("miss", func(b *testing.B) {
		client := newClient(b, inMemory(b))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Contribuyentes.Consultar(b.Context(), rucSUNAT); err != nil {
				b.Fatal(err)
			}
		}
		miss = perCall(b)
	})
	client := newClient(b, inMemory(b), fiscope.WithCache(fiscope.CachePolicy{}))
	b.Run("hit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Contribuyentes.Consultar(b.Context(), rucSUNAT); err != nil {
				b.Fatal(err)
			}
		}
		one = perCall(b)
		b.ReportMetric(miss/one, "x-cheaper")
	})
	b.Run("hit by 64 goroutines", func(b *testing.B) {
		b.SetParallelism(max(1, 64/runtime.GOMAXPROCS(0)))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := client.Contribuyentes.Consultar(b.Context(), rucSUNAT); err != nil {
					b.Error(err)
					return
				}
			}
		})
		b.ReportMetric(one/perCall(b), "x-one-goroutine")
	})
}

// pageOf is an error page of about n bytes, as a gateway writes it.
func pageOf(n int) http.RoundTripper {
	const line = "<p>El servicio no está disponible &mdash; intente más tarde.</p>\n"
	return roundTripper(raw(http.StatusBadGateway, "<html><body>"+strings.Repeat(line, n/len(line))+"</body></html>"))
}

// What the promise says of allocations is exact, so it can be a test.
func TestSafetyMakesFewAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: this is checked without it")
	}
	lookup := func(rt http.RoundTripper, ruc string, opts ...fiscope.Option) func(...fiscope.CallOption) {
		client := newClient(t, rt, append(opts, fiscope.WithRetry(noRetries()))...)
		return func(opts ...fiscope.CallOption) { _, _ = client.Contribuyentes.Consultar(t.Context(), ruc, opts...) }
	}
	plain, missing := lookup(inMemory(t), rucSUNAT), lookup(roundTripper(raw(404, contract(t, "consultar_404.json"))), rucSUNAT)
	coalesced, refused := lookup(inMemory(t), rucSUNAT, fiscope.WithCoalescing()), lookup(inMemory(t), "123")
	blocked := newClient(t, roundTripper(raw(401, contract(t, "validar_401.json"))))
	validate := func() { _, _ = blocked.CPE.Validar(t.Context(), factura, credenciales) }
	validate()
	var resp fiscope.Response
	lookups := testing.AllocsPerRun(200, func() { plain() })
	escaped := make([]string, 30)
	for i := range escaped {
		escaped[i] = fmt.Sprintf("X-Cookie-%d: s=%%3Aj%%3A%d; a%%C3%%B1o", i, i)
	}
	many := lookup(roundTripper(raw(200, contract(t, "consultar_200.json"), escaped...)), rucSUNAT)
	manyPlain := testing.AllocsPerRun(200, func() { many() })
	for _, test := range []struct {
		name string
		most float64
		call func()
	}{
		{"with a Response", lookups + 12, func() { plain(fiscope.WithResponse(&resp)) }},
		{"with a Response of many headers", manyPlain + 60, func() { many(fiscope.WithResponse(&resp)) }},
		{"with coalescing", lookups + 30, func() { coalesced() }},
		{"NOT_FOUND", 60, func() { missing() }},
		{"refused here", 15, func() { refused() }},
		{"a blocked clave", 50, validate},
	} {
		if n := testing.AllocsPerRun(200, test.call); n > test.most {
			t.Errorf("%s: %v allocations, want at most %v", test.name, n, test.most)
		}
	}
}

// BenchmarkErrorPage compares error pages with a lookup that succeeds.
func BenchmarkErrorPage(b *testing.B) {
	var lookup float64
	for _, answer := range []struct {
		name string
		rt   http.RoundTripper
	}{{"none", inMemory(b)}, {"2 KiB", pageOf(2 << 10)}, {"12 KiB", pageOf(12 << 10)}, {"64 KiB", pageOf(64 << 10)}, {"1 MiB", pageOf(1<<20 - 1<<10)}} {
		b.Run(answer.name, func(b *testing.B) {
			client := newClient(b, answer.rt, fiscope.WithRetry(noRetries()))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = client.Contribuyentes.Consultar(b.Context(), rucSUNAT)
			}
			each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			if answer.name == "none" {
				lookup = each
			}
			b.ReportMetric(each/lookup, "x-lookup")
		})
	}
}
