package fiscope_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"runtime"
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
)

// watch is what an observer and a logger were told.
type watch struct {
	mu      sync.Mutex
	events  []fiscope.Event
	records []told
}

// told is one line of a log.
type told struct {
	level   slog.Level
	message string
	of      any // the value of keyOfCaller in the context
	text    string
}

// keyOfCaller is the key under which a test's context says whose it is.
type keyOfCaller struct{}

func (w *watch) options() []fiscope.Option {
	return []fiscope.Option{fiscope.WithObserver(w.observe), fiscope.WithLogger(slog.New(w))}
}

func (w *watch) observe(e fiscope.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

func (w *watch) Handle(ctx context.Context, r slog.Record) error {
	var text string
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprint(a.Value.Resolve())
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, told{r.Level, r.Message, ctx.Value(keyOfCaller{}), text})
	return nil
}

func (w *watch) Enabled(context.Context, slog.Level) bool { return true }
func (w *watch) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w *watch) WithGroup(string) slog.Handler            { return w }

// seen returns what was told so far.
func (w *watch) seen() ([]fiscope.Event, []told) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events), slices.Clone(w.records)
}

// alone are the options of a client whose calls share nothing, and those under which they do.
var alone = map[string][]fiscope.Option{
	"alone": nil, "coalescing": {fiscope.WithCoalescing()}, "cache": {fiscope.WithCache(fiscope.CachePolicy{})},
}

