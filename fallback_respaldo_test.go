package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// registro is a Respaldo that a test wrote.
type registro func(ctx context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error)

func (r registro) Contribuyente(ctx context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
	return r(ctx, ruc)
}

var jueves = fiscope.NewFecha(2026, time.November, 19)

// archived is the record that a registry has of a RUC.
func archived(ruc string) fiscope.Contribuyente {
	return fiscope.Contribuyente{RUC: ruc, RazonSocial: "DEL PADRON S.A.", Estado: "ACTIVO", Condicion: "HABIDO", Direccion: "AV. UNO 1 LIMA - LIMA - LIMA", Ubigeo: "150101"}
}

// padronDelJueves has every RUC, and counts how often it is asked.
func padronDelJueves(asked *atomic.Int64) registro {
	return func(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
		asked.Add(1)
		c := archived(ruc)
		return &c, jueves, nil
	}
}

func TestARespaldoAnswersIfTheServiceGaveNoUsableAnswer(t *testing.T) {
	notFound := contract(t, "consultar_404.json")
	ends := func(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
	}
	cancels := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		return ctx, cancel
	}
	spent := raw(200, change(record, rucSUNAT, rucEmisor), "X-RateLimit-Remaining: 3", "X-RateLimit-Reset: 2000-01-01T05:00:00Z")
	other := raw(200, change(record, rucSUNAT, rucEmisor))
	for name, test := range map[string]struct {
		answer  handler
		opts    []fiscope.Option
		first   bool // another RUC is asked before
		ctx     func(context.Context) (context.Context, context.CancelFunc)
		class   string
		answers bool // the Respaldo
	}{
		"500":                            {answer: raw(500, ""), class: "unavailable", answers: true},
		"503, with retries":              {answer: raw(503, ""), opts: []fiscope.Option{fiscope.WithMaxRetries(2)}, class: "unavailable", answers: true},
		"408":                            {answer: raw(408, ""), class: "unavailable", answers: true},
		"no connection":                  {answer: broken(errors.New("connection refused")), class: "unavailable", answers: true},
		"a body that breaks off":         {answer: with(200, &body{text: io.MultiReader(strings.NewReader(record), errReader{io.ErrUnexpectedEOF})}), class: "unavailable", answers: true},
		"a firewall's page":              {answer: raw(403, "<html>Forbidden"), class: "unavailable", answers: true},
		"a page with 400":                {answer: raw(400, " <html>mod_security"), class: "invalid_request", answers: true},
		"a maintenance page":             {answer: raw(200, "<html><title>Estamos en mantenimiento</title>"), class: "malformed_response", answers: true},
		"another server's 404":           {answer: raw(404, "<html>nginx"), class: "malformed_response", answers: true},
		"a redirect":                     {answer: raw(302, "", "Location: https://elsewhere.example/"), class: "redirect", answers: true},
		"an attempt runs out of time":    {answer: hangs, class: "unavailable", answers: true},
		"the caller runs out of time":    {answer: hangs, ctx: ends(time.Second), class: "unavailable", answers: true},
		"the limiter is beyond its time": {answer: other, opts: []fiscope.Option{fiscope.WithRateLimit(0.01, 1)}, first: true, ctx: ends(5 * time.Second), class: "deadline_exceeded", answers: true},
		"429":                            {answer: raw(429, ""), class: "quota_exceeded", answers: true},
		"401 of a spent quota":           {answer: raw(401, "", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T05:00:00Z"), class: "quota_exceeded", answers: true},
		"the rest is kept for others":    {answer: spent, opts: []fiscope.Option{fiscope.WithQuotaReserve(5)}, first: true, class: "quota_exceeded", answers: true},
		"404":                            {answer: raw(404, notFound), class: "not_found"},
		"NOT_FOUND with 503":             {answer: raw(503, notFound), class: "not_found"},
		"401":                            {answer: raw(401, `{"error":"clave inválida"}`), class: "unauthorized"},
		"403":                            {answer: raw(403, `{"error":"clave inválida"}`), class: "unauthorized"},
		"another RUC":                    {answer: other, class: "malformed_response"},
		"400":                            {answer: raw(400, ""), class: "invalid_request"},
		"the caller's time was over":     {answer: raw(503, ""), ctx: ends(-1), class: "deadline_exceeded"},
		"the caller leaves":              {answer: hangs, ctx: cancels, class: "canceled"},
		"the service answers":            {answer: raw(200, record)},
	} {
		for by, shared := range alone {
			inBubble(t, name+", "+by, func(t *testing.T) {
				ask := func(more ...fiscope.Option) (*fiscope.Contribuyente, fiscope.Response, error) {
					opts := append(append(append([]fiscope.Option{fiscope.WithMaxRetries(0)}, shared...), test.opts...), more...)
					client := newClient(t, test.answer, opts...)
					if test.first {
						_, err := client.Contribuyentes.Consultar(t.Context(), rucEmisor)
						require.NoError(t, err)
					}
					ctx, cancel := t.Context(), func() {}
					if test.ctx != nil {
						ctx, cancel = test.ctx(ctx)
					}
					defer cancel()
					var resp fiscope.Response
					c, err := client.Contribuyentes.Consultar(ctx, rucSUNAT, fiscope.WithResponse(&resp))
					return c, resp, err
				}
				var asked atomic.Int64
				_, without, failure := ask()
				c, resp, err := ask(fiscope.WithRespaldo(padronDelJueves(&asked)))
				assert.Equal(t, test.class, fiscope.ErrorClass(failure))
				if !test.answers {
					assert.Zero(t, asked.Load())
					assert.Equal(t, fmt.Sprint(failure), fmt.Sprint(err))
					assert.Empty(t, cmp.Diff(without, resp))
					return
				}
				require.NoError(t, err)
				assert.EqualValues(t, 1, asked.Load())
				want := archived(rucSUNAT)
				assert.Empty(t, cmp.Diff(&want, c))
				without.Source, without.AsOf, without.Duration = fiscope.SourceRespaldo, jueves.En(fiscope.Lima), resp.Duration
				without.Body = resp.Body // one that breaks off is read once
				assert.Empty(t, cmp.Diff(without, resp), "the rest is of the failure")
			})
		}
	}
}

func TestARespaldoThatHasNothingLeavesTheServicesError(t *testing.T) {
	has := func(change func(*fiscope.Contribuyente), err error) registro {
		return func(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
			c := archived(ruc)
			change(&c)
			return &c, jueves, err
		}
	}
	same := func(*fiscope.Contribuyente) {}
	for name, test := range map[string]struct {
		respaldo registro
		level    slog.Level
		says     string // "" if nothing is logged
	}{
		"it lacks the RUC":      {func(context.Context, string) (*fiscope.Contribuyente, fiscope.Fecha, error) { return nil, jueves, nil }, 0, ""},
		"... in its own words":  {has(same, fmt.Errorf("padron: %w", fiscope.ErrNotFound)), 0, ""},
		"it fails":              {has(same, errors.New("the disk of "+rucSUNAT+" is gone")), slog.LevelWarn, "the disk of 20…955 is gone"},
		"... with a secret":     {has(same, errors.New("the disk of "+apiKey)), slog.LevelWarn, "(not shown: it repeats a credential)"},
		"... as the service":    {has(same, &fiscope.Error{Err: fiscope.ErrUnauthorized}), slog.LevelWarn, "unauthorized"},
		"it panics":             {has(func(*fiscope.Contribuyente) { panic("boom") }, nil), slog.LevelError, "boom"},
		"it ends its goroutine": {has(func(*fiscope.Contribuyente) { runtime.Goexit() }, nil), 0, ""},
		"another RUC":           {has(func(c *fiscope.Contribuyente) { c.RUC = rucEmisor }, nil), slog.LevelWarn, "asked for the RUC 20…955, its record is of 20…970"},
		"no name":               {has(func(c *fiscope.Contribuyente) { c.RazonSocial = " - " }, nil), slog.LevelWarn, "its record of the RUC 20…955 has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			var w watch
			client := newClient(t, raw(503, `{"error":"caído","code":"X"}`), append(w.options(), fiscope.WithMaxRetries(0), fiscope.WithRespaldo(test.respaldo))...)
			var resp fiscope.Response
			c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
			assert.Nil(t, c)
			require.EqualError(t, err, `fiscope: Contribuyentes.Consultar: service unavailable (HTTP 503 X): the answer says "caído"`)
			require.NotErrorIs(t, err, fiscope.ErrNotFound)
			assert.Equal(t, fiscope.SourceService, resp.Source)
			assert.Equal(t, 503, resp.StatusCode)
			assert.Zero(t, client.Stats().Respaldo)
			events, records := w.seen()
			assert.Len(t, events, 1)
			if test.says == "" {
				assert.Len(t, records, 1)
				return
			}
			require.Len(t, records, 2)
			assert.Equal(t, test.level, records[1].level)
			assert.Contains(t, records[1].text, test.says)
			assert.False(t, leaks(records[1].text, apiKey))
		})
	}
}

