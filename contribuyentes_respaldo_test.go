package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
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

func TestARespaldoAnswersWhereTheServiceCannotBeAsked(t *testing.T) {
	type answer = func(*http.Request) (*http.Response, error)
	hangs := after(time.Hour, raw(200, record))
	notFound := contract(t, "consultar_404.json")
	ends := func(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
	}
	breaksOff := func(r *http.Request) (*http.Response, error) {
		return with(200, &body{text: io.MultiReader(strings.NewReader(record), errReader{io.ErrUnexpectedEOF})})(r)
	}
	cancelled := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx, cancel
	}
	cancels := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		return ctx, cancel
	}
	other := change(record, rucSUNAT, rucEmisor)
	leaves := func(status int, body string, queries int) answer {
		return func(r *http.Request) (*http.Response, error) {
			return raw(status, body, fmt.Sprint("X-RateLimit-Remaining: ", queries), "X-RateLimit-Reset: "+inAnHour())(r)
		}
	}
	for name, test := range map[string]struct {
		answer  answer
		opts    []fiscope.Option
		first   bool // another RUC is asked before
		ruc     string
		ctx     func(context.Context) (context.Context, context.CancelFunc)
		class   string
		answers bool // the Respaldo
	}{
		"500":                              {answer: raw(500, ""), class: "unavailable", answers: true},
		"502, a page":                      {answer: raw(502, "<html>Bad Gateway"), class: "unavailable", answers: true},
		"503":                              {answer: raw(503, `{"error":"caído","code":"X"}`), class: "unavailable", answers: true},
		"408":                              {answer: raw(408, ""), class: "unavailable", answers: true},
		"503, with retries":                {answer: raw(503, ""), opts: []fiscope.Option{fiscope.WithRetry(fiscope.DefaultRetryPolicy())}, class: "unavailable", answers: true},
		"no connection":                    {answer: broken(errors.New("connection refused")), class: "unavailable", answers: true},
		"an attempt runs out of time":      {answer: hangs, class: "unavailable", answers: true},
		"... and the caller has more":      {answer: hangs, ctx: ends(time.Minute), class: "unavailable", answers: true},
		"429":                              {answer: raw(429, ""), class: "quota_exceeded", answers: true},
		"429, come back in a while":        {answer: raw(429, "", "Retry-After: 30"), class: "quota_exceeded", answers: true},
		"401 of a spent quota":             {answer: leaves(401, "", 0), class: "quota_exceeded", answers: true},
		"the quota is known to be spent":   {answer: leaves(200, other, 0), first: true, class: "quota_exceeded", answers: true},
		"the rest is kept for others":      {answer: leaves(200, other, 5), opts: []fiscope.Option{fiscope.WithQuotaReserve(5)}, first: true, class: "quota_exceeded", answers: true},
		"the Store is away":                {answer: raw(200, record), opts: []fiscope.Option{fiscope.WithStore(storeThatIsAway())}, class: "unavailable", answers: true},
		"a wait beyond the deadline":       {answer: raw(503, "", "Retry-After: 8"), opts: []fiscope.Option{fiscope.WithRetry(fiscope.DefaultRetryPolicy())}, ctx: ends(5 * time.Second), class: "unavailable", answers: true},
		"404":                              {answer: raw(404, notFound), class: "not_found"},
		"NOT_FOUND with 200":               {answer: raw(200, notFound), class: "not_found"},
		"NOT_FOUND with 503":               {answer: raw(503, notFound), class: "not_found"},
		"401":                              {answer: raw(401, `{"error":"clave inválida"}`), class: "unauthorized"},
		"403":                              {answer: raw(403, "<html>Forbidden"), class: "unauthorized"},
		"another server's 404":             {answer: raw(404, "<html>nginx"), class: "malformed_response"},
		"null":                             {answer: raw(200, "null"), class: "malformed_response"},
		"another RUC":                      {answer: raw(200, other), class: "malformed_response"},
		"an answer that broke off":         {answer: breaksOff, class: "malformed_response"},
		"a redirect":                       {answer: raw(302, "", "Location: https://elsewhere.example/"), class: "redirect"},
		"400":                              {answer: raw(400, ""), class: "invalid_request"},
		"418":                              {answer: raw(418, ""), class: "invalid_request"},
		"no RUC":                           {ruc: "123", class: "invalid_request"},
		"a RUC that cannot be":             {ruc: "20131312950", opts: []fiscope.Option{fiscope.WithStrictRUC()}, class: "invalid_request"},
		"the caller had gone":              {answer: raw(503, ""), ctx: cancelled, class: "canceled"},
		"the caller's time was over":       {answer: raw(503, ""), ctx: ends(-1), class: "deadline_exceeded"},
		"the caller goes":                  {answer: hangs, ctx: cancels, class: "canceled"},
		"the caller runs out of time":      {answer: hangs, ctx: ends(time.Second), class: "unavailable"},
		"the limiter is beyond his time":   {answer: raw(200, other), opts: []fiscope.Option{fiscope.WithRateLimit(0.01, 1)}, first: true, ctx: ends(5 * time.Second), class: "deadline_exceeded"},
		"the service answers after a miss": {answer: raw(200, record)},
	} {
		for by, shared := range alone {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ruc := test.ruc
					if ruc == "" {
						ruc = rucSUNAT
					}
					ask := func(more ...fiscope.Option) (*fiscope.Contribuyente, fiscope.Response, error) {
						opts := append(append(append([]fiscope.Option{fiscope.WithRetry(noRetries())}, shared...), test.opts...), more...)
						client := newClient(t, roundTripper(test.answer), opts...)
						if test.first {
							_, err := client.Contribuyentes.Consultar(t.Context(), rucEmisor)
							require.NoError(t, err)
						}
						ctx := t.Context()
						if test.ctx != nil {
							var cancel context.CancelFunc
							ctx, cancel = test.ctx(ctx)
							defer cancel()
						}
						var resp fiscope.Response
						c, err := client.Contribuyentes.Consultar(ctx, ruc, fiscope.WithResponse(&resp))
						return c, resp, err
					}
					var asked atomic.Int64
					_, without, his := ask()
					c, resp, err := ask(fiscope.WithRespaldo(padronDelJueves(&asked)))
					synctest.Wait() // also where nobody waits for it
					assert.Equal(t, test.class, fiscope.ErrorClass(his))
					assert.False(t, without.FromRespaldo)
					assert.Equal(t, test.answers, resp.FromRespaldo)
					if !test.answers {
						assert.Zero(t, asked.Load())
						assert.Zero(t, resp.FechaRespaldo)
						assert.Equal(t, his == nil, err == nil)
						assert.Equal(t, fmt.Sprint(his), fmt.Sprint(err))
						return
					}
					require.NoError(t, err)
					assert.EqualValues(t, 1, asked.Load())
					want := archived(rucSUNAT)
					assert.Empty(t, cmp.Diff(&want, c))
					assert.Equal(t, jueves, resp.FechaRespaldo)
					resp.FromRespaldo, resp.FechaRespaldo, resp.Duration, without.Duration = false, fiscope.Fecha{}, 0, 0
					assert.Empty(t, cmp.Diff(without, resp), "the rest is of the failure")
				})
			})
		}
	}
}

