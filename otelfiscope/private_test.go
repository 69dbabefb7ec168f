package otelfiscope_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/testservice"
)

// words are the values that an attribute may have, besides numbers.
var words = map[attribute.Key][]string{
	"fiscope.operation": {
		"Contribuyentes.Consultar", "Contribuyentes.Buscar", "Contribuyentes.ConsultarLote", "CPE.Validar", "CPE.Esperar", "CPE.ValidarLote",
		"TipoCambio.Consultar", "TipoCambio.Hoy", "TipoCambio.UltimoPublicado", "TipoCambio.SUNAT", "TipoCambio.MasReciente", "TipoCambio.Mes",
	},
	"fiscope.outcome":        {"result", "not_found", "not_yet_published", "error"},
	"fiscope.source":         {"service", "cache", "stale", "shared", "registry", "client", "unknown"},
	"fiscope.delivery":       {"unknown", "not_sent"},
	"fiscope.avoided.reason": {"invalid", "quota", "sol", "unpublished", "out_of_time", "cached", "coalesced", "outage"},
	"error.type": {
		"invalid_request", "search_too_short", "invalid_sol_credentials", "sol_credentials_blocked", "unauthorized", "quota_exceeded",
		"unavailable", "malformed_response", "redirect", "canceled", "deadline_exceeded", "other",
	},
	"http.request.method": {"GET", "POST"},
}

// numbers are the attributes that are one, and the highest.
var numbers = map[attribute.Key]int64{
	"fiscope.attempts": 100, "fiscope.warnings": 100, "http.request.resend_count": 10, "http.response.status_code": 999,
}

// known fails for an attribute, as written, that may say anything of a call.
func known(t *testing.T, attributes string) {
	t.Helper()
	for a := range strings.FieldsSeq(attributes) {
		key, value, _ := strings.Cut(a, "=")
		if highest, ok := numbers[attribute.Key(key)]; ok {
			n, err := strconv.ParseInt(value, 10, 64)
			require.NoError(t, err, key)
			assert.LessOrEqual(t, n, highest, key)
			continue
		}
		assert.Contains(t, words[attribute.Key(key)], value, key)
	}
}

// private are the texts that may stand nowhere, in any writing of capitals.
var private = []string{
	ruc, ruc[:10], ruc[:2] + "…" + ruc[8:], "…" + ruc[8:], emisor, emisor[:10], "…" + emisor[8:], "F001",
	nombre, "muestra", "compañía", usuario, clave, apiKey, host, "inquilino", "fiscal.example", "consultas", "/api/",
}

// nothingPrivate fails where a part of what was exported says anything of a call.
func nothingPrivate(t *testing.T, r *recorder) {
	t.Helper()
	var all strings.Builder
	for _, s := range r.spans.GetSpans() {
		known(t, written(s.Attributes))
		assert.Contains(t, append(words["fiscope.operation"], "GET", "POST"), s.Name)
		assert.Empty(t, s.Events)
		assert.Empty(t, s.Links)
		assert.Empty(t, s.Status.Description)
		assert.Zero(t, s.SpanContext.TraceState().Len())
		fmt.Fprintln(&all, s.Name, s.Attributes, s.Events, s.Links, s.Status, s.SpanContext.TraceState(), s.InstrumentationScope)
	}
	for _, scope := range r.collect(t).ScopeMetrics {
		fmt.Fprintln(&all, scope.Scope)
	}
	for _, s := range r.measured(t) {
		fmt.Fprintln(&all, s.name, s.attributes)
		known(t, s.attributes)
	}
	shown := strings.ToLower(all.String())
	for _, s := range private {
		if strings.Contains(shown, strings.ToLower(s)) {
			t.Errorf("%q stands in what is exported:\n%s", s, all.String())
		}
	}
}