func TestWhatIsOddInARespaldoIsWarnedOf(t *testing.T) {
	noDay := fiscope.NewFecha(2026, time.February, 30)
	for name, test := range map[string]struct {
		change func(*fiscope.Contribuyente)
		fecha  fiscope.Fecha
		says   string // "" if nothing is odd
	}{
		"nothing":             {func(c *fiscope.Contribuyente) { c.Estado, c.Condicion = "BAJA MULT.INSCR. Y O", "-" }, jueves, ""},
		"an unknown estado":   {func(c *fiscope.Contribuyente) { c.Estado = "OTROS" }, jueves, `estado "OTROS" is unknown`},
		"an impossible day":   {func(c *fiscope.Contribuyente) { c.FechaInscripcion = noDay }, jueves, "not a day of the calendar: 2026-02-30"},
		"data of no day":      {func(*fiscope.Contribuyente) {}, fiscope.Fecha{}, "of which day its data is"},
		"data of no such day": {func(*fiscope.Contribuyente) {}, noDay, "of which day its data is"},
	} {
		t.Run(name, func(t *testing.T) {
			c := archived(rucSUNAT)
			test.change(&c)
			client := newClient(t, raw(501, "", "X-RateLimit-Limit: x"), fiscope.WithRespaldo(registro(func(context.Context, string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
				return &c, test.fecha, nil
			})))
			var resp fiscope.Response
			got, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
			require.NoError(t, err)
			assert.NotSame(t, &c, got, "the registry keeps its own")
			assert.True(t, got.FechaInscripcion.IsZero())
			assert.True(t, resp.AsOf.IsZero() || resp.AsOf.Equal(jueves.En(fiscope.Lima)))
			require.NotEmpty(t, resp.Warnings)
			assert.Contains(t, resp.Warnings[0], "X-Ratelimit-Limit", "what was odd in the failure")
			if test.says == "" {
				assert.Len(t, resp.Warnings, 1)
				return
			}
			assert.Contains(t, resp.Warnings[1], test.says)
		})
	}
}

func TestAnAnswerOfTheRespaldoIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watch
		var s spans
		slow := registro(func(ctx context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
			assert.NotNil(t, ctx.Value(keyOfSpan{}), "it is within the hook")
			time.Sleep(3 * time.Second)
			c := archived(ruc)
			return &c, jueves, nil
		})
		client := newClient(t, slowly(raw(503, "")), append(w.options(), fiscope.WithHook(s.hook), fiscope.WithRespaldo(slow), fiscope.WithMaxRetries(0))...)
		var resp fiscope.Response
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
		assert.Equal(t, 4*time.Second, resp.Duration)

		events, records := w.seen()
		require.Len(t, events, 2)
		require.ErrorIs(t, events[0].Err, fiscope.ErrUnavailable, "the failure stays to be seen")
		assert.Empty(t, cmp.Diff(fiscope.Event{Op: fiscope.OpConsultarContribuyente, Duration: 4 * time.Second, Delivery: fiscope.DeliveryAnswered, Source: fiscope.SourceRespaldo, AsOf: jueves.En(fiscope.Lima)}, events[1]))
		require.Len(t, records, 2)
		assert.Equal(t, slog.LevelDebug, records[1].level, "the line of the failure says it")
		assert.Equal(t, "fiscope: answered from the Respaldo", records[1].message)
		assert.Contains(t, records[1].text, "source=registry asOf=2026-11-19 00:00:00")
		ended := s.seen(t)
		require.Len(t, ended, 1)
		require.NoError(t, ended[0].err)
		assert.Empty(t, cmp.Diff(resp, ended[0].resp))
		stats := client.Stats()
		assert.Equal(t, [3]int64{1, 1, 1}, [3]int64{stats.Respaldo, stats.Calls, stats.Attempts})
	})
}

