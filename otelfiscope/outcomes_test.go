package otelfiscope_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/otelfiscope"
)

const (
	lookup   = "fiscope.operation=Contribuyentes.Consultar"
	validate = "fiscope.operation=CPE.Validar"
	rate     = "fiscope.operation=TipoCambio.Consultar"

	attempt  = "GET client in Contribuyentes.Consultar"
	whole    = "Contribuyentes.Consultar internal in nothing"
	requests = "http.client.request.duration histogram s"
	duration = "fiscope.operation.duration histogram s"
	avoided  = "fiscope.queries.avoided counter {query}"
	retries  = "fiscope.retries counter {attempt}"
)

func consult(ctx context.Context, c *fiscope.Client) {
	_, _ = c.Contribuyentes.Consultar(ctx, ruc)
}

func validateOnce(ctx context.Context, c *fiscope.Client) {
	_, _ = c.CPE.Validar(ctx, factura, credenciales)
}

// outcome is how calls end, and what is exported of them.
type outcome struct {
	answer  answer
	opts    []fiscope.Option
	hook    fiscope.Hook // of one's own, nil for none
	calls   func(context.Context, *fiscope.Client)
	spans   []string
	metrics []string
}

func outcomes(t testing.TB) map[string]outcome {
	record := contract(t, 200, "consultar_200.json")
	slowly := after(time.Second, record)
	alone := []fiscope.Option{atOnce(0)}
	sharing := []fiscope.Option{fiscope.WithCoalescing()}
	return map[string]outcome{
		"a result": {
			slowly, nil, nil, consult,
			[]string{
				attempt + ", 0s to 1s, Unset: " + lookup + " http.request.method=GET http.response.status_code=200",
				whole + ", 0s to 1s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=service",
			},
			[]string{
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=service} 1 in 1s",
				requests + " {" + lookup + " http.request.method=GET http.response.status_code=200} 1 in 1s",
			},
		},
		"a result with something odd": {
			raw(200, strings.Replace(bytesOf(t, "consultar_200.json"), "ACTIVO", "OTROS", 1)), nil, nil, consult,
			[]string{
				attempt + ", 0s to 0s, Unset: " + lookup + " http.request.method=GET http.response.status_code=200",
				whole + ", 0s to 0s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=service fiscope.warnings=1",
			},
			[]string{
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=service} 1 in 0s",
				requests + " {" + lookup + " http.request.method=GET http.response.status_code=200} 1 in 0s",
			},
		},
		"nobody has that RUC": {
			contract(t, 404, "consultar_404.json"), nil, nil, consult,
			[]string{
				attempt + ", 0s to 0s, Unset: " + lookup + " http.request.method=GET http.response.status_code=404",
				whole + ", 0s to 0s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=not_found fiscope.source=service",
			},
			[]string{
				duration + " {" + lookup + " fiscope.outcome=not_found fiscope.source=service} 1 in 0s",
				requests + " {" + lookup + " http.request.method=GET http.response.status_code=404} 1 in 0s",
			},
		},
		"another server's 404": {
			raw(404, "<html><title>nginx</title></html>"), nil, nil, consult,
			[]string{
				attempt + ", 0s to 0s, Error: error.type=malformed_response " + lookup + " http.request.method=GET http.response.status_code=404",
				whole + ", 0s to 0s, Error: error.type=malformed_response fiscope.attempts=1 " + lookup + " fiscope.outcome=error fiscope.source=service",
			},
			[]string{
				duration + " {error.type=malformed_response " + lookup + " fiscope.outcome=error fiscope.source=service} 1 in 0s",
				requests + " {error.type=malformed_response " + lookup + " http.request.method=GET http.response.status_code=404} 1 in 0s",
			},
		},
		"refused before it was sent": {
			nil, nil, nil, func(ctx context.Context, c *fiscope.Client) { _, _ = c.Contribuyentes.Consultar(ctx, ruc[:10]) },
			[]string{
				whole + ", 0s to 0s, Error: error.type=invalid_request fiscope.attempts=0 " + lookup + " fiscope.outcome=error fiscope.source=client",
			},
			[]string{
				duration + " {error.type=invalid_request " + lookup + " fiscope.outcome=error fiscope.source=client} 1 in 0s",
				avoided + " {fiscope.avoided.reason=invalid " + lookup + "} 1",
			},
		},
		"an outage, with two retries": {
			after(time.Second, raw(503, "")), []fiscope.Option{atOnce(2)}, nil, consult,
			[]string{
				attempt + ", 0s to 1s, Error: error.type=unavailable " + lookup + " http.request.method=GET http.response.status_code=503",
				attempt + ", 1s to 2s, Error: error.type=unavailable " + lookup + " http.request.method=GET http.request.resend_count=1 http.response.status_code=503",
				attempt + ", 2s to 3s, Error: error.type=unavailable " + lookup + " http.request.method=GET http.request.resend_count=2 http.response.status_code=503",
				whole + ", 0s to 3s, Error: error.type=unavailable fiscope.attempts=3 " + lookup + " fiscope.outcome=error fiscope.source=service",
			},
			[]string{
				duration + " {error.type=unavailable " + lookup + " fiscope.outcome=error fiscope.source=service} 1 in 3s",
				retries + " {" + lookup + "} 2",
				requests + " {error.type=unavailable " + lookup + " http.request.method=GET http.response.status_code=503} 3 in 3s",
			},
		},
		"no answer": {
			broken(errors.New("reset by " + host)), alone, nil, consult,
			[]string{
				attempt + ", 0s to 0s, Error: error.type=unavailable fiscope.delivery=unknown " + lookup + " http.request.method=GET",
				whole + ", 0s to 0s, Error: error.type=unavailable fiscope.attempts=1 " + lookup + " fiscope.outcome=error fiscope.source=unknown",
			},
			[]string{
				duration + " {error.type=unavailable " + lookup + " fiscope.outcome=error fiscope.source=unknown} 1 in 0s",
				requests + " {error.type=unavailable " + lookup + " http.request.method=GET} 1 in 0s",
			},
		},
		"a spent quota": {
			contract(t, 200, "consultar_200.json", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T05:00:00Z"), nil, nil,
			func(ctx context.Context, c *fiscope.Client) { consult(ctx, c); consult(ctx, c) },
			[]string{
				attempt + ", 0s to 0s, Unset: " + lookup + " http.request.method=GET http.response.status_code=200",
				whole + ", 0s to 0s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=service",
				whole + ", 0s to 0s, Error: error.type=quota_exceeded fiscope.attempts=0 " + lookup + " fiscope.outcome=error fiscope.source=client",
			},
			[]string{
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=service} 1 in 0s",
				duration + " {error.type=quota_exceeded " + lookup + " fiscope.outcome=error fiscope.source=client} 1 in 0s",
				avoided + " {fiscope.avoided.reason=quota " + lookup + "} 1",
				requests + " {" + lookup + " http.request.method=GET http.response.status_code=200} 1 in 0s",
			},
		},
		"a refused clave, and again": {
			contract(t, 401, "validar_401.json"), nil, nil,
			func(ctx context.Context, c *fiscope.Client) { validateOnce(ctx, c); validateOnce(ctx, c) },
			[]string{
				"POST client in CPE.Validar, 0s to 0s, Error: error.type=invalid_sol_credentials " + validate + " http.request.method=POST http.response.status_code=401",
				"CPE.Validar internal in nothing, 0s to 0s, Error: error.type=invalid_sol_credentials fiscope.attempts=1 " + validate + " fiscope.outcome=error fiscope.source=service",
				"CPE.Validar internal in nothing, 0s to 0s, Error: error.type=sol_credentials_blocked fiscope.attempts=0 " + validate + " fiscope.outcome=error fiscope.source=client",
			},
			[]string{
				duration + " {error.type=invalid_sol_credentials " + validate + " fiscope.outcome=error fiscope.source=service} 1 in 0s",
				duration + " {error.type=sol_credentials_blocked " + validate + " fiscope.outcome=error fiscope.source=client} 1 in 0s",
				avoided + " {fiscope.avoided.reason=sol " + validate + "} 1",
				requests + " {error.type=invalid_sol_credentials " + validate + " http.request.method=POST http.response.status_code=401} 1 in 0s",
			},
		},
		"a validation whose caller leaves": {
			after(3*time.Second, contract(t, 200, "validar_200_aceptado.json")), nil, nil,
			func(ctx context.Context, c *fiscope.Client) {
				ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
				validateOnce(ctx, c)
			},
			[]string{
				"CPE.Validar internal in nothing, 0s to 2s, Error: error.type=unavailable fiscope.attempts=1 " + validate + " fiscope.outcome=error fiscope.source=unknown",
				"POST client in CPE.Validar, 0s to 3s, Unset: " + validate + " http.request.method=POST http.response.status_code=200",
			},
			[]string{
				duration + " {error.type=unavailable " + validate + " fiscope.outcome=error fiscope.source=unknown} 1 in 2s",
				requests + " {" + validate + " http.request.method=POST http.response.status_code=200} 1 in 3s",
			},
		},
		"the cache": {
			slowly, []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})}, nil,
			func(ctx context.Context, c *fiscope.Client) { consult(ctx, c); consult(ctx, c) },
			[]string{
				attempt + ", 0s to 1s, Unset: " + lookup + " http.request.method=GET http.response.status_code=200",
				whole + ", 0s to 1s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=service",
				whole + ", 1s to 1s, Unset: fiscope.attempts=0 " + lookup + " fiscope.outcome=result fiscope.source=cache",
			},
			[]string{
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=cache} 1 in 0s",
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=service} 1 in 1s",
				avoided + " {fiscope.avoided.reason=cached " + lookup + "} 1",
				requests + " {" + lookup + " http.request.method=GET http.response.status_code=200} 1 in 1s",
			},
		},
		"a stale answer": {
			inTurn(record, raw(503, "")), []fiscope.Option{atOnce(0), fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 24 * time.Hour})}, nil,
			func(ctx context.Context, c *fiscope.Client) {
				consult(ctx, c)
				time.Sleep(13 * time.Hour)
				consult(ctx, c)
			},
			[]string{
				attempt + ", 0s to 0s, Unset: " + lookup + " http.request.method=GET http.response.status_code=200",
				whole + ", 0s to 0s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=service",
				attempt + ", 13h0m0s to 13h0m0s, Error: error.type=unavailable " + lookup + " http.request.method=GET http.response.status_code=503",
				whole + ", 13h0m0s to 13h0m0s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=stale",
			},
			[]string{
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=service} 1 in 0s",
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=stale} 1 in 0s",
				requests + " {" + lookup + " http.request.method=GET http.response.status_code=200} 1 in 0s",
				requests + " {error.type=unavailable " + lookup + " http.request.method=GET http.response.status_code=503} 1 in 0s",
			},
		},
		"a shared query": {
			slowly, sharing, nil,
			func(ctx context.Context, c *fiscope.Client) {
				var all sync.WaitGroup
				all.Go(func() { consult(ctx, c) })
				synctest.Wait()
				all.Go(func() { time.Sleep(time.Second / 2); consult(ctx, c) })
				all.Wait()
			},
			[]string{
				attempt + ", 0s to 1s, Unset: " + lookup + " http.request.method=GET http.response.status_code=200",
				whole + ", 0s to 1s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=service",
				whole + ", 500ms to 1s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=shared",
			},
			[]string{
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=service} 1 in 1s",
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=shared} 1 in 0.5s",
				avoided + " {fiscope.avoided.reason=coalesced " + lookup + "} 1",
				requests + " {" + lookup + " http.request.method=GET http.response.status_code=200} 1 in 1s",
			},
		},
		"a Respaldo": {
			raw(503, ""), []fiscope.Option{atOnce(0), fiscope.WithRespaldo(reserve{})}, nil, consult,
			[]string{
				attempt + ", 0s to 0s, Error: error.type=unavailable " + lookup + " http.request.method=GET http.response.status_code=503",
				whole + ", 0s to 0s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=registry",
			},
			[]string{
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=registry} 1 in 0s",
				requests + " {error.type=unavailable " + lookup + " http.request.method=GET http.response.status_code=503} 1 in 0s",
			},
		},
		"cancelled before": {
			nil, nil, nil, func(ctx context.Context, c *fiscope.Client) {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				consult(ctx, c)
			},
			[]string{
				whole + ", 0s to 0s, Error: error.type=canceled fiscope.attempts=0 " + lookup + " fiscope.outcome=error fiscope.source=client",
			},
			[]string{
				duration + " {error.type=canceled " + lookup + " fiscope.outcome=error fiscope.source=client} 1 in 0s",
				avoided + " {fiscope.avoided.reason=out_of_time " + lookup + "} 1",
			},
		},
		"cancelled meanwhile": {
			slowly, nil, nil, func(ctx context.Context, c *fiscope.Client) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(time.Second/2, cancel)
				consult(ctx, c)
			},
			[]string{
				attempt + ", 0s to 500ms, Error: error.type=canceled fiscope.delivery=unknown " + lookup + " http.request.method=GET",
				whole + ", 0s to 500ms, Error: error.type=canceled fiscope.attempts=1 " + lookup + " fiscope.outcome=error fiscope.source=unknown",
			},
			[]string{
				duration + " {error.type=canceled " + lookup + " fiscope.outcome=error fiscope.source=unknown} 1 in 0.5s",
				requests + " {error.type=canceled " + lookup + " http.request.method=GET} 1 in 0.5s",
			},
		},
		"a panic of the transport": {
			func(*http.Request) (*http.Response, error) { panic("boom " + ruc) }, nil, nil,
			func(ctx context.Context, c *fiscope.Client) {
				defer func() { _ = recover() }()
				consult(ctx, c)
			},
			[]string{
				whole + ", 0s to 0s, Error: error.type=other fiscope.attempts=0 " + lookup + " fiscope.outcome=error fiscope.source=unknown",
			},
			[]string{
				duration + " {error.type=other " + lookup + " fiscope.outcome=error fiscope.source=unknown} 1 in 0s",
			},
		},
		"a panic of one's own hook": {
			record, nil, func(context.Context, fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
				panic("boom")
			},
			func(ctx context.Context, c *fiscope.Client) {
				defer func() { _ = recover() }()
				consult(ctx, c)
			},
			[]string{
				whole + ", 0s to 0s, Error: error.type=other fiscope.attempts=0 " + lookup + " fiscope.outcome=error fiscope.source=unknown",
			},
			[]string{
				duration + " {error.type=other " + lookup + " fiscope.outcome=error fiscope.source=unknown} 1 in 0s",
			},
		},
		"a panic at the end of one's own hook": {
			record, nil, func(ctx context.Context, _ fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
				return ctx, func(fiscope.Response, error) { panic("boom") }
			},
			func(ctx context.Context, c *fiscope.Client) {
				defer func() { _ = recover() }()
				consult(ctx, c)
			},
			[]string{
				attempt + ", 0s to 0s, Unset: " + lookup + " http.request.method=GET http.response.status_code=200",
				whole + ", 0s to 0s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=service",
			},
			[]string{
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=service} 1 in 0s",
				requests + " {" + lookup + " http.request.method=GET http.response.status_code=200} 1 in 0s",
			},
		},
		"an operation made of others": {
			func(r *http.Request) (*http.Response, error) {
				return raw(200, strings.Replace(bytesOf(t, "tipocambio_200.json"), "2026-11-20", r.URL.Query().Get("fecha"), 1))(r)
			}, nil, nil,
			func(ctx context.Context, c *fiscope.Client) {
				_, _ = c.TipoCambio.SUNAT(ctx, fiscope.NewFecha(1999, time.November, 16))
			},
			[]string{
				"GET client in TipoCambio.Consultar, 0s to 0s, Unset: " + rate + " http.request.method=GET http.response.status_code=200",
				"TipoCambio.Consultar internal in TipoCambio.SUNAT, 0s to 0s, Unset: fiscope.attempts=1 " + rate + " fiscope.outcome=result fiscope.source=service",
				"TipoCambio.SUNAT internal in nothing, 0s to 0s, Unset: fiscope.attempts=1 fiscope.operation=TipoCambio.SUNAT fiscope.outcome=result fiscope.source=service",
			},
			[]string{
				duration + " {" + rate + " fiscope.outcome=result fiscope.source=service} 1 in 0s",
				duration + " {fiscope.operation=TipoCambio.SUNAT fiscope.outcome=result fiscope.source=service} 1 in 0s",
				requests + " {" + rate + " http.request.method=GET http.response.status_code=200} 1 in 0s",
			},
		},
		"a rate that is not out yet": {
			nil, nil, nil, func(ctx context.Context, c *fiscope.Client) {
				_, _ = c.TipoCambio.UltimoPublicado(ctx, fiscope.NewFecha(2000, time.January, 3))
			},
			[]string{
				"TipoCambio.UltimoPublicado internal in nothing, 0s to 0s, Unset: fiscope.attempts=0 fiscope.operation=TipoCambio.UltimoPublicado fiscope.outcome=not_yet_published fiscope.source=client",
			},
			[]string{
				duration + " {fiscope.operation=TipoCambio.UltimoPublicado fiscope.outcome=not_yet_published fiscope.source=client} 1 in 0s",
				avoided + " {fiscope.avoided.reason=unpublished fiscope.operation=TipoCambio.UltimoPublicado} 1",
			},
		},
		"a batch": {
			record, nil, nil, func(ctx context.Context, c *fiscope.Client) {
				for range c.Contribuyentes.ConsultarLote(ctx, slices.Values([]string{ruc, "12", ruc}), fiscope.LotePolicy{Concurrency: 1}) {
				}
			},
			[]string{
				attempt + ", 0s to 0s, Unset: " + lookup + " http.request.method=GET http.response.status_code=200",
				whole + ", 0s to 0s, Unset: fiscope.attempts=1 " + lookup + " fiscope.outcome=result fiscope.source=service",
				whole + ", 0s to 0s, Error: error.type=invalid_request fiscope.attempts=0 " + lookup + " fiscope.outcome=error fiscope.source=client",
			},
			[]string{
				duration + " {" + lookup + " fiscope.outcome=result fiscope.source=service} 1 in 0s",
				duration + " {error.type=invalid_request " + lookup + " fiscope.outcome=error fiscope.source=client} 1 in 0s",
				avoided + " {fiscope.avoided.reason=invalid " + lookup + "} 1",
				requests + " {" + lookup + " http.request.method=GET http.response.status_code=200} 1 in 0s",
			},
		},
		"a batch that cannot begin": {
			nil, nil, nil, func(ctx context.Context, c *fiscope.Client) {
				for range c.Contribuyentes.ConsultarLote(ctx, slices.Values([]string{ruc}), fiscope.LotePolicy{From: -1}) {
				}
			},
			nil,
			[]string{avoided + " {fiscope.avoided.reason=invalid fiscope.operation=Contribuyentes.ConsultarLote} 1"},
		},
	}
}

