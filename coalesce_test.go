package fiscope_test

import (
	"context"
	"errors"
	"net"
	"net/http"
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

// coalesced are the options under which calls share queries.
var coalesced = map[string]fiscope.Option{
	"coalescing": fiscope.WithCoalescing(),
	"cache":      fiscope.WithCache(fiscope.CachePolicy{}),
}

// alone are the options of a client whose calls share nothing, and those under which they do.
var alone = map[string][]fiscope.Option{
	"alone": nil, "coalescing": {coalesced["coalescing"]}, "cache": {coalesced["cache"]},
}

// scribble writes into all that a caller got. What another caller can see of it is a data race, or wrong.
func scribble(resp *fiscope.Response, err error) {
	for _, values := range resp.Header {
		values[0] = "mine"
	}
	for i := range resp.Warnings {
		resp.Warnings[i] = "mine"
	}
	if resp.RateLimit != nil {
		*resp.RateLimit.Remaining = -7
	}
	var e *fiscope.Error
	if errors.As(err, &e) {
		for i := range e.Body() {
			e.Body()[i] = 'x'
		}
		e.Message, e.Code = "mine", "MINE"
		if e.RateLimit != nil {
			*e.RateLimit.Remaining = -7
		}
	}
}

func TestTheSameQuestionAtTheSameTimeIsOneQuery(t *testing.T) {
	odd := change(record, "ACTIVO", "OTROS") // which is warned of
	headers := []string{"X-RateLimit-Remaining: 7", "X-RateLimit-Limit: 10", "X-Echo: yes"}
	for name, answer := range map[string]handler{
		"an answer": raw(200, odd, headers...), "not found": raw(404, contract(t, "consultar_404.json"), headers...),
		"an outage": raw(500, `{"error":"caído","code":"X"}`, headers...),
	} {
		for by, opt := range coalesced {
			inBubble(t, name+", "+by, func(t *testing.T) {
				s := &service{answers: []handler{slowly(answer)}}
				client := newClient(t, s, opt, fiscope.WithMaxRetries(0))
				var joined atomic.Int64
				together(20, func(int) {
					var resp fiscope.Response
					c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithResponse(&resp))
					var e *fiscope.Error
					if errors.As(err, &e) {
						assert.NotContains(t, string(e.Body()), "xx")
						assert.NotEqual(t, "mine", e.Message)
					} else {
						assert.Equal(t, "SUNAT", c.RazonSocial)
						assert.Len(t, resp.Warnings, 1)
						c.RazonSocial = "mine"
					}
					assert.NotContains(t, resp.Warnings, "mine")
					assert.Equal(t, "yes", resp.Header.Get("X-Echo"))
					assert.Equal(t, new(7), resp.RateLimit.Remaining)
					assert.Equal(t, time.Second, resp.Duration)
					if resp.Source == fiscope.SourceShared {
						joined.Add(1)
					} else {
						assert.Equal(t, fiscope.SourceService, resp.Source)
					}
					scribble(&resp, err)
				})
				assert.Len(t, s.seen(), 1)
				assert.EqualValues(t, 19, joined.Load())
				stats := client.Stats()
				assert.EqualValues(t, 19, stats.Avoided[fiscope.AvoidedCoalesced])
				assert.EqualValues(t, 20, stats.Calls)
			})
		}
	}
	inBubble(t, "but no validation", func(t *testing.T) {
		s := &service{answers: []handler{slowly(raw(200, verdict))}}
		client := newClient(t, s, fiscope.WithCoalescing())
		together(3, func(int) { assert.NoError(t, operations["validar"](t.Context(), client)) })
		assert.Len(t, s.seen(), 3)
	})
}

// A job that has a minute does not fail by the 300 ms of a checkout.
func TestCallsWithOtherTimeoutsOrRetriesShareNoQuery(t *testing.T) {
	for name, test := range map[string]struct {
		hasty   fiscope.CallOption
		answers []handler
	}{
		"a timeout": {fiscope.WithTimeout(300 * time.Millisecond), []handler{slowly(raw(200, record))}},
		"retries":   {fiscope.WithMaxRetries(0), []handler{slowly(raw(503, "")), slowly(raw(503, "")), raw(200, record)}},
	} {
		for by, opt := range coalesced {
			inBubble(t, name+", "+by, func(t *testing.T) {
				client := newClient(t, &service{answers: test.answers}, opt)
				go func() { assert.Error(t, operations["consultar"](t.Context(), client, test.hasty)) }()
				synctest.Wait() // its query is under way
				require.NoError(t, operations["consultar"](t.Context(), client))
			})
		}
	}
}