// storeThatIsAway is a Store that cannot say whether a query is left.
func storeThatIsAway() fiscope.Store {
	s := newFleetStore()
	s.reserve = func(int) fiscope.Reservation { return fiscope.Reservation{Grant: fiscope.QuotaAway} }
	return s
}

func TestARespaldoThatHasNothingLeavesTheServicesError(t *testing.T) {
	has := func(change func(*fiscope.Contribuyente)) registro {
		return func(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
			c := archived(ruc)
			change(&c)
			return &c, jueves, nil
		}
	}
	fails := func(err error) registro {
		return func(context.Context, string) (*fiscope.Contribuyente, fiscope.Fecha, error) { return nil, jueves, err }
	}
	var none *url.Error // whose Error panics
	for name, test := range map[string]struct {
		respaldo registro
		level    slog.Level
		says     string // "" where nothing is logged
	}{
		"it lacks the RUC":     {fails(nil), 0, ""},
		"... and says so":      {fails(fiscope.ErrNotFound), 0, ""},
		"... in its own words": {fails(fmt.Errorf("padron: %w", fiscope.ErrNotFound)), 0, ""},
		"... beside a record": {func(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
			c := archived(ruc)
			return &c, jueves, fiscope.ErrNotFound
		}, 0, ""},
		"it fails":                {fails(errors.New("the disk of " + rucSUNAT + " is gone, " + apiKey)), slog.LevelWarn, "the disk of 20…955 is gone, [secreto]"},
		"it fails as the service": {fails(&fiscope.Error{Err: fiscope.ErrUnauthorized}), slog.LevelWarn, "unauthorized"},
		"it fails beside a record": {func(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
			c := archived(ruc)
			return &c, jueves, io.ErrUnexpectedEOF
		}, slog.LevelWarn, "unexpected EOF"},
		"its error cannot be asked": {fails(none), slog.LevelError, "nil pointer"},
		"it panics":                 {func(context.Context, string) (*fiscope.Contribuyente, fiscope.Fecha, error) { panic("boom " + apiKey) }, slog.LevelError, "boom [secreto]"},
		"it ends its goroutine": {func(context.Context, string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
			runtime.Goexit()
			return nil, jueves, nil
		}, 0, ""},
		"another RUC":         {has(func(c *fiscope.Contribuyente) { c.RUC = rucEmisor }), slog.LevelWarn, "asked for the RUC 20…955, its record is of 20…970"},
		"no RUC":              {has(func(c *fiscope.Contribuyente) { c.RUC = "" }), slog.LevelWarn, "its record is of …"},
		"no name":             {has(func(c *fiscope.Contribuyente) { c.RazonSocial = "" }), slog.LevelWarn, "its record of the RUC 20…955 has no name"},
		"a name of blanks":    {has(func(c *fiscope.Contribuyente) { c.RazonSocial = " \t" }), slog.LevelWarn, "has no name"},
		"a name that is none": {has(func(c *fiscope.Contribuyente) { c.RazonSocial = "-" }), slog.LevelWarn, "has no name"},
	} {
		for by, shared := range alone {
			t.Run(name+", "+by, func(t *testing.T) {
				var w watch
				answer := raw(503, `{"error":"caído","code":"X"}`, "X-RateLimit-Remaining: 7")
				opts := append(append(w.options(), shared...), fiscope.WithRetry(noRetries()), fiscope.WithLenientReading())
				client := newClient(t, roundTripper(answer), append(opts, fiscope.WithRespaldo(test.respaldo))...)
				var resp fiscope.Response
				c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
				assert.Nil(t, c)
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				require.NotErrorIs(t, err, fiscope.ErrNotFound)
				require.NotErrorIs(t, err, fiscope.ErrUnauthorized)
				require.EqualError(t, err, "fiscope: Contribuyentes.Consultar: service unavailable (HTTP 503 X): caído")
				assert.False(t, resp.FromRespaldo)
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
				assert.NotContains(t, records[1].text, rucSUNAT)
			})
		}
	}
}

