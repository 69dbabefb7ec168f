package fiscope_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	if ours > hand-5 { // 7 fewer, when this was written
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
	observed, missed := lookup(inMemory(t), rucSUNAT, fiscope.WithObserver(func(fiscope.Event) {})), lookup(inMemory(t), rucSUNAT, fiscope.WithCache(fiscope.CachePolicy{Consulta: -1}))
	proven := newClient(t, roundTripper(raw(200, contract(t, "validar_200_aceptado.json"))))
	blocked := newClient(t, roundTripper(raw(401, contract(t, "validar_401.json"))))
	validate := func() { _, _ = blocked.CPE.Validar(t.Context(), factura, credenciales) }
	validate()
	var resp fiscope.Response
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
		{"with a Response", 47, func() { plain(fiscope.WithResponse(&resp)) }},
		{"with a Response of many headers", manyPlain + 60, func() { many(fiscope.WithResponse(&resp)) }},
		{"with an observer", 39, func() { observed() }},
		{"a cache miss", 70, func() { missed() }},
		{"with coalescing", 67, func() { coalesced() }},
		{"a proven clave", 36, func() { _, _ = proven.CPE.Validar(t.Context(), factura, credenciales) }},
		{"NOT_FOUND", 51, func() { missing() }},
		{"refused here", 15, func() { refused() }},
		{"a blocked clave", 20, validate},
	} {
		if n := testing.AllocsPerRun(200, test.call); n > test.most {
			t.Errorf("%s: %v allocations, want at most %v", test.name, n, test.most)
		}
	}
}