func TestAnEventSaysWhatTheCallerGets(t *testing.T) {
	const (
		answered = "fiscope: answered"
		failed   = "fiscope: answered with an error"
		silent   = "fiscope: not answered"
	)
	other := change(record, rucSUNAT, rucEmisor)
	stranger := raw(404, "<html><title>nginx</title></html>")
	for name, test := range map[string]struct {
		op       string
		answer   func(*http.Request) (*http.Response, error)
		class    string
		code     string
		level    slog.Level
		message  string
		warnings int
	}{
		"a record":                        {"consultar", raw(200, record), "", "", slog.LevelDebug, answered, 0},
		"results":                         {"buscar", raw(200, results), "", "", slog.LevelDebug, answered, 0},
		"a verdict":                       {"validar", raw(200, verdict), "", "", slog.LevelDebug, answered, 0},
		"a rate":                          {"tipocambio", raw(200, price), "", "", slog.LevelDebug, answered, 0},
		"a record with warnings":          {"consultar", raw(200, change(record, "ACTIVO", "OTROS"), "X-RateLimit-Limit: x"), "", "", slog.LevelInfo, answered, 2},
		"not found":                       {"consultar", raw(404, contract(t, "consultar_404.json")), "not_found", "NOT_FOUND", slog.LevelDebug, failed, 0},
		"not found in a 200":              {"tipocambio", raw(200, contract(t, "consultar_404.json")), "not_found", "NOT_FOUND", slog.LevelDebug, failed, 0},
		"a 400":                           {"buscar", raw(400, `{"error":"x","code":"SEARCH_TOO_SHORT"}`), "search_too_short", "SEARCH_TOO_SHORT", slog.LevelDebug, failed, 0},
		"HTML with 200":                   {"consultar", raw(200, "<html>hi"), "malformed_response", "", slog.LevelWarn, failed, 0},
		"HTML with 200, a search":         {"buscar", raw(200, "<html>hi"), "malformed_response", "", slog.LevelWarn, failed, 0},
		"HTML with 200, a verdict":        {"validar", raw(200, "<html>hi"), "malformed_response", "", slog.LevelWarn, failed, 0},
		"HTML with 200, a rate":           {"hoy", raw(200, "<html>hi"), "malformed_response", "", slog.LevelWarn, failed, 0},
		"another RUC":                     {"consultar", raw(200, other), "malformed_response", "", slog.LevelWarn, failed, 0},
		"another date":                    {"tipocambio", raw(200, change(price, "20\"", "19\"")), "malformed_response", "", slog.LevelWarn, failed, 0},
		"null":                            {"consultar", raw(200, "null"), "malformed_response", "", slog.LevelWarn, failed, 0},
		"truncated":                       {"consultar", raw(200, record[:40]), "malformed_response", "", slog.LevelWarn, failed, 0},
		"another server's 404":            {"consultar", stranger, "malformed_response", "", slog.LevelWarn, failed, 0},
		"another server's 404, a verdict": {"validar", stranger, "malformed_response", "", slog.LevelWarn, failed, 0},
		"a status that is none":           {"consultar", raw(299, record), "malformed_response", "", slog.LevelWarn, failed, 0},
		"refused with 401":                {"validar", raw(401, contract(t, "validar_401.json")), "invalid_sol_credentials", "INVALID_SOL_CREDENTIALS", slog.LevelWarn, failed, 0},
		"refused with 200":                {"validar", raw(200, contract(t, "validar_401.json")), "invalid_sol_credentials", "INVALID_SOL_CREDENTIALS", slog.LevelWarn, failed, 0},
		"refused with 400":                {"validar", raw(400, contract(t, "validar_401.json")), "invalid_sol_credentials", "INVALID_SOL_CREDENTIALS", slog.LevelWarn, failed, 0},
		"refused with 404":                {"validar", raw(404, contract(t, "validar_401.json")), "invalid_sol_credentials", "INVALID_SOL_CREDENTIALS", slog.LevelWarn, failed, 0},
		"the key":                         {"consultar", raw(403, `{"error":"x"}`), "unauthorized", "", slog.LevelWarn, failed, 0},
		"the quota":                       {"consultar", raw(429, `{"error":"x"}`), "quota_exceeded", "", slog.LevelWarn, failed, 0},
		"an outage":                       {"consultar", raw(503, ""), "unavailable", "", slog.LevelWarn, failed, 0},
		"a redirect":                      {"consultar", raw(302, "", "Location: https://elsewhere.example/"), "redirect", "", slog.LevelWarn, failed, 0},
		"a gateway's 413":                 {"validar", raw(413, ""), "invalid_request", "", slog.LevelWarn, failed, 0},
		"no connection":                   {"consultar", broken(errors.New("no route")), "unavailable", "", slog.LevelWarn, silent, 0},
	} {
		for by, opts := range alone {
			t.Run(name+", "+by, func(t *testing.T) {
				var w watch
				client := newClient(t, roundTripper(test.answer), append(append(w.options(), opts...), fiscope.WithRetry(noRetries()))...)
				var resp fiscope.Response
				err := operations[test.op](t.Context(), client, fiscope.WithResponse(&resp))
				events, records := w.seen()
				require.Len(t, events, 1)
				e, text := events[0], ""
				assert.Equal(t, test.class, fiscope.ErrorClass(e.Err))
				assert.Equal(t, test.code, e.Code)
				assert.Len(t, e.Warnings, test.warnings)
				assert.Equal(t, resp.Warnings, e.Warnings)
				assert.Equal(t, resp.StatusCode, e.StatusCode)
				if err == nil {
					require.NoError(t, e.Err)
				} else {
					text = err.Error()
					assert.Equal(t, text, e.Err.Error())
					var his, theirs *fiscope.Error
					require.ErrorAs(t, err, &his)
					require.ErrorAs(t, e.Err, &theirs)
					assert.Equal(t, his.Body(), theirs.Body())
					his.Message = "mine"
					assert.NotEqual(t, "mine", theirs.Message)
				}
				require.Len(t, records, 1)
				assert.Equal(t, test.level, records[0].level)
				assert.Equal(t, test.message, records[0].message)
				assert.Contains(t, records[0].text, text)
				assert.Equal(t, err != nil, strings.Contains(records[0].text, "class="+test.class+" "))
			})
		}
	}
}