func TestWhatIsExportedOfEachOutcome(t *testing.T) {
	for name, test := range outcomes(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecorder(t)
				var opts []otelfiscope.Option
				if test.hook != nil {
					opts = append(opts, otelfiscope.WithHook(test.hook))
				}
				client := connect(t, r.telemetry(t, opts...), test.answer, test.opts...)
				test.calls(t.Context(), client)
				require.NoError(t, client.Close(t.Context()))
				traced, measured := r.traced(), r.measured(t)
				for _, lines := range [][]string{test.spans, traced, test.metrics} { // two calls end in any order
					slices.Sort(lines)
				}
				assert.Empty(t, cmp.Diff(test.spans, traced))
				assert.Empty(t, cmp.Diff(test.metrics, lines(t, measured)))
				sameLedger(t, client.Stats(), measured)
			})
		})
	}
}

// sameLedger shows that the metrics count what the client itself counts.
func sameLedger(t *testing.T, want fiscope.Stats, all []series) {
	t.Helper()
	maps.DeleteFunc(want.Avoided, func(_ fiscope.Avoided, n int64) bool { return n == 0 })
	got := fiscope.Stats{Avoided: map[fiscope.Avoided]int64{}}
	for _, s := range all {
		switch s.name {
		case "http.client.request.duration":
			got.Attempts += s.value
		case "fiscope.retries":
			got.Retries += s.value
		case "fiscope.queries.avoided":
			var reason string
			_, err := fmt.Sscanf(s.attributes, "fiscope.avoided.reason=%s", &reason)
			require.NoError(t, err)
			got.Avoided[fiscope.Avoided(strings.ReplaceAll(reason, "_", " "))] += s.value
		}
	}
	want.Calls, want.Sent, want.Respaldo = 0, 0, 0
	assert.Empty(t, cmp.Diff(want, got))
}