func TestARespaldoOfACallOrOfAClient(t *testing.T) {
	named := func(name string) fiscope.SharedOption {
		return fiscope.WithRespaldo(registro(func(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
			c := archived(ruc)
			c.RazonSocial = name
			return &c, jueves, nil
		}))
	}
	ofClient, ofCall := []fiscope.Option{named("CLIENTE")}, []fiscope.CallOption{named("LLAMADA")}
	for name, test := range map[string]struct {
		client []fiscope.Option
		call   []fiscope.CallOption
		want   string // "" for the service's error
	}{
		"off":                             {nil, nil, ""},
		"of the client":                   {ofClient, nil, "CLIENTE"},
		"of the call, over the client's":  {ofClient, ofCall, "LLAMADA"},
		"of the client, not for this one": {ofClient, []fiscope.CallOption{fiscope.WithoutCache()}, ""},
		"of a call without the cache":     {nil, append(ofCall, fiscope.WithoutCache()), "LLAMADA"},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, raw(501, ""), test.client...)
			c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, test.call...)
			if test.want == "" {
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, c.RazonSocial)
		})
	}
	client := newClient(t, raw(501, ""), ofClient...)
	for range 4 { // after three failures it is asked first
		require.ErrorIs(t, second(client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: rucSUNAT}, ofCall...)), fiscope.ErrUnavailable, "other operations have no use for it")
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.ErrorIs(t, second(client.Contribuyentes.Consultar(t.Context(), "x")), fiscope.ErrInvalidRequest)
	}
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithRespaldo(nil))
	require.EqualError(t, err, "fiscope: invalid request: the Respaldo of WithRespaldo is nil")
	require.ErrorIs(t, operations["consultar"](t.Context(), client, fiscope.WithRespaldo(nil)), fiscope.ErrInvalidRequest)
}

// A key that expires at noon, a plan that is not paid and a version that is withdrawn do not stop a point of sale.
func TestTheRespaldoAnswersWhileTheKeyIsRefused(t *testing.T) {
	expired := raw(401, `{"error":"La clave venció.","code":"KEY_EXPIRED"}`)
	for name, test := range map[string]struct {
		answer  handler
		before  handler // of the call before; nil for none
		op      string
		answers bool
	}{
		"a key that was accepted before":     {expired, raw(200, record), "consultar", true},
		"... with a NOT_FOUND":               {expired, raw(404, contract(t, "consultar_404.json")), "consultar", true},
		"... and 403":                        {raw(403, `{"error":"Sin permiso","code":"FORBIDDEN"}`), raw(200, record), "consultar", true},
		"a plan that is not paid":            {raw(402, `{"error":"Plan vencido"}`), raw(200, record), "consultar", true},
		"a key that never was":               {expired, nil, "consultar", false},
		"a plan that never was paid":         {raw(402, ""), nil, "consultar", false},
		"a 401 that does not say what":       {raw(401, `{"error":"no"}`), raw(200, record), "consultar", false},
		"a version that is withdrawn":        {raw(410, `{"error":"use v2"}`), nil, "consultar", true},
		"a record that contradicts itself":   {raw(200, change(record, `"ACTIVO"`, "true")), nil, "consultar", true},
		"another taxpayer":                   {raw(200, change(record, rucSUNAT, rucEmisor)), nil, "consultar", false},
		"another taxpayer, as a JSON number": {raw(200, change(record, `"`+rucSUNAT+`"`, rucEmisor)), nil, "consultar", false},
		"a rate":                             {expired, raw(200, record), "tipocambio", false},
	} {
		t.Run(name, func(t *testing.T) {
			var w watch
			var asked atomic.Int64
			client, s := newChangingClient(t, test.answer, append(w.options(), fiscope.WithRespaldo(padronDelJueves(&asked)), fiscope.WithMaxRetries(0))...)
			if test.before != nil {
				s.become(test.before)
				_ = operations["consultar"](t.Context(), client)
				s.become(test.answer)
			}
			var resp fiscope.Response
			err := operations[test.op](t.Context(), client, fiscope.WithResponse(&resp))
			assert.Equal(t, test.answers, err == nil, err)
			assert.Equal(t, test.answers, resp.Source == fiscope.SourceRespaldo)
			if !test.answers {
				return
			}
			if resp.StatusCode != http.StatusGone {
				assert.Contains(t, resp.Warnings[len(resp.Warnings)-1], fmt.Sprintf("HTTP %d", resp.StatusCode))
			}
			if resp.StatusCode >= 401 && resp.StatusCode <= 403 {
				_, records := w.seen()
				assert.True(t, slices.ContainsFunc(records, func(l logLine) bool { return l.level == slog.LevelError }), "an operator sees it")
			}
		})
	}
}