// An attempt that is followed by another is told before that leaves, with the error that it would have been.
func TestAnEventOfARetriedAttemptComesFirst(t *testing.T) {
	for by, opts := range alone {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w watch
				var order []string
				answer := func(answer func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
					return func(r *http.Request) (*http.Response, error) {
						events, _ := w.seen()
						order = append(order, fmt.Sprint(len(events)))
						return answer(r)
					}
				}
				s := &service{answers: []func(*http.Request) (*http.Response, error){
					answer(raw(503, `{"error":"caído","code":"X1"}`)), answer(broken(errors.New("reset"))), answer(raw(200, "<html>")),
				}}
				client := newClient(t, s, append(w.options(), opts...)...)
				err := operations["consultar"](t.Context(), client)
				require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
				assert.Equal(t, []string{"0", "1", "2"}, order)
				events, _ := w.seen()
				require.Len(t, events, 3)
				for i, want := range []struct {
					text     string
					delivery fiscope.Delivery
				}{{"service unavailable (HTTP 503 X1): caído", fiscope.DeliveryAnswered}, {"reset; the service may have received it; 2 attempts", fiscope.DeliveryUnknown}, {"malformed response (HTTP 200)", fiscope.DeliveryAnswered}} {
					require.ErrorContains(t, events[i].Err, want.text)
					var e *fiscope.Error
					require.ErrorAs(t, events[i].Err, &e)
					assert.Equal(t, i+1, e.Attempts)
					assert.Equal(t, want.delivery, e.Delivery)
				}
				assert.Equal(t, err.Error(), events[2].Err.Error())
			})
		})
	}
}

// The event is of the attempt, and its error of the call so far.
func TestTheErrorOfAnEventIsOfAllAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watch
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(503, ""), func(r *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(r.Context()).GetConn("x") // it tells of its connections, and has none
			return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		}}}
		require.Error(t, operations["consultar"](t.Context(), newClient(t, s, w.options()...)))
		events, _ := w.seen()
		require.Len(t, events, 3)
		var e *fiscope.Error
		require.ErrorAs(t, events[1].Err, &e)
		assert.Equal(t, fiscope.DeliveryNotSent, events[1].Delivery)
		assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery)
	})
}

func TestEventsOfCallsWithoutAnAttempt(t *testing.T) {
	cancelled := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx
	}
	late := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
		cancel()
		return ctx
	}
	within := func(ctx context.Context) context.Context { return ctx }
	lookup, validate := operations["consultar"], operations["validar"]
	spent := raw(200, record, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T05:00:00Z")
	short := func(ctx context.Context, c *fiscope.Client, _ ...fiscope.CallOption) error {
		_, err := c.Contribuyentes.Buscar(ctx, fiscope.Busqueda{RazonSocial: "ab"})
		return err
	}
	for name, test := range map[string]struct {
		answer  func(*http.Request) (*http.Response, error)
		first   func(context.Context, *fiscope.Client, ...fiscope.CallOption) error // nil for none
		call    func(context.Context, *fiscope.Client, ...fiscope.CallOption) error
		ctx     func(context.Context) context.Context
		avoided fiscope.Avoided
		class   string
		level   slog.Level
		message string
	}{
		"an invalid input": {nil, nil, short, within, fiscope.AvoidedInvalid, "search_too_short", slog.LevelDebug, "fiscope: refused before it was sent"},
		"a blocked clave":  {raw(401, contract(t, "validar_401.json")), validate, validate, within, fiscope.AvoidedSOL, "sol_credentials_blocked", slog.LevelWarn, "fiscope: refused before it was sent"},
		"a spent quota":    {spent, lookup, operations["buscar"], within, fiscope.AvoidedQuota, "quota_exceeded", slog.LevelWarn, "fiscope: refused before it was sent"},
		"cancelled":        {nil, nil, lookup, cancelled, fiscope.AvoidedOutOfTime, "canceled", slog.LevelDebug, "fiscope: ended before it was sent"},
		"out of time":      {nil, nil, lookup, late, fiscope.AvoidedOutOfTime, "deadline_exceeded", slog.LevelWarn, "fiscope: ended before it was sent"},
		"cached":           {raw(200, change(record, "ACTIVO", "OTROS")), lookup, lookup, within, fiscope.AvoidedCached, "", slog.LevelDebug, "fiscope: answered from the cache"},
		"cached not found": {raw(404, contract(t, "consultar_404.json")), lookup, lookup, within, fiscope.AvoidedCached, "not_found", slog.LevelDebug, "fiscope: answered from the cache"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w watch
				client := newClient(t, roundTripper(test.answer), append(w.options(), fiscope.WithCache(fiscope.CachePolicy{}))...)
				before := 0
				if test.first != nil {
					_ = test.first(t.Context(), client)
					before = 1
				}
				var resp fiscope.Response
				err := test.call(context.WithValue(test.ctx(t.Context()), keyOfCaller{}, "his"), client, fiscope.WithResponse(&resp))
				events, records := w.seen()
				require.Len(t, events, before+1)
				e, r := events[before], records[before]
				assert.Equal(t, test.avoided, e.Avoided)
				assert.Equal(t, test.class, fiscope.ErrorClass(e.Err))
				assert.Equal(t, fmt.Sprint(err), fmt.Sprint(e.Err))
				assert.Equal(t, resp.Warnings, e.Warnings)
				assert.Equal(t, told{test.level, test.message, "his", r.text}, r)
				assert.EqualValues(t, 1, client.Stats().Avoided[test.avoided])
			})
		})
	}
}