// With many workers, one looks into the cache before an answer is there, and asks after its query has ended.
func TestAQuestionOfManyWorkersIsPaidOnce(t *testing.T) {
	client, s := newChangingClient(t, ofItsRUC, fiscope.WithCache(fiscope.CachePolicy{}))
	together(64, func(int) {
		for n := range 500 {
			assert.NoError(t, consultar(t.Context(), client, n))
		}
	})
	assert.EqualValues(t, 500, s.asked.Load())
}

// ofItsRUC answers a lookup with a record of its RUC.
func ofItsRUC(r *http.Request) (*http.Response, error) {
	return raw(200, change(record, rucSUNAT, r.URL.Path[len(r.URL.Path)-len(rucSUNAT):]))(r)
}

func TestCancellingOneCallerDoesNotCancelTheOthers(t *testing.T) {
	reason := errors.New("the shop is closing, with " + apiKey)
	for by, opts := range alone {
		for name, test := range map[string]struct {
			leave func(context.Context) (context.Context, context.CancelFunc)
			is    []error
			class string
		}{
			"by a deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Second/2)
			}, []error{context.DeadlineExceeded, fiscope.ErrUnavailable}, "unavailable"},
			"by a cancel with a cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancelCause(ctx)
				time.AfterFunc(time.Second/2, func() { cancel(reason) })
				return ctx, func() { cancel(nil) }
			}, []error{context.Canceled, reason}, "canceled"},
		} {
			inBubble(t, name+", "+by, func(t *testing.T) {
				s := &service{answers: []handler{slowly(raw(200, record))}}
				client := newClient(t, s, opts...)
				var wg sync.WaitGroup
				wg.Go(func() { // who began the query
					ctx, cancel := test.leave(t.Context())
					defer cancel()
					var resp fiscope.Response
					err := operations["consultar"](ctx, client, fiscope.WithResponse(&resp))
					for _, is := range test.is {
						assert.ErrorIs(t, err, is)
					}
					assert.Equal(t, test.class, fiscope.ErrorClass(err))
					assert.False(t, leaks(err.Error(), apiKey))
					var e *fiscope.Error
					assert.ErrorAs(t, err, &e)
					assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery)
					assert.Empty(t, cmp.Diff(fiscope.Response{Attempts: 1, Duration: time.Second / 2}, resp))
				})
				synctest.Wait()
				for range 3 {
					wg.Go(func() { assert.NoError(t, operations["consultar"](t.Context(), client)) })
				}
				wg.Wait()
				if by != "alone" {
					assert.Len(t, s.seen(), 1)
				}
			})
		}
	}
}

// A caller that joins a query that all others left gets its answer, or asks again.
func TestWhoJoinsAnAbandonedQueryAsksAnew(t *testing.T) {
	for name, answer := range map[string]handler{"it brings an answer": slowly(raw(200, record)), "it brings none": slowly(raw(503, ""))} {
		inBubble(t, name, func(t *testing.T) {
			s := &service{answers: []handler{answer, slowly(raw(200, record))}}
			client := newClient(t, s, fiscope.WithCoalescing(), fiscope.WithMaxRetries(0))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			require.Error(t, operations["consultar"](ctx, client))
			together(3, func(int) { assert.NoError(t, operations["consultar"](t.Context(), client)) })
			want := 1
			if name == "it brings none" {
				want = 2
			}
			assert.Len(t, s.seen(), want)
		})
	}
}

// A request that waits for its connection has reached nobody, and goes out for nobody.
func TestADialThatHangsEndsWithItsCallers(t *testing.T) {
	for by, opts := range alone {
		inBubble(t, by, func(t *testing.T) {
			start := time.Now()
			transport := &http.Transport{DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}}
			client := newClient(t, transport, opts...)
			together(2, func(int) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				assert.ErrorIs(t, operations["consultar"](ctx, client), context.DeadlineExceeded)
			})
			require.NoError(t, client.Close(t.Context()))
			assert.Equal(t, time.Second, time.Since(start), "also of what goes on in the background")
			assert.Zero(t, client.Stats().Sent)
		})
	}
}
