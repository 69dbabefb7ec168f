package otelfiscope_test

import (
	"context"
	"fmt"
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
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/testservice"
	"github.com/fiscope/fiscope/otelfiscope"
)

const (
	lookup   = "Contribuyentes.Consultar"
	validate = "CPE.Validar"
	rate     = "TipoCambio.Consultar"
	found    = "outcome=result source=service attempts=1"
)

func consult(ctx context.Context, c *fiscope.Client) {
	_, _ = c.Contribuyentes.Consultar(ctx, ruc)
}

func consultTwice(ctx context.Context, c *fiscope.Client) {
	consult(ctx, c)
	consult(ctx, c)
}

func validateOnce(ctx context.Context, c *fiscope.Client) {
	_, _ = c.CPE.Validar(ctx, factura, credenciales)
}

// outcome is how calls end, and what is exported of them: these spans, metrics that say the same, and the calls that
// spent no query.
type outcome struct {
	answer  testservice.Answer // nil if nothing is sent
	opts    []fiscope.Option
	hook    fiscope.Hook // of one's own
	calls   func(context.Context, *fiscope.Client)
	spans   []string
	avoided string // the reason and the operation of the one that spent no query
}

// tried is the span of an attempt.
func tried(op, when, words string) string {
	method := "GET"
	if op == validate {
		method = "POST"
	}
	return spanOf(method+" client in "+op, op, when, words+" method="+method)
}

// ended is the span of an operation.
func ended(op, when, words string) string { return spanOf(op+" internal in nothing", op, when, words) }

// spanOf is a line of traced. Words are attributes by their short names.
func spanOf(name, op, when, words string) string {
	long := map[string]string{
		"error": "error.type", "method": "http.request.method", "resend": "http.request.resend_count", "status": "http.response.status_code",
	}
	state, attributes := "Unset", []string{"fiscope.operation=" + op}
	for word := range strings.FieldsSeq(words) {
		key, value, _ := strings.Cut(word, "=")
		if key == "error" {
			state = "Error"
		}
		if long[key] == "" {
			long[key] = "fiscope." + key
		}
		attributes = append(attributes, long[key]+"="+value)
	}
	slices.Sort(attributes)
	return fmt.Sprintf("%s, %s, %s: %s", name, when, state, strings.Join(attributes, " "))
}

// metricsOf are the metrics that say the same as the spans.
func metricsOf(r *recorder, avoided string) (lines []string) {
	sums := map[string]series{}
	add := func(s series, attributes ...attribute.KeyValue) {
		s.attributes = written(attributes)
		sum := sums[s.name+s.attributes]
		s.value, s.sum = sum.value+1, sum.sum+s.sum
		sums[s.name+s.attributes] = s
	}
	for _, s := range r.spans.GetSpans() {
		took := s.EndTime.Sub(s.StartTime).Seconds()
		kept := slices.DeleteFunc(slices.Clone(s.Attributes), func(a attribute.KeyValue) bool {
			if a.Key == "http.request.resend_count" {
				_, op, _ := strings.Cut(written(s.Attributes), "fiscope.operation=")
				add(series{name: "fiscope.retries", kind: "counter", unit: "{attempt}"}, attribute.String("fiscope.operation", strings.Fields(op)[0]))
			}
			return slices.Contains([]attribute.Key{"fiscope.attempts", "fiscope.warnings", "fiscope.delivery", "http.request.resend_count"}, a.Key)
		})
		name := map[bool]string{true: "http.client.request.duration", false: "fiscope.operation.duration"}[s.SpanKind == trace.SpanKindClient]
		add(series{name: name, kind: "histogram", unit: "s", sum: took}, kept...)
	}
	if reason, op, some := strings.Cut(avoided, " "); some {
		add(series{name: "fiscope.queries.avoided", kind: "counter", unit: "{query}"},
			attribute.String("fiscope.avoided.reason", reason), attribute.String("fiscope.operation", op))
	}
	for _, s := range sums {
		lines = append(lines, s.String())
	}
	slices.Sort(lines)
	return lines
}