func TestEventsOfThoseWhoShareAQuery(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		class  string
		level  slog.Level
	}{
		"a record":   {raw(200, change(record, "ACTIVO", "OTROS")), "", slog.LevelInfo},
		"not found":  {raw(404, contract(t, "consultar_404.json")), "not_found", slog.LevelDebug},
		"no answer":  {broken(errors.New("no route")), "unavailable", slog.LevelWarn},
		"no meaning": {raw(200, "<html>"), "malformed_response", slog.LevelWarn},
	} {
		for by, opt := range coalesced {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var w watch
					client := newClient(t, roundTripper(slowly(test.answer)), append(w.options(), opt, fiscope.WithRetry(noRetries()))...)
					var wg sync.WaitGroup
					errs := make([]error, 3)
					for i := range errs {
						wg.Go(func() {
							errs[i] = operations["consultar"](context.WithValue(t.Context(), keyOfCaller{}, i), client)
						})
						synctest.Wait()
					}
					wg.Wait()
					events, records := w.seen()
					require.Len(t, events, 3)
					for i, e := range events {
						assert.Equal(t, test.class, fiscope.ErrorClass(e.Err))
						assert.Equal(t, fmt.Sprint(errs[0]), fmt.Sprint(e.Err))
						assert.Equal(t, i > 0, e.Avoided == fiscope.AvoidedCoalesced)
						if test.class == "" {
							assert.Len(t, e.Warnings, 1)
						}
						if test.class != "" || i == 0 {
							assert.Equal(t, test.level, records[i].level)
						} else {
							assert.Equal(t, slog.LevelDebug, records[i].level, "the warning was told")
						}
					}
					assert.Equal(t, 0, records[0].of, "the query is of who began it")
					assert.ElementsMatch(t, []any{1, 2}, []any{records[1].of, records[2].of})
					assert.Equal(t, "fiscope: shared another call's query", records[1].message)
				})
			})
		}
	}
}

// A service that hangs is not a caller's whim, also where the query ends since the last caller has left.
func TestACallerWhoRunsOutOfTimeIsSeen(t *testing.T) {
	for by, opts := range alone {
		for name, test := range map[string]struct {
			cause error // nil for a deadline
			class string
			level slog.Level
		}{
			"a deadline": {nil, "unavailable", slog.LevelWarn},
			"a cancel":   {context.Canceled, "canceled", slog.LevelDebug},
		} {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var w watch
					client := newClient(t, roundTripper(hangs), append(append(w.options(), opts...), fiscope.WithRetry(noRetries()))...)
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					if test.cause != nil {
						time.AfterFunc(time.Millisecond, cancel)
					}
					err := operations["consultar"](ctx, client)
					assert.Equal(t, test.class, fiscope.ErrorClass(err))
					require.NoError(t, client.Close(t.Context()))
					events, records := w.seen()
					require.Len(t, events, 1)
					assert.Equal(t, fiscope.DeliveryUnknown, events[0].Delivery)
					if by == "cache" { // its answer is waited for, and does not come
						assert.Equal(t, slog.LevelWarn, records[0].level)
						return
					}
					assert.Equal(t, test.class, fiscope.ErrorClass(events[0].Err))
					assert.Equal(t, test.level, records[0].level)
				})
			})
		}
	}
}