func TestWhatIsOddInARespaldoIsWarnedOf(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*fiscope.Contribuyente)
		fecha  fiscope.Fecha
		says   string // "" where nothing is odd
	}{
		"nothing":             {func(*fiscope.Contribuyente) {}, jueves, ""},
		"as the registry has": {func(c *fiscope.Contribuyente) { c.Estado, c.Condicion = "BAJA MULT.INSCR. Y O", "-" }, jueves, ""},
		"an unknown estado":   {func(c *fiscope.Contribuyente) { c.Estado = "OTROS" }, jueves, `estado "OTROS" is unknown`},
		"no condicion":        {func(c *fiscope.Contribuyente) { c.Condicion = "" }, jueves, `condicion "" is unknown`},
		"a day that is none":  {func(c *fiscope.Contribuyente) { c.FechaInscripcion = fiscope.NewFecha(2026, time.February, 30) }, jueves, "not a day of the calendar: 2026-02-30"},
		"data of no day":      {func(*fiscope.Contribuyente) {}, fiscope.Fecha{}, "of which day its data is"},
		"data of no such day": {func(*fiscope.Contribuyente) {}, fiscope.NewFecha(2026, time.February, 30), "of which day its data is"},
	} {
		t.Run(name, func(t *testing.T) {
			var w watch
			client := newClient(t, roundTripper(raw(501, "", "X-RateLimit-Limit: x")), append(w.options(), fiscope.WithRespaldo(registro(func(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
				c := archived(ruc)
				test.change(&c)
				return &c, test.fecha, nil
			})))...)
			var resp fiscope.Response
			c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
			require.NoError(t, err)
			assert.True(t, c.FechaInscripcion.IsZero())
			assert.True(t, resp.FechaRespaldo.IsZero() || resp.FechaRespaldo == jueves)
			events, _ := w.seen()
			require.Len(t, events, 2)
			require.NotEmpty(t, resp.Warnings)
			assert.Contains(t, resp.Warnings[0], "X-Ratelimit-Limit", "what was odd in the failure")
			if test.says == "" {
				assert.Len(t, resp.Warnings, 1)
				assert.Empty(t, events[1].Warnings)
				return
			}
			require.Len(t, resp.Warnings, 2)
			assert.Contains(t, resp.Warnings[1], test.says)
			assert.Equal(t, resp.Warnings[1:], events[1].Warnings)
		})
	}
}

