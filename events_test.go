package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// watch is what an observer and a logger were given.
type watch struct {
	mu      sync.Mutex
	events  []fiscope.Event
	records []logLine
}

// logLine is one line of a log.
type logLine struct {
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

func (w *watch) observe(_ context.Context, e fiscope.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

func (w *watch) Handle(ctx context.Context, r slog.Record) error {
	var text string
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprint(a.Key, "=", a.Value.Resolve(), " ")
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, logLine{r.Level, r.Message, ctx.Value(keyOfCaller{}), text})
	return nil
}

func (w *watch) Enabled(context.Context, slog.Level) bool { return true }
func (w *watch) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w *watch) WithGroup(string) slog.Handler            { return w }

// seen returns what came so far.
func (w *watch) seen() ([]fiscope.Event, []logLine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events), slices.Clone(w.records)
}

func TestAnEventSaysWhatTheCallerGets(t *testing.T) {
	const answered, failed, silent = "fiscope: answered", "fiscope: answered with an error", "fiscope: not answered"
	for name, test := range map[string]struct {
		op       string
		answer   handler
		class    string
		code     string
		level    slog.Level
		message  string
		warnings int
	}{
		"a record":               {"consultar", raw(200, record), "", "", slog.LevelDebug, answered, 0},
		"a verdict":              {"validar", raw(200, verdict), "", "", slog.LevelDebug, answered, 0},
		"a record with warnings": {"consultar", raw(200, change(record, "ACTIVO", "OTROS"), "X-RateLimit-Limit: x"), "", "", slog.LevelInfo, answered, 2},
		"not found":              {"consultar", raw(404, contract(t, "consultar_404.json")), "not_found", "NOT_FOUND", slog.LevelDebug, failed, 0},
		"not found in a 200":     {"tipocambio", raw(200, contract(t, "consultar_404.json")), "not_found", "NOT_FOUND", slog.LevelDebug, failed, 0},
		"a 400":                  {"buscar", raw(400, `{"error":"x","code":"SEARCH_TOO_SHORT"}`), "search_too_short", "SEARCH_TOO_SHORT", slog.LevelDebug, failed, 0},
		"a page":                 {"hoy", raw(200, "<html>hi"), "malformed_response", "", slog.LevelWarn, failed, 0},
		"another RUC":            {"consultar", raw(200, change(record, rucSUNAT, rucEmisor)), "malformed_response", "", slog.LevelWarn, failed, 0},
		"a clave is refused":     {"validar", raw(401, contract(t, "validar_401.json")), "invalid_sol_credentials", "INVALID_SOL_CREDENTIALS", slog.LevelWarn, failed, 0},
		"the key is":             {"consultar", raw(403, `{"error":"x"}`), "unauthorized", "", slog.LevelError, failed, 0},
		"the quota":              {"consultar", raw(429, `{"error":"x"}`), "quota_exceeded", "", slog.LevelWarn, failed, 0},
		"an outage":              {"consultar", raw(503, ""), "unavailable", "", slog.LevelWarn, failed, 0},
		"a gateway's 413":        {"validar", raw(413, ""), "invalid_request", "", slog.LevelWarn, failed, 0},
		"no connection":          {"consultar", broken(errors.New("no route")), "unavailable", "", slog.LevelWarn, silent, 0},
	} {
		for by, opts := range alone {
			t.Run(name+", "+by, func(t *testing.T) {
				var w watch
				client := newClient(t, test.answer, append(append(w.options(), opts...), fiscope.WithMaxRetries(0))...)
				var resp fiscope.Response
				err := operations[test.op](context.WithValue(t.Context(), keyOfCaller{}, "caller"), client, fiscope.WithResponse(&resp))
				events, records := w.seen()
				require.Len(t, events, 1)
				e := events[0]
				assert.Equal(t, test.class, fiscope.ErrorClass(e.Err))
				assert.Equal(t, e.StatusCode != 0, e.Delivery == fiscope.DeliveryAnswered)
				assert.Equal(t, fmt.Sprint(err), fmt.Sprint(e.Err))
				if failure := new(fiscope.Error); errors.As(e.Err, &failure) {
					assert.Equal(t, test.code, failure.Code)
				}
				assert.Equal(t, 1, e.Attempt)
				assert.Len(t, e.Warnings, test.warnings)
				assert.Equal(t, resp.Warnings, e.Warnings)
				assert.Equal(t, resp.StatusCode, e.StatusCode)
				require.Len(t, records, 1)
				assert.Equal(t, logLine{test.level, test.message, "caller", records[0].text}, records[0])
				assert.Equal(t, err != nil, strings.Contains(records[0].text, "class="+test.class+" "))
			})
		}
	}
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
	spent := raw(200, record, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T05:00:00Z")
	const refused, ended, kept = "fiscope: refused before it was sent", "fiscope: ended before it was sent", "fiscope: answered from the cache"
	for name, test := range map[string]struct {
		answer      handler
		first, call string // "" for none
		opts        []fiscope.CallOption
		ctx         func(context.Context) context.Context
		avoided     fiscope.Avoided
		class       string
		level       slog.Level
		message     string
	}{
		"an invalid input": {nil, "", "hoy", []fiscope.CallOption{fiscope.WithQuotaReserve(-1)}, within, fiscope.AvoidedInvalid, "invalid_request", slog.LevelDebug, refused},
		"a blocked clave":  {raw(401, contract(t, "validar_401.json")), "validar", "validar", nil, within, fiscope.AvoidedSOL, "sol_credentials_blocked", slog.LevelWarn, refused},
		"a spent quota":    {spent, "consultar", "buscar", nil, within, fiscope.AvoidedQuota, "quota_exceeded", slog.LevelWarn, refused},
		"cancelled":        {nil, "", "consultar", nil, cancelled, fiscope.AvoidedOutOfTime, "canceled", slog.LevelDebug, ended},
		"out of time":      {nil, "", "consultar", nil, late, fiscope.AvoidedOutOfTime, "deadline_exceeded", slog.LevelWarn, ended},
		"cached":           {raw(200, change(record, "ACTIVO", "OTROS")), "consultar", "consultar", nil, within, fiscope.AvoidedCached, "", slog.LevelDebug, kept},
		"cached not found": {raw(404, contract(t, "consultar_404.json")), "consultar", "consultar", nil, within, fiscope.AvoidedCached, "not_found", slog.LevelDebug, kept},
	} {
		inBubble(t, name, func(t *testing.T) {
			var w watch
			client := newClient(t, test.answer, append(w.options(), fiscope.WithCache(fiscope.CachePolicy{}))...)
			before := 0
			if test.first != "" {
				_ = operations[test.first](t.Context(), client)
				before = 1
			}
			err := operations[test.call](context.WithValue(test.ctx(t.Context()), keyOfCaller{}, "caller"), client, test.opts...)
			events, records := w.seen()
			require.Len(t, events, before+1)
			e, r := events[before], records[before]
			assert.Equal(t, test.avoided, e.Avoided)
			assert.Equal(t, test.class, fiscope.ErrorClass(e.Err))
			assert.Equal(t, fmt.Sprint(err), fmt.Sprint(e.Err))
			assert.Equal(t, logLine{test.level, test.message, "caller", r.text}, r)
			assert.EqualValues(t, 1, client.Stats().Avoided[test.avoided])
		})
	}
}

func TestEventsOfThoseWhoShareAQuery(t *testing.T) {
	for name, test := range map[string]struct {
		answer handler
		class  string
		levels []slog.Level // of who began the query, and of who joined
	}{
		"a record":  {raw(200, change(record, "ACTIVO", "OTROS")), "", []slog.Level{slog.LevelInfo, slog.LevelDebug}}, // the warning was logged
		"no answer": {broken(errors.New("no route")), "unavailable", []slog.Level{slog.LevelWarn, slog.LevelDebug}},
	} {
		for by, opt := range coalesced {
			inBubble(t, name+", "+by, func(t *testing.T) {
				var w watch
				client := newClient(t, slowly(test.answer), append(w.options(), opt, fiscope.WithMaxRetries(0))...)
				var wg sync.WaitGroup
				for i := range 2 {
					wg.Go(func() {
						_ = operations["consultar"](context.WithValue(t.Context(), keyOfCaller{}, i), client)
					})
					synctest.Wait()
				}
				wg.Wait()
				events, records := w.seen()
				require.Len(t, events, 2)
				for i, e := range events {
					assert.Equal(t, test.class, fiscope.ErrorClass(e.Err))
					assert.Equal(t, []fiscope.Avoided{"", fiscope.AvoidedCoalesced}[i], e.Avoided)
					assert.Equal(t, logLine{test.levels[i], records[i].message, i, records[i].text}, records[i])
				}
				assert.Equal(t, "fiscope: shared another call's query", records[1].message)
			})
		}
	}
}

func TestStatsIsALedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := answers(t,
			raw(503, ""), raw(200, record), // a retry
			raw(401, contract(t, "validar_401.json")),
			raw(200, record, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2000-01-01T05:00:00Z"))
		for _, op := range []string{"consultar", "validar", "validar", "consultar", "consultar"} { // the second and the last are refused
			_ = operations[op](t.Context(), client)
		}
		require.Error(t, operations["hoy"](t.Context(), client, nil))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, operations["hoy"](ctx, client))
		assert.Empty(t, cmp.Diff(fiscope.Stats{
			Calls: 7, Attempts: 4, Retries: 1, Sent: 4,
			Avoided: map[fiscope.Avoided]int64{fiscope.AvoidedInvalid: 1, fiscope.AvoidedSOL: 1, fiscope.AvoidedQuota: 1, fiscope.AvoidedOutOfTime: 1,
				fiscope.AvoidedUnpublished: 0, fiscope.AvoidedCached: 0, fiscope.AvoidedCoalesced: 0, fiscope.AvoidedOutage: 0},
		}, client.Stats()))
	})
}