func TestWhoIsToldOfAnEventOwnsIt(t *testing.T) {
	for by, opts := range alone {
		t.Run(by, func(t *testing.T) {
			var w watch
			s := &service{answers: []func(*http.Request) (*http.Response, error){
				raw(200, change(record, "ACTIVO", "OTROS"), "X-RateLimit-Remaining: 7"),
				raw(404, contract(t, "consultar_404.json"), "X-RateLimit-Remaining: 6"),
			}}
			client := newClient(t, s, append(opts, fiscope.WithLogger(slog.New(&w)), fiscope.WithObserver(func(e fiscope.Event) {
				resp := fiscope.Response{RateLimit: e.RateLimit, Warnings: e.Warnings}
				scribble(&resp, e.Err)
			}))...)
			for _, ruc := range []string{rucSUNAT, rucEmisor, rucSUNAT, rucEmisor} {
				var resp fiscope.Response
				_, err := client.Contribuyentes.Consultar(t.Context(), ruc, fiscope.WithResponse(&resp))
				assert.NotContains(t, fmt.Sprint(err), "mine")
				assert.NotContains(t, resp.Warnings, "mine")
				var e *fiscope.Error
				if errors.As(err, &e) {
					assert.NotContains(t, string(e.Body()), "xx")
				}
				assert.GreaterOrEqual(t, client.RateLimit().Remaining, 6)
			}
			_, records := w.seen()
			for _, r := range records {
				assert.NotContains(t, r.text, "mine")
			}
		})
	}
}

// The context of an event is that of its call, within the client's hook; of attempts that are shared, that of the
// call that began them.
func TestAnObserverHasTheContextOfTheCall(t *testing.T) {
	for by, opts := range alone {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s spans
				var seen []string
				var mu sync.Mutex
				client := newClient(t, roundTripper(slowly(raw(200, record))), append(opts, fiscope.WithHook(s.hook),
					fiscope.WithContextObserver(func(ctx context.Context, e fiscope.Event) {
						mu.Lock()
						defer mu.Unlock()
						if within, ok := ctx.Value(keyOfSpan{}).(*span); assert.True(t, ok) {
							seen = append(seen, fmt.Sprintf("%v %s %d %s", ctx.Value(keyOfCaller{}), within.op, e.Attempt, e.Avoided))
						}
					}))...)
				var wg sync.WaitGroup
				for caller := range 2 {
					wg.Go(func() { _ = operations["consultar"](context.WithValue(t.Context(), keyOfCaller{}, caller), client) })
					synctest.Wait()
				}
				wg.Wait()
				_, _ = client.Contribuyentes.Consultar(context.WithValue(t.Context(), keyOfCaller{}, 2), "123")
				second := "1 Contribuyentes.Consultar 1 "
				if by != "alone" {
					second = "1 Contribuyentes.Consultar 0 coalesced"
				}
				slices.Sort(seen)
				assert.Equal(t, []string{"0 Contribuyentes.Consultar 1 ", second, "2 Contribuyentes.Consultar 0 invalid"}, seen)
			})
		})
	}
}

func TestEachObserverIsToldInItsTurnAndOwnsItsEvent(t *testing.T) {
	var told []string
	var first fiscope.Event
	client := newClient(t, roundTripper(raw(404, contract(t, "consultar_404.json"), "X-RateLimit-Remaining: 7")),
		fiscope.WithObserver(func(e fiscope.Event) {
			first = e
			scribble(&fiscope.Response{RateLimit: e.RateLimit}, e.Err)
			told = append(told, "first")
		}),
		fiscope.WithContextObserver(func(_ context.Context, e fiscope.Event) {
			assert.NotEqual(t, first.Err.Error(), e.Err.Error())
			assert.Equal(t, 7, e.RateLimit.Remaining)
			told = append(told, "second")
		}),
		fiscope.WithObserver(func(fiscope.Event) { told = append(told, "third") }))
	require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrNotFound)
	assert.Equal(t, []string{"first", "second", "third"}, told)
}