func TestAnAnswerOfTheRespaldoIsSeen(t *testing.T) {
	for by, shared := range alone {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w watch
				var s spans
				slow := registro(func(ctx context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
					assert.Equal(t, "the till", ctx.Value(keyOfCaller{}))
					assert.NotNil(t, ctx.Value(keyOfSpan{}), "it is within the hook")
					time.Sleep(3 * time.Second)
					c := archived(ruc)
					return &c, jueves, nil
				})
				client := newClient(t, roundTripper(after(time.Second, raw(503, ""))), append(append(w.options(), shared...),
					fiscope.WithHook(s.hook), fiscope.WithRespaldo(slow), fiscope.WithRetry(noRetries()))...)
				ctx := context.WithValue(t.Context(), keyOfCaller{}, "the till")
				var resp fiscope.Response
				_, err := client.Contribuyentes.Consultar(ctx, rucSUNAT, fiscope.WithResponse(&resp))
				require.NoError(t, err)
				assert.Equal(t, 4*time.Second, resp.Duration)
				assert.Equal(t, 1, resp.Attempts)
				assert.Equal(t, 503, resp.StatusCode)
				assert.False(t, resp.FromCache)

				events, records := w.seen()
				require.Len(t, events, 2)
				require.ErrorIs(t, events[0].Err, fiscope.ErrUnavailable, "the failure stays to be seen")
				assert.False(t, events[0].FromRespaldo)
				want := fiscope.Event{Op: fiscope.OpConsultarContribuyente, Duration: 3 * time.Second, FromRespaldo: true, FechaRespaldo: jueves}
				assert.Empty(t, cmp.Diff(want, events[1]))
				require.Len(t, records, 2)
				assert.Equal(t, slog.LevelInfo, records[1].level)
				assert.Equal(t, "fiscope: answered from the Respaldo", records[1].message)
				assert.Contains(t, records[1].text, "respaldo=2026-11-19")
				assert.Equal(t, "the till", records[1].of)
				assert.NotContains(t, records[0].text, "respaldo=")

				ended := s.seen(t)
				require.Len(t, ended, 1)
				require.NoError(t, ended[0].err)
				assert.Empty(t, cmp.Diff(resp, ended[0].resp))

				stats := client.Stats()
				assert.EqualValues(t, 1, stats.Respaldo)
				assert.EqualValues(t, 1, stats.Calls)
				assert.EqualValues(t, 1, stats.Attempts)
			})
		})
	}
}