// A process that begins after the key expired asks the Store whether another one saw it accepted, also on the next day.
func TestTheStoreKnowsAnAcceptedKey(t *testing.T) {
	headers := []string{"X-RateLimit-Limit: 100", "X-RateLimit-Remaining: 99", "X-RateLimit-Reset: 2000-01-02T00:00:00Z"}
	for name, test := range map[string]struct {
		before handler
		change func(*memoryStore)
		want   error // nil: the Respaldo answers
	}{
		"it was accepted":       {raw(200, record, headers...), sound, nil},
		"... with a NOT_FOUND":  {raw(404, contract(t, "consultar_404.json")), sound, nil},
		"its quota is known":    {raw(500, "", "X-RateLimit-Remaining: 99", "X-RateLimit-Reset: 2000-01-02T12:00:00Z"), sound, nil},
		"... the Store is away": {raw(200, record), away, fiscope.ErrUnauthorized},
		"it was always refused": {raw(401, `{"error":"x","code":"KEY_UNKNOWN"}`, headers...), sound, fiscope.ErrUnauthorized},
		"it failed":             {raw(500, ""), sound, fiscope.ErrUnauthorized},
	} {
		for when, later := range map[string]time.Duration{"the same day": time.Hour, "the next day": 25 * time.Hour} {
			inBubble(t, name+", "+when, func(t *testing.T) {
				s := newMemoryStore()
				_ = operations["consultar"](t.Context(), withStore(t, s, test.before))
				time.Sleep(later)
				s.set(test.change)
				expired := raw(401, `{"error":"La clave venció.","code":"KEY_EXPIRED"}`)
				client := withStore(t, s, expired, fiscope.WithRespaldo(padronDelJueves(new(atomic.Int64))))
				require.ErrorIs(t, consultar(t.Context(), client, 2), test.want)
			})
		}
	}
}

// While the service hangs, callers who leave after some seconds get the Respaldo's answer, though no call of theirs failed.
func TestImpatientCallersGetTheRespaldo(t *testing.T) {
	for name, opts := range map[string][]fiscope.Option{"without a cache": nil, "with one": {fiscope.WithCache(fiscope.CachePolicy{})}} {
		for wait, want := range map[time.Duration]fiscope.Source{3 * time.Second: fiscope.SourceRespaldo, time.Second: ""} {
			inBubble(t, fmt.Sprint(name, ", ", wait), func(t *testing.T) {
				client, s := newChangingClient(t, hangs, append(opts, fiscope.WithRespaldo(padronDelJueves(new(atomic.Int64))))...)
				call := func(ruc string) (resp fiscope.Response) {
					ctx, cancel := context.WithCancel(t.Context())
					defer time.AfterFunc(wait, cancel).Stop()
					_, err := client.Contribuyentes.Consultar(ctx, ruc, fiscope.WithResponse(&resp))
					assert.True(t, err == nil || errors.Is(err, context.Canceled), err)
					return resp
				}
				for i := range 3 {
					assert.Empty(t, call(ruc(i)).Source)
				}
				assert.Equal(t, want, call(ruc(3)).Source)
				assert.Equal(t, want != "", client.Stats().Avoided[fiscope.AvoidedOutage] == 1)
				s.become(raw(200, record))
				time.Sleep(time.Minute) // a probe ends it
				_ = call("20131312955")
				synctest.Wait()
				assert.NotEqual(t, fiscope.SourceRespaldo, call("20131312955").Source)
			})
		}
	}
}