func TestRefusalsOfOperationsMadeOfOperationsAreSeen(t *testing.T) {
	var none context.Context
	lastLine := func(seq func(func(fiscope.TipoCambioVigente, error) bool)) (last error) {
		for _, err := range seq {
			last = err
		}
		return last
	}
	batch := slices.Values([]string{rucSUNAT})
	stopped := func(seq func(func(fiscope.DeLote[string, fiscope.Contribuyente], error) bool)) (last error) {
		for _, err := range seq {
			last = err
		}
		return errors.Unwrap(last)
	}
	tomorrow := fiscope.NewFecha(2000, time.January, 4)
	for name, test := range map[string]struct {
		op      fiscope.Operation
		avoided fiscope.Avoided
		call    func(context.Context, *fiscope.Client) error
	}{
		"SUNAT of no day": {fiscope.OpTipoCambioSUNAT, fiscope.AvoidedInvalid, func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.TipoCambio.SUNAT(ctx, fiscope.Fecha{})
			return err
		}},
		"SUNAT without a context": {fiscope.OpTipoCambioSUNAT, fiscope.AvoidedInvalid, func(_ context.Context, c *fiscope.Client) error {
			_, err := c.TipoCambio.SUNAT(none, viernes)
			return err
		}},
		"SUNAT with a wrong option": {fiscope.OpTipoCambioSUNAT, fiscope.AvoidedInvalid, func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.TipoCambio.SUNAT(ctx, fiscope.NewFecha(1999, time.December, 28), fiscope.WithQuotaReserve(-1))
			return err
		}},
		"SUNAT of a day that is to come": {fiscope.OpTipoCambioSUNAT, fiscope.AvoidedUnpublished, func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.TipoCambio.SUNAT(ctx, tomorrow.AddDays(1))
			return err
		}},
		"UltimoPublicado of no day": {fiscope.OpTipoCambioUltimoPublicado, fiscope.AvoidedInvalid, func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.TipoCambio.UltimoPublicado(ctx, fiscope.NewFecha(2026, time.February, 30))
			return err
		}},
		"UltimoPublicado of a year that is to come, for what there is": {fiscope.OpTipoCambioUltimoPublicado, fiscope.AvoidedUnpublished, func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.TipoCambio.UltimoPublicado(ctx, viernes, fiscope.WithProvisional())
			return err
		}},
		"MasReciente without a context": {fiscope.OpTipoCambioMasReciente, fiscope.AvoidedInvalid, func(_ context.Context, c *fiscope.Client) error {
			_, err := c.TipoCambio.MasReciente(none)
			return err
		}},
		"MasReciente with a wrong option": {fiscope.OpTipoCambioMasReciente, fiscope.AvoidedInvalid, func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.TipoCambio.MasReciente(ctx, fiscope.WithTodosLosDias())
			return err
		}},
		"Mes of no year": {fiscope.OpTipoCambioMes, fiscope.AvoidedInvalid, func(ctx context.Context, c *fiscope.Client) error {
			return lastLine(c.TipoCambio.Mes(ctx, 0, time.May))
		}},
		"Mes without a context": {fiscope.OpTipoCambioMes, fiscope.AvoidedInvalid, func(_ context.Context, c *fiscope.Client) error {
			return lastLine(c.TipoCambio.Mes(none, 1999, time.May))
		}},
		"Mes that is to come": {fiscope.OpTipoCambioMes, fiscope.AvoidedUnpublished, func(ctx context.Context, c *fiscope.Client) error {
			return lastLine(c.TipoCambio.Mes(ctx, 2026, time.May))
		}},
		"Esperar with a wrong policy": {fiscope.OpEsperarCPE, fiscope.AvoidedInvalid, func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{MaxAttempts: -1})
			return err
		}},
		"Esperar without a context": {fiscope.OpEsperarCPE, fiscope.AvoidedInvalid, func(_ context.Context, c *fiscope.Client) error {
			_, err := c.CPE.Esperar(none, factura, credenciales, fiscope.EsperaPolicy{})
			return err
		}},
		"Esperar with a wrong option": {fiscope.OpEsperarCPE, fiscope.AvoidedInvalid, func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{}, nil)
			return err
		}},
		"Esperar of a receipt that is none": {fiscope.OpValidarCPE, fiscope.AvoidedInvalid, func(ctx context.Context, c *fiscope.Client) error {
			_, err := c.CPE.Esperar(ctx, fiscope.Comprobante{}, credenciales, fiscope.EsperaPolicy{})
			return err
		}},
		"a batch with a wrong policy": {fiscope.OpConsultarLote, fiscope.AvoidedInvalid, func(ctx context.Context, c *fiscope.Client) error {
			return stopped(c.Contribuyentes.ConsultarLote(ctx, batch, fiscope.LotePolicy{From: -1}))
		}},
		"a batch without a context": {fiscope.OpConsultarLote, fiscope.AvoidedInvalid, func(_ context.Context, c *fiscope.Client) error {
			return stopped(c.Contribuyentes.ConsultarLote(none, batch, fiscope.LotePolicy{}))
		}},
	} {
		for by, opts := range alone {
			t.Run(name+", "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var w watch
					client := newClient(t, roundTripper(func(*http.Request) (*http.Response, error) { panic("it is not sent") }), append(w.options(), opts...)...)
					err := test.call(context.WithValue(t.Context(), keyOfCaller{}, "his"), client)
					require.Error(t, err)
					events, records := w.seen()
					require.Len(t, events, 1)
					e := events[0]
					assert.Equal(t, fiscope.Event{Op: test.op, Avoided: test.avoided, Err: e.Err}, e)
					assert.Equal(t, fiscope.ErrorClass(err), fiscope.ErrorClass(e.Err))
					assert.Equal(t, slog.LevelDebug, records[0].level)
					assert.Equal(t, "fiscope: refused before it was sent", records[0].message)
					stats := client.Stats()
					assert.EqualValues(t, 1, stats.Calls)
					assert.EqualValues(t, 1, stats.Avoided[test.avoided])
				})
			})
		}
	}
}