func TestARespaldoOfACallOrOfAClient(t *testing.T) {
	named := func(name string) fiscope.RespaldoOption {
		return fiscope.WithRespaldo(registro(func(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
			c := archived(ruc)
			c.RazonSocial = name
			return &c, jueves, nil
		}))
	}
	for name, test := range map[string]struct {
		client []fiscope.Option
		call   []fiscope.CallOption
		want   string // "" for the service's error
	}{
		"off":                             {nil, nil, ""},
		"of the client":                   {[]fiscope.Option{named("CLIENTE")}, nil, "CLIENTE"},
		"of the call":                     {nil, []fiscope.CallOption{named("LLAMADA")}, "LLAMADA"},
		"of the call, over the client's":  {[]fiscope.Option{named("CLIENTE")}, []fiscope.CallOption{named("LLAMADA")}, "LLAMADA"},
		"of the client, not for this one": {[]fiscope.Option{named("CLIENTE")}, []fiscope.CallOption{fiscope.WithoutCache()}, ""},
		"of a call without the cache":     {nil, []fiscope.CallOption{fiscope.WithoutCache(), named("LLAMADA")}, "LLAMADA"},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, roundTripper(raw(501, "")), test.client...)
			c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, test.call...)
			if test.want == "" {
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, c.RazonSocial)
		})
	}
	t.Run("other operations have no use for it", func(t *testing.T) {
		client := newClient(t, roundTripper(raw(501, "")), named("CLIENTE"))
		for op, ask := range operations {
			if op != "consultar" {
				require.ErrorIs(t, ask(t.Context(), client, named("LLAMADA")), fiscope.ErrUnavailable, op)
			}
		}
	})
}

// emptied is a Respaldo of which a nil one is no registry.
type emptied struct{ registro }

type listed map[string]fiscope.Contribuyente

func (l listed) Contribuyente(context.Context, string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
	return nil, jueves, nil
}

func TestNoRespaldoIsRefused(t *testing.T) {
	for name, r := range map[string]fiscope.Respaldo{"nil": nil, "a nil pointer": (*emptied)(nil), "a nil func": registro(nil), "a nil map": listed(nil)} {
		t.Run(name, func(t *testing.T) {
			_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithRespaldo(r))
			require.EqualError(t, err, "fiscope: WithRespaldo: the Respaldo is nil")
			client, s := answers(t, raw(200, record))
			_, err = client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithRespaldo(r))
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			require.ErrorContains(t, err, "the Respaldo of WithRespaldo is nil")
			assert.Empty(t, s.seen())
		})
	}
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithRespaldo(emptied{}), fiscope.WithRespaldo(listed{}))
	require.NoError(t, err)
}

// A Respaldo that hangs keeps nobody for longer than his context, and Close knows of it.
func TestASlowRespaldoIsBoundByTheCallersContext(t *testing.T) {
	for name, test := range map[string]struct {
		heeds bool // it returns with its context
		late  bool // ... with a record
	}{
		"it goes on":                   {},
		"it returns with the context":  {heeds: true},
		"... and has a record by then": {heeds: true, late: true},
	} {
		for by, shared := range alone {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var w watch
					start := time.Now()
					slow := registro(func(ctx context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
						if !test.heeds {
							time.Sleep(time.Minute)
						}
						<-ctx.Done()
						if test.late {
							c := archived(ruc)
							return &c, jueves, nil
						}
						return nil, jueves, ctx.Err()
					})
					client := newClient(t, roundTripper(raw(503, "")), append(append(w.options(), shared...), fiscope.WithRespaldo(slow), fiscope.WithRetry(noRetries()))...)
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
					defer cancel()
					var resp fiscope.Response
					c, err := client.Contribuyentes.Consultar(ctx, rucSUNAT, fiscope.WithResponse(&resp))
					assert.Nil(t, c)
					require.ErrorIs(t, err, fiscope.ErrUnavailable)
					require.ErrorContains(t, err, "HTTP 503")
					assert.False(t, resp.FromRespaldo)
					assert.Zero(t, client.Stats().Respaldo)
					assert.Equal(t, 2*time.Second, time.Since(start))
					require.NoError(t, client.Close(t.Context()))
					if !test.heeds {
						assert.Equal(t, time.Minute, time.Since(start))
					}
					_, records := w.seen()
					assert.Len(t, records, 1, "it is no fault of the Respaldo's")
				})
			})
		}
	}
}

// ending is a context that has ended and whose Done is not closed yet, as it is for a moment.
type ending struct {
	context.Context
	ended atomic.Bool
}

func (e *ending) Err() error {
	if e.ended.Load() {
		return context.Canceled
	}
	return e.Context.Err()
}