// A stale answer is the service's own: it comes before the Respaldo, for as long as the policy says.
func TestAStaleAnswerComesFirst(t *testing.T) {
	for after, want := range map[time.Duration]fiscope.Source{
		36*time.Hour - 1: fiscope.SourceStale, 36 * time.Hour: fiscope.SourceRespaldo,
	} {
		synctest.Test(t, func(t *testing.T) {
			client, s := newChangingClient(t, raw(200, record), fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 24 * time.Hour}), fiscope.WithRespaldo(padronDelJueves(new(atomic.Int64))))
			require.NoError(t, operations["consultar"](t.Context(), client))
			s.become(raw(503, ""))
			time.Sleep(after)
			var resp fiscope.Response
			require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
			assert.Equal(t, want, resp.Source)
		})
	}
}

// A stale rate stands in for no answer, never for one that contradicts itself or refuses the key.
func TestAStaleRateIsForAnOutageAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rate := change(price, "2026-11-20", "1999-12-31") // today in Lima
		client, s := newChangingClient(t, raw(200, rate), fiscope.WithCache(fiscope.CachePolicy{StaleIfError: 24 * time.Hour}))
		ask := func() error {
			return second(client.TipoCambio.Consultar(t.Context(), fiscope.NewFecha(1999, time.December, 31)))
		}
		require.NoError(t, ask())
		time.Sleep(12 * time.Hour)
		s.become(raw(200, change(rate, `"USD"`, `"EUR"`)))
		require.ErrorIs(t, ask(), fiscope.ErrMalformedResponse)
		s.become(raw(401, `{"error":"La clave venció.","code":"KEY_EXPIRED"}`))
		require.ErrorIs(t, ask(), fiscope.ErrUnauthorized)
		s.become(raw(503, ""))
		require.NoError(t, ask())
	})
}

// The service hangs, and so does the question whether it is back.
func TestCloseWaitsForAProbeNoLongerThanItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := newChangingClient(t, hangs, fiscope.WithTimeout(time.Hour), fiscope.WithRespaldo(padronDelJueves(new(atomic.Int64))))
		for range 4 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			require.NoError(t, operations["consultar"](ctx, client))
			cancel()
			time.Sleep(5 * time.Second)
		}
		require.EqualValues(t, 4, s.asked.Load(), "the last one in the background")
		start := time.Now()
		require.NoError(t, client.Close(t.Context()))
		assert.LessOrEqual(t, time.Since(start), 30*time.Second)
	})
}

// Ten callers of one query that failed saw one failure.
func TestAFailureOfManyCallersIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := newChangingClient(t, slowly(raw(503, "")), fiscope.WithCoalescing(), fiscope.WithRespaldo(padronDelJueves(new(atomic.Int64))))
		together(10, func(int) { assert.NoError(t, operations["consultar"](t.Context(), client)) })
		require.EqualValues(t, 1, s.asked.Load())
		s.become(raw(200, record))
		var resp fiscope.Response
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
		assert.Equal(t, fiscope.SourceService, resp.Source)
	})
}

func TestABatchStopsAtARefusedKey(t *testing.T) {
	for name, opts := range map[string][]fiscope.Option{"without a Respaldo": nil, "with one": {fiscope.WithRespaldo(padronDelJueves(new(atomic.Int64)))}} {
		t.Run(name, func(t *testing.T) {
			client, s := newChangingClient(t, ofItsRUC, opts...)
			require.NoError(t, operations["consultar"](t.Context(), client))
			s.become(raw(401, `{"error":"La clave venció.","code":"KEY_EXPIRED"}`))
			asked := s.asked.Load()
			lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(100), fiscope.LotePolicy{}))
			require.NotNil(t, stopped)
			require.ErrorIs(t, stopped, fiscope.ErrUnauthorized)
			assert.Empty(t, lines)
			assert.LessOrEqual(t, s.asked.Load()-asked, int64(8), "as many as are asked at a time")
			assert.Zero(t, stopped.Siguiente)
		})
	}
}