// What comes after a query was made is no refusal: each of its queries was told.
func TestAWalkThatAskedIsNotRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watch
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			return raw(200, change(price, "2026-11-20", r.URL.Query().Get("fecha")))(r)
		}), w.options()...)
		time.Sleep(4 * 24 * time.Hour) // it is 2000-01-05 in UTC: the table of the month ends in it
		var last error
		for _, err := range client.TipoCambio.Mes(t.Context(), 2000, time.January) {
			last = err
		}
		require.ErrorIs(t, last, fiscope.ErrNotYetPublished)
		events, _ := w.seen()
		assert.NotEmpty(t, events)
		for _, e := range events {
			assert.Equal(t, fiscope.OpConsultarTipoCambio, e.Op)
		}
		assert.Zero(t, client.Stats().Avoided[fiscope.AvoidedUnpublished])
	})
}

// The log has the values of the caller's context wherever the goroutine is that writes it.
func TestALogHasTheContextOfTheCaller(t *testing.T) {
	for by, opts := range alone {
		for op, call := range operations {
			t.Run(op+", "+by, func(t *testing.T) {
				var w watch
				var of any
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					of = r.Context().Value(keyOfCaller{})
					runtime.Gosched()
					return raw(500, "")(r)
				}), append(append(w.options(), opts...), fiscope.WithRetry(noRetries()))...)
				require.Error(t, call(context.WithValue(t.Context(), keyOfCaller{}, "his"), client))
				_, records := w.seen()
				require.Len(t, records, 1)
				assert.Equal(t, "his", records[0].of)
				assert.Equal(t, "his", of)
			})
		}
	}
}

func TestAnObserverSeesEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []fiscope.Event
		s := &service{answers: []func(*http.Request) (*http.Response, error){
			slowly(raw(503, "")),
			slowly(raw(404, contract(t, "consultar_404.json"), "X-RateLimit-Remaining: 7")),
		}}
		client := newClient(t, s, fiscope.WithObserver(func(e fiscope.Event) { events = append(events, e) }))
		require.Error(t, operations["consultar"](t.Context(), client))
		_, err := client.Contribuyentes.Consultar(t.Context(), "x")
		require.Error(t, err)
		for i, word := range []string{"unavailable", "not_found", "invalid_request"} {
			assert.Equal(t, word, fiscope.ErrorClass(events[i].Err))
			events[i].Err = nil
		}
		assert.Empty(t, cmp.Diff([]fiscope.Event{
			{Op: fiscope.OpConsultarContribuyente, Attempt: 1, StatusCode: 503, Duration: time.Second, Delivery: fiscope.DeliveryAnswered},
			{Op: fiscope.OpConsultarContribuyente, Attempt: 2, StatusCode: 404, Code: "NOT_FOUND", Duration: time.Second, Delivery: fiscope.DeliveryAnswered,
				RateLimit: &fiscope.RateLimit{Limit: fiscope.NoHeader, Remaining: 7}},
			{Op: fiscope.OpConsultarContribuyente, Avoided: fiscope.AvoidedInvalid},
		}, events))
	})
}

func TestAnObserverSeesWhetherItWasSent(t *testing.T) {
	var events []fiscope.Event
	client := newClient(t, roundTripper(broken(context.DeadlineExceeded)), fiscope.WithObserver(func(e fiscope.Event) { events = append(events, e) }))
	require.Error(t, operations["validar"](t.Context(), client))
	require.Len(t, events, 1)
	assert.Equal(t, fiscope.DeliveryUnknown, events[0].Delivery)
}

func TestALogTellsWhatHappenedAndOfNobody(t *testing.T) {
	var log bytes.Buffer
	s := &service{answers: []func(*http.Request) (*http.Response, error){
		raw(200, record), raw(200, results), raw(401, contract(t, "validar_401.json")), raw(200, price),
	}}
	client := newClient(t, s, fiscope.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	for _, op := range []string{"consultar", "buscar", "validar", "tipocambio", "validar"} {
		_ = operations[op](t.Context(), client)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 5)
	assert.Contains(t, lines[0], "level=DEBUG")
	assert.Contains(t, lines[0], "event.op=Contribuyentes.Consultar event.attempt=1")
	assert.Contains(t, lines[2], "level=WARN")
	assert.Contains(t, lines[2], "event.status=401 event.code=INVALID_SOL_CREDENTIALS")
	assert.Contains(t, lines[4], "event.avoided=sol")
	for _, private := range []string{rucSUNAT, rucEmisor, "SUNAT", "gloria", "/api/", "MIUSER01", "fiscope.example"} {
		assert.NotContains(t, log.String(), private)
	}
}

func TestStatsIsALedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := answers(t,
			raw(503, ""), raw(200, record), // a retry
			raw(401, contract(t, "validar_401.json")),
			raw(200, record, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T05:00:00Z"))
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.Error(t, operations["validar"](t.Context(), client))
		require.Error(t, operations["validar"](t.Context(), client)) // refused by the SOL guard
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.Error(t, operations["consultar"](t.Context(), client)) // refused by the quota gate
		_, err := client.Contribuyentes.Consultar(t.Context(), "")
		require.Error(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, operations["hoy"](ctx, client))
		assert.Empty(t, cmp.Diff(fiscope.Stats{
			Calls: 7, Attempts: 4, Retries: 1, Sent: 4,
			Avoided: map[fiscope.Avoided]int64{fiscope.AvoidedInvalid: 1, fiscope.AvoidedSOL: 1, fiscope.AvoidedQuota: 2, fiscope.AvoidedOutOfTime: 0, fiscope.AvoidedUnpublished: 0,
				fiscope.AvoidedCached: 0, fiscope.AvoidedCoalesced: 0},
		}, client.Stats()))
	})
}