func TestARecordThatComesWithTheEndOfTheContext(t *testing.T) {
	ctx := &ending{Context: t.Context()}
	var resp fiscope.Response
	client := newClient(t, roundTripper(raw(501, "")), fiscope.WithRespaldo(registro(func(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
		ctx.ended.Store(true)
		c := archived(ruc)
		return &c, jueves, nil
	})))
	_, err := client.Contribuyentes.Consultar(ctx, rucSUNAT, fiscope.WithResponse(&resp))
	require.ErrorIs(t, err, fiscope.ErrUnavailable)
	assert.False(t, resp.FromRespaldo)
}

func TestAnAnswerOfTheRespaldoIsKeptNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFleetStore()
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, ""), raw(503, ""), raw(200, record), raw(503, "")}}
		var asked atomic.Int64
		client := newClient(t, s, fiscope.WithStore(store), fiscope.WithCache(fiscope.CachePolicy{StaleIfError: time.Hour}),
			fiscope.WithRespaldo(padronDelJueves(&asked)), fiscope.WithRetry(noRetries()))
		ask := func() (string, fiscope.Response) {
			var resp fiscope.Response
			c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
			require.NoError(t, err)
			name := c.RazonSocial
			c.RazonSocial = "mine"
			return name, resp
		}
		for n := range 2 {
			name, resp := ask()
			assert.Equal(t, "DEL PADRON S.A.", name)
			assert.True(t, resp.FromRespaldo)
			assert.False(t, resp.FromCache)
			synctest.Wait()
			assert.Empty(t, store.saved)
			assert.Len(t, s.seen(), n+1, "the service is asked first")
		}
		name, resp := ask()
		assert.Equal(t, "SUNAT", name)
		assert.False(t, resp.FromRespaldo)
		synctest.Wait()
		assert.Len(t, store.saved, 1)
		time.Sleep(12 * time.Hour)
		name, resp = ask()
		assert.Equal(t, "SUNAT", name, "what the service said comes first")
		assert.True(t, resp.Stale)
		assert.False(t, resp.FromRespaldo)
		time.Sleep(time.Hour)
		name, resp = ask()
		assert.Equal(t, "DEL PADRON S.A.", name)
		assert.False(t, resp.Stale)
		assert.True(t, resp.FromRespaldo)
		assert.EqualValues(t, 3, asked.Load())
	})
}

func TestWhoSharesAQueryHasTheAnswerOfTheRespaldoToHimself(t *testing.T) {
	for by, opt := range coalesced {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one := archived(rucSUNAT)
				one.Estado = "OTROS" // which is warned of
				s := &service{answers: []func(*http.Request) (*http.Response, error){slowly(raw(503, "", "X-Echo: yes"))}}
				client := newClient(t, s, opt, fiscope.WithRetry(noRetries()))
				theOne := fiscope.WithRespaldo(registro(func(context.Context, string) (*fiscope.Contribuyente, fiscope.Fecha, error) { return &one, jueves, nil }))
				var marked, failed atomic.Int64
				var wg sync.WaitGroup
				for n := range 20 {
					wg.Go(func() {
						var resp fiscope.Response
						opts := []fiscope.CallOption{fiscope.WithResponse(&resp)}
						if n%2 == 0 {
							opts = append(opts, theOne)
						}
						c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, opts...)
						if err != nil {
							failed.Add(1)
							assert.False(t, resp.FromRespaldo)
						} else {
							assert.Equal(t, "DEL PADRON S.A.", c.RazonSocial)
							c.RazonSocial = "mine"
							assert.Len(t, resp.Warnings, 1)
							assert.NotContains(t, resp.Warnings, "mine")
							assert.Equal(t, "yes", resp.Header.Get("X-Echo"))
							assert.Equal(t, jueves, resp.FechaRespaldo)
							marked.Add(1)
						}
						scribble(&resp, err)
					})
				}
				wg.Wait()
				assert.EqualValues(t, 10, marked.Load())
				assert.EqualValues(t, 10, failed.Load(), "who has none gets the error")
				assert.Len(t, s.seen(), 1)
				assert.EqualValues(t, 10, client.Stats().Respaldo)
				assert.Equal(t, "DEL PADRON S.A.", one.RazonSocial)
			})
		})
	}
}