// everything are calls of all operations.
func everything(ctx context.Context, c *fiscope.Client) {
	fecha := fiscope.NewFecha(1999, time.November, 16)
	for _, call := range []func(){
		func() { consult(ctx, c) },
		func() { _, _ = c.Contribuyentes.Consultar(ctx, ruc[:10]) },
		func() { _, _ = c.Contribuyentes.Consultar(ctx, ruc+"/"+clave) },
		func() { _, _ = c.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: nombre}) },
		func() { _, _ = c.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: nombre[:2]}) },
		func() {
			for range c.Contribuyentes.ConsultarLote(ctx, slices.Values([]string{ruc, emisor, nombre}), fiscope.LotePolicy{}) {
			}
		},
		func() { _, _ = c.TipoCambio.Consultar(ctx, fecha) },
		func() { _, _ = c.TipoCambio.Hoy(ctx) },
		func() { _, _ = c.TipoCambio.SUNAT(ctx, fecha) },
		func() { _, _ = c.TipoCambio.UltimoPublicado(ctx, fecha) },
		func() { _, _ = c.TipoCambio.MasReciente(ctx) },
		func() {
			for range c.TipoCambio.Mes(ctx, 1999, time.November) {
			}
		},
		func() { validateOnce(ctx, c) },
		func() { _, _ = c.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{MaxAttempts: 2}) },
		func() {
			for range c.CPE.ValidarLote(ctx, slices.Values([]fiscope.Comprobante{factura, {}}), credenciales, fiscope.LotePolicy{}) {
			}
		},
	} {
		func() {
			defer func() { _ = recover() }()
			call()
		}()
	}
}

// echo repeats what it was asked, with whatever else a server could know, in every part of an answer.
func echo(status int, body, code string) testservice.Answer {
	return func(r *http.Request) (*http.Response, error) {
		asked := r.URL.String() + " " + r.Header.Get("X-Api-Key") + " " + strings.Join(private, " ")
		if r.Body != nil {
			sent, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			asked += string(sent)
		}
		text, err := json.Marshal(map[string]string{"error": asked, "code": code})
		if err != nil {
			return nil, err
		}
		if body != "" {
			text = []byte(strings.ReplaceAll(body, "ECHO", asked))
		}
		header := strings.Map(func(c rune) rune {
			if c < ' ' || c > '~' {
				return '?'
			}
			return c
		}, asked)
		return testservice.Raw(status, string(text), "X-Request-Id: "+header, "Location: https://"+host+"/"+ruc, "Retry-After: "+header, "X-RateLimit-Limit: "+header)(r)
	}
}

func TestNothingPrivateIsExported(t *testing.T) {
	answers := map[string]testservice.Answer{
		"no connection": func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("dial %s: %w", r.URL, errors.New(strings.Join(private, " ")))
		},
		"a panic":    func(r *http.Request) (*http.Response, error) { panic(r.URL.String() + apiKey) },
		"HTML":       echo(200, "<html>ECHO</html>", ""),
		"null":       echo(200, "null", ""),
		"cut":        echo(200, `{"ruc":"ECHO`, ""),
		"a redirect": echo(302, "", ""),
		"a taxpayer": echo(200, `{"ruc":"20131312955","razonSocial":"ECHO","estado":"ECHO","condicion":"ECHO"}`, ""),
		"a list":     echo(200, `[{"ruc":"20131312955","razonSocial":"ECHO","estado":"ECHO","condicion":"ECHO"}]`, ""),
		"a receipt":  echo(200, `{"codigo":"ECHO","mensaje":"ECHO","estado":"ECHO","esValido":true}`, ""),
	}
	for _, status := range []int{200, 201, 204, 299, 400, 401, 403, 404, 408, 413, 429, 500, 503, 599, 999, 1000, 2013131295} {
		for _, code := range []string{"", "NOT_FOUND", "INVALID_SOL_CREDENTIALS", "SEARCH_TOO_SHORT", ruc, clave} {
			answers[fmt.Sprint(status, " ", code)] = echo(status, "", code)
		}
	}
	for name, o := range outcomes(t) {
		if o.answer != nil {
			answers["as in "+name] = o.answer
		}
	}
	for by, opts := range map[string][]fiscope.Option{
		"alone":  nil,
		"shared": {fiscope.WithCache(fiscope.CachePolicy{StaleIfError: time.Hour}), fiscope.WithRespaldo(reserve{}), fiscope.WithLenientReading()},
	} {
		for name, a := range answers {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRecorder(t)
					tel := r.telemetry(t)
					client := connect(t, tel, a, append(opts, atOnce(1))...)
					_, err := tel.ObserveQuota(client)
					require.NoError(t, err)
					everything(t.Context(), client)
					require.NoError(t, client.Close(t.Context()))
					assert.NotEmpty(t, r.traced())
					nothingPrivate(t, r)
				})
			})
		}
	}
}