func outcomes(t testing.TB) map[string]outcome {
	record, away := contract(t, 200, "consultar_200.json"), testservice.Raw(503, "")
	slowly := testservice.After(time.Second, record)
	one, lookedUp := tried(lookup, "0s to 0s", "status=200"), ended(lookup, "0s to 0s", found)
	return map[string]outcome{
		"a result with something odd": {
			answer: testservice.Raw(200, strings.Replace(sample(t, "consultar_200.json"), "ACTIVO", "OTROS", 1)), calls: consult,
			spans: []string{one, ended(lookup, "0s to 0s", found+" warnings=1")},
		},
		"nobody has that RUC": {
			answer: contract(t, 404, "consultar_404.json"), calls: consult,
			spans: []string{tried(lookup, "0s to 0s", "status=404"), ended(lookup, "0s to 0s", "outcome=not_found source=service attempts=1")},
		},
		"another server's 404": {
			answer: testservice.Raw(404, "<html><title>nginx</title></html>"), calls: consult,
			spans: []string{
				tried(lookup, "0s to 0s", "error=malformed_response status=404"),
				ended(lookup, "0s to 0s", "error=malformed_response outcome=error source=service attempts=1"),
			},
		},
		"an outage, with two retries": {
			answer: testservice.After(time.Second, away), opts: []fiscope.Option{atOnce(2)}, calls: consult,
			spans: []string{
				tried(lookup, "0s to 1s", "error=unavailable status=503"),
				tried(lookup, "1s to 2s", "error=unavailable status=503 resend=1"),
				tried(lookup, "2s to 3s", "error=unavailable status=503 resend=2"),
				ended(lookup, "0s to 3s", "error=unavailable outcome=error source=service attempts=3"),
			},
		},
		"a refused clave, and again": {
			answer: contract(t, 401, "validar_401.json"),
			calls:  func(ctx context.Context, c *fiscope.Client) { validateOnce(ctx, c); validateOnce(ctx, c) },
			spans: []string{
				tried(validate, "0s to 0s", "error=invalid_sol_credentials status=401"),
				ended(validate, "0s to 0s", "error=invalid_sol_credentials outcome=error source=service attempts=1"),
				ended(validate, "0s to 0s", "error=sol_credentials_blocked outcome=error source=client attempts=0"),
			},
			avoided: "sol " + validate,
		},
		"a validation whose caller leaves": {
			answer: testservice.After(3*time.Second, contract(t, 200, "validar_200_aceptado.json")),
			calls: func(ctx context.Context, c *fiscope.Client) {
				ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
				validateOnce(ctx, c)
			},
			spans: []string{
				ended(validate, "0s to 2s", "error=unavailable outcome=error source=unknown attempts=1"),
				tried(validate, "0s to 3s", "status=200"),
			},
		},
		"the cache": {
			answer: slowly, opts: []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})}, calls: consultTwice,
			spans: []string{
				tried(lookup, "0s to 1s", "status=200"), ended(lookup, "0s to 1s", found),
				ended(lookup, "1s to 1s", "outcome=result source=cache attempts=0"),
			},
			avoided: "cached " + lookup,
		},
		"a shared query": {
			answer: slowly, opts: []fiscope.Option{fiscope.WithCoalescing()},
			calls: func(ctx context.Context, c *fiscope.Client) {
				var all sync.WaitGroup
				all.Go(func() { consult(ctx, c) })
				all.Go(func() { time.Sleep(time.Second / 2); consult(ctx, c) })
				all.Wait()
			},
			spans: []string{
				tried(lookup, "0s to 1s", "status=200"), ended(lookup, "0s to 1s", found),
				ended(lookup, "500ms to 1s", "outcome=result source=shared attempts=1"),
			},
			avoided: "coalesced " + lookup,
		},
		"a Respaldo": {
			answer: away, opts: []fiscope.Option{atOnce(0), fiscope.WithRespaldo(reserve{})}, calls: consult,
			spans: []string{tried(lookup, "0s to 0s", "error=unavailable status=503"), ended(lookup, "0s to 0s", "outcome=result source=registry attempts=1")},
		},
		"cancelled before": {
			calls: func(ctx context.Context, c *fiscope.Client) {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				consult(ctx, c)
			},
			spans:   []string{ended(lookup, "0s to 0s", "error=canceled outcome=error source=client attempts=0")},
			avoided: "out_of_time " + lookup,
		},
		"cancelled meanwhile": {
			answer: slowly,
			calls: func(ctx context.Context, c *fiscope.Client) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(time.Second/2, cancel)
				consult(ctx, c)
			},
			spans: []string{
				tried(lookup, "0s to 500ms", "error=canceled delivery=unknown"),
				ended(lookup, "0s to 500ms", "error=canceled outcome=error source=unknown attempts=1"),
			},
		},
		"a panic of the transport": {
			answer: func(*http.Request) (*http.Response, error) { panic("boom " + ruc) }, calls: consult,
			spans: []string{ended(lookup, "0s to 0s", "error=other outcome=error source=unknown attempts=0")},
		},
		"a panic of one's own hook": {
			hook: func(context.Context, fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
				panic("boom")
			},
			calls: consult,
			spans: []string{ended(lookup, "0s to 0s", "error=other outcome=error source=unknown attempts=0")},
		},
		"a panic at the end of one's own hook": {
			hook: func(ctx context.Context, _ fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
				return ctx, func(fiscope.Response, error) { panic("boom") }
			},
			answer: record, calls: consult, spans: []string{one, lookedUp},
		},
		"an operation made of others": {
			answer: func(r *http.Request) (*http.Response, error) {
				return testservice.Raw(200, strings.Replace(sample(t, "tipocambio_200.json"), "2026-11-20", r.URL.Query().Get("fecha"), 1))(r)
			},
			calls: func(ctx context.Context, c *fiscope.Client) {
				_, _ = c.TipoCambio.SUNAT(ctx, fiscope.NewFecha(1999, time.November, 16))
			},
			spans: []string{
				tried(rate, "0s to 0s", "status=200"), ended("TipoCambio.SUNAT", "0s to 0s", found),
				strings.Replace(ended(rate, "0s to 0s", found), "in nothing", "in TipoCambio.SUNAT", 1),
			},
		},
		"a rate that is not out yet": {
			calls: func(ctx context.Context, c *fiscope.Client) {
				_, _ = c.TipoCambio.UltimoPublicado(ctx, fiscope.NewFecha(2000, time.January, 3))
			},
			spans:   []string{ended("TipoCambio.UltimoPublicado", "0s to 0s", "outcome=not_yet_published source=client attempts=0")},
			avoided: "unpublished TipoCambio.UltimoPublicado",
		},
		"a batch": {
			answer: record,
			calls: func(ctx context.Context, c *fiscope.Client) {
				for range c.Contribuyentes.ConsultarLote(ctx, slices.Values([]string{ruc, "12", ruc}), fiscope.LotePolicy{Concurrency: 1}) {
				}
			},
			spans:   []string{one, lookedUp, ended(lookup, "0s to 0s", "error=invalid_request outcome=error source=client attempts=0")},
			avoided: "invalid " + lookup,
		},
		"a batch that cannot begin": {
			calls: func(ctx context.Context, c *fiscope.Client) {
				for range c.Contribuyentes.ConsultarLote(ctx, slices.Values([]string{ruc}), fiscope.LotePolicy{From: -1}) {
				}
			},
			avoided: "invalid Contribuyentes.ConsultarLote",
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
				func() {
					defer func() { _ = recover() }()
					test.calls(t.Context(), client)
				}()
				require.NoError(t, client.Close(t.Context()))
				assert.Empty(t, cmp.Diff(slices.Sorted(slices.Values(test.spans)), slices.Sorted(slices.Values(r.traced()))))
				assert.Empty(t, cmp.Diff(metricsOf(r, test.avoided), lines(t, r.measured(t))))
			})
		})
	}
}
