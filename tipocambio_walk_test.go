package fiscope_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// everyMemory are the ways to keep and to share answers: what holds without them holds with them.
func everyMemory() map[string][]fiscope.Option {
	return map[string][]fiscope.Option{
		"alone":      nil,
		"cache":      {fiscope.WithCache(fiscope.CachePolicy{})},
		"coalescing": {fiscope.WithCoalescing()},
		"store":      {fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(newFleetStore())},
	}
}

// SBS published nothing on 31 December 2009, a Thursday and no holiday.
func TestABusinessDayWithoutARateIsFinalOnceALaterRateIsOut(t *testing.T) {
	for by := range everyMemory() {
		for dating, shift := range map[string]int{"UltimoPublicado": 0, "SUNAT": 1} {
			t.Run(dating+", "+by, func(t *testing.T) {
				at(t, "2009-12-31 18:00:00", func(t *testing.T, srv *mockserver.Server) {
					require.NoError(t, srv.PutTipoCambio("2009-12-30", "2.888", "2.890"))
					require.NoError(t, srv.PutTipoCambio("2010-01-04", "2.850", "2.851"))
					client := srv.Client(everyMemory()[by]...)
					ask := client.TipoCambio.UltimoPublicado
					if dating == "SUNAT" {
						ask = client.TipoCambio.SUNAT
					}
					notYet := func(day string) {
						_, err := ask(t.Context(), fecha(t, day).AddDays(shift))
						require.ErrorIs(t, err, fiscope.ErrNotYetPublished, day)
					}
					notYet("2009-12-31")
					notYet("2010-01-03") // the Sunday after it
					time.Sleep(4*24*time.Hour - time.Hour - time.Second)
					require.Equal(t, "2010-01-04 16:59:59", time.Now().In(fiscope.Lima).Format(time.DateTime))
					notYet("2009-12-31")
					notYet("2010-01-03")

					time.Sleep(time.Second)
					for _, day := range []string{"2009-12-31", "2010-01-01", "2010-01-03"} {
						got, err := ask(t.Context(), fecha(t, day).AddDays(shift))
						require.NoError(t, err, day)
						assert.Equal(t, "2009-12-30", got.TipoCambio.Fecha.String())
						assert.False(t, got.Provisional)
						assert.LessOrEqual(t, got.Consultas, 3, "the day, the one after it and the one before it")
					}
					sent := client.Stats().Sent
					_, err := ask(t.Context(), fecha(t, "2009-12-31").AddDays(shift))
					require.NoError(t, err)
					if by == "cache" || by == "store" {
						assert.Equal(t, sent, client.Stats().Sent)
					}
				})
			})
		}
	}
}

// A source that lags behind for a week has nothing of the last days: none of them is taken for a free one.
func TestASourceThatLagsBehindMakesNoDayFree(t *testing.T) {
	at(t, "2026-11-18 18:00:00", func(t *testing.T, srv *mockserver.Server) {
		for day := fecha(t, "2026-11-10"); day.Compare(fecha(t, "2026-11-18")) <= 0; day = day.AddDays(1) {
			if day.DiaHabil() {
				require.NoError(t, srv.DeleteTipoCambio(day.String()))
			}
		}
		client := srv.Client()
		for day := fecha(t, "2026-11-10"); day.Compare(fecha(t, "2026-11-18")) <= 0; day = day.AddDays(1) {
			sent := client.Stats().Sent
			_, err := client.TipoCambio.UltimoPublicado(t.Context(), day)
			require.ErrorIs(t, err, fiscope.ErrNotYetPublished, day)
			assert.LessOrEqual(t, client.Stats().Sent-sent, int64(7), "the business days after it are looked at")
		}
		got, err := client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2026-11-17"), fiscope.WithProvisional())
		require.NoError(t, err)
		assert.Equal(t, "2026-11-09", got.TipoCambio.Fecha.String())
		assert.True(t, got.Provisional)
	})
}

// The rate of a day and that of the next one come at once, after the cache learned that the first was missing.
func TestARateThatCameLateIsNotTakenForNone(t *testing.T) {
	for by := range everyMemory() {
		t.Run(by, func(t *testing.T) {
			at(t, "2026-11-18 16:55:00", func(t *testing.T, srv *mockserver.Server) {
				require.NoError(t, srv.DeleteTipoCambio("2026-11-17"))
				client := srv.Client(everyMemory()[by]...)
				martes := fecha(t, "2026-11-17")
				_, err := client.TipoCambio.UltimoPublicado(t.Context(), martes)
				require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
				time.Sleep(6 * time.Minute)
				require.NoError(t, srv.PutTipoCambio("2026-11-17", "3.700", "3.710"))
				got, err := client.TipoCambio.UltimoPublicado(t.Context(), martes)
				require.NoError(t, err)
				assert.Equal(t, martes, got.TipoCambio.Fecha)
			})
		})
	}
	t.Run("between two queries", func(t *testing.T) {
		at(t, "2026-11-18 17:30:00", func(t *testing.T, srv *mockserver.Server) {
			require.NoError(t, srv.DeleteTipoCambio("2026-11-17"))
			client := srv.Client(fiscope.WithObserver(func(e fiscope.Event) {
				time.Sleep(time.Millisecond)
				assert.NoError(t, srv.PutTipoCambio("2026-11-17", "3.700", "3.710"))
			}))
			got, err := client.TipoCambio.SUNAT(t.Context(), fecha(t, "2026-11-18"))
			require.NoError(t, err)
			assert.Equal(t, "2026-11-17", got.TipoCambio.Fecha.String())
		})
	})
}

// What the cache holds was learned when it was learned, not now: it is asked again once, after the later rate.
func TestARateThatWasMissingIsNotPassedByTheHourAlone(t *testing.T) {
	at(t, "2026-11-18 16:55:00", func(t *testing.T, srv *mockserver.Server) {
		require.NoError(t, srv.DeleteTipoCambio("2026-11-17"))
		client := srv.Client(fiscope.WithCache(fiscope.CachePolicy{}))
		martes := fecha(t, "2026-11-17")
		for range 2 {
			_, err := client.TipoCambio.UltimoPublicado(t.Context(), martes)
			require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
			assert.EqualValues(t, 1, client.Stats().Sent)
		}
		time.Sleep(6 * time.Minute)
		got, err := client.TipoCambio.UltimoPublicado(t.Context(), martes)
		require.NoError(t, err)
		assert.Equal(t, "2026-11-16", got.TipoCambio.Fecha.String())
		assert.Equal(t, 3, got.Consultas, "that of Wednesday, that of Tuesday again, and that of Monday")

		time.Sleep(time.Minute)
		again, err := client.TipoCambio.UltimoPublicado(t.Context(), martes)
		require.NoError(t, err)
		assert.Equal(t, got.TipoCambio, again.TipoCambio)
		assert.Zero(t, again.Consultas, "all were in the cache")
	})
}

func TestAQueryOfAnotherCallIsNotCounted(t *testing.T) {
	at(t, "2026-11-18 16:55:00", func(t *testing.T, _ *mockserver.Server) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){slowly(raw(200, strings.Replace(price, "2026-11-20", "2026-11-13", 1)))}}
		client := newClient(t, s, fiscope.WithCoalescing())
		var wg sync.WaitGroup
		var total atomic.Int64
		for range 5 {
			wg.Go(func() {
				got, err := client.TipoCambio.SUNAT(t.Context(), fecha(t, "2026-11-16"))
				if assert.NoError(t, err) {
					total.Add(int64(got.Consultas))
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 1, total.Load())
		assert.Len(t, s.seen(), 1)
	})
}

// A machine's clock that is days ahead makes an old day of one whose rate is still to come.
func TestTheServicesClockCountsWhereItIsBehind(t *testing.T) {
	at(t, "2026-11-25 18:00:00", func(t *testing.T, _ *mockserver.Server) {
		none := contract(t, "tipocambio_404.json")
		for name, test := range map[string]struct {
			date   string
			notYet bool
		}{
			"behind":     {"Date: Wed, 11 Nov 2026 22:30:00 GMT", true},
			"the same":   {"Date: Wed, 25 Nov 2026 23:00:00 GMT", false},
			"ahead":      {"Date: Mon, 25 Nov 2030 23:00:00 GMT", false},
			"unreadable": {"Date: hoy", false},
			"none":       {"X: y", false},
		} {
			client, s := answers(t, raw(404, none, test.date))
			_, err := client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2026-11-11"))
			require.ErrorIs(t, err, fiscope.ErrNotFound, name)
			assert.Equal(t, test.notYet, errors.Is(err, fiscope.ErrNotYetPublished), name)
			assert.LessOrEqual(t, len(s.seen()), 8, "%s: 10 days are looked at, whatever our clock says", name)
		}
	})
}

func TestAWalkLooksAtTenDays(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithoutSocket(), mockserver.WithoutDefaultData())
	client := srv.Client()
	require.NoError(t, srv.PutTipoCambio("2021-09-01", "4.000", "4.010"))
	got, err := client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2021-09-10"))
	require.NoError(t, err)
	assert.Equal(t, "2021-09-01", got.TipoCambio.Fecha.String())
	assert.Equal(t, 8, got.Consultas)

	_, err = client.TipoCambio.SUNAT(t.Context(), fecha(t, "2021-09-12"))
	require.ErrorIs(t, err, fiscope.ErrNotFound)
	require.NotErrorIs(t, err, fiscope.ErrNotYetPublished)
	require.EqualError(t, err, "fiscope: TipoCambio.SUNAT: not found (HTTP 404 NOT_FOUND): none of the 10 days up to 2021-09-11 has a rate; 7 attempts")
	assert.EqualValues(t, 8+7, client.Stats().Sent)

	_, err = client.TipoCambio.SUNAT(t.Context(), fiscope.NewFecha(1, time.January, 1))
	require.ErrorIs(t, err, fiscope.ErrNotFound, "there is no day before")
}

func TestAWalkEndsWithTheErrorOfItsQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(viernes.En(fiscope.Lima).AddDate(1, 0, 0)))
		none, wrongDay := raw(404, contract(t, "tipocambio_404.json")), raw(200, price)
		s := &service{answers: []func(*http.Request) (*http.Response, error){none, raw(503, ""), none, raw(429, "")}}
		client := newClient(t, s)
		_, err := client.TipoCambio.UltimoPublicado(t.Context(), viernes)
		require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, fiscope.OpTipoCambioUltimoPublicado, e.Op)
		assert.Equal(t, 4, e.Attempts, "all that may have cost a query")
		assert.Equal(t, 429, e.StatusCode)

		client, _ = answers(t, raw(404, "<html>not here</html>"))
		_, err = client.TipoCambio.SUNAT(t.Context(), viernes)
		require.ErrorIs(t, err, fiscope.ErrMalformedResponse, "another server's 404 says nothing of a rate")

		client = newClient(t, roundTripper(wrongDay), fiscope.WithLenientReading())
		_, err = client.TipoCambio.SUNAT(t.Context(), viernes)
		require.ErrorIs(t, err, fiscope.ErrMalformedResponse, "a dating never takes the rate of another day")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = client.TipoCambio.SUNAT(ctx, viernes)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// refusesToDial is a transport that reaches nobody, and tells so.
var refusesToDial = roundTripper(func(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GetConn("x")
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
})

// Also where the last query of it was not sent at all.
func TestTheErrorOfAWalkTellsWhatWasSent(t *testing.T) {
	none := contract(t, "tipocambio_404.json")
	spent := []string{"X-RateLimit-Limit: 100", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2026-11-21T05:00:00Z"}
	walks := map[string]func(context.Context, *fiscope.Client) error{
		"SUNAT": func(ctx context.Context, c *fiscope.Client) error {
			return second(c.TipoCambio.SUNAT(ctx, fecha(t, "2026-11-02")))
		},
		"UltimoPublicado, provisional": func(ctx context.Context, c *fiscope.Client) error {
			return second(c.TipoCambio.UltimoPublicado(ctx, fecha(t, "2026-11-20"), fiscope.WithProvisional()))
		},
		"Mes": func(ctx context.Context, c *fiscope.Client) (last error) {
			for _, err := range c.TipoCambio.Mes(ctx, 2026, time.October) {
				last = err
			}
			return last
		},
	}
	for walk, ask := range walks {
		for name, test := range map[string]struct {
			answers  []func(*http.Request) (*http.Response, error)
			opts     []fiscope.Option
			cancel   bool
			class    error
			attempts int
			delivery fiscope.Delivery
		}{
			"the quota is spent after the first": {[]func(*http.Request) (*http.Response, error){raw(404, none, spent...)}, nil, false, fiscope.ErrQuotaExceeded, 1, fiscope.DeliveryAnswered},
			"cancelled after the first":          {[]func(*http.Request) (*http.Response, error){raw(404, none)}, nil, true, context.Canceled, 1, fiscope.DeliveryAnswered},
			"the second gets no answer":          {[]func(*http.Request) (*http.Response, error){raw(404, none), broken(syscall.ECONNRESET)}, nil, false, fiscope.ErrUnavailable, 2, fiscope.DeliveryUnknown},
			"nothing is sent":                    {nil, []fiscope.Option{fiscope.WithHTTPClient(&http.Client{Transport: refusesToDial})}, false, fiscope.ErrUnavailable, 1, fiscope.DeliveryNotSent},
		} {
			for by := range everyMemory() {
				t.Run(walk+", "+name+", "+by, func(t *testing.T) {
					at(t, "2026-11-20 18:00:00", func(t *testing.T, _ *mockserver.Server) {
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						opts := append(append(everyMemory()[by], fiscope.WithRetry(noRetries())), test.opts...)
						if test.cancel {
							opts = append(opts, fiscope.WithObserver(func(fiscope.Event) { cancel() }))
						}
						s := &service{answers: test.answers}
						err := ask(ctx, newClient(t, s, opts...))
						require.ErrorIs(t, err, test.class)
						var e *fiscope.Error
						require.ErrorAs(t, err, &e)
						assert.Equal(t, test.attempts, e.Attempts)
						if !test.cancel || e.Delivery != fiscope.DeliveryUnknown { // who shares a query may leave it before it has told of its answer
							assert.Equal(t, test.delivery, e.Delivery, err)
						}
						assert.Equal(t, test.delivery == fiscope.DeliveryNotSent, strings.Contains(err.Error(), "nothing was sent"), err)
					})
				})
			}
		}
	}
}

// The table of a running month ends before a day that is not asked for: of what was asked before, its error tells.
func TestTheErrorOfATableTellsOfItsLines(t *testing.T) {
	at(t, "2026-11-04 16:00:00", func(t *testing.T, srv *mockserver.Server) {
		client := srv.Client()
		var last error
		for _, err := range client.TipoCambio.Mes(t.Context(), 2026, time.November) {
			last = err
		}
		var e *fiscope.Error
		require.ErrorAs(t, last, &e)
		require.ErrorIs(t, last, fiscope.ErrNotYetPublished)
		assert.EqualValues(t, client.Stats().Sent, e.Attempts)
		assert.Equal(t, fiscope.DeliveryAnswered, e.Delivery)
		assert.NotContains(t, last.Error(), "nothing was sent")
		assert.Equal(t, time.Hour, e.RetryAfter)
	})
}

// The query's own event is a result with a warning.
func TestADatingThatRefusesAnotherDateIsSeen(t *testing.T) {
	for op, ask := range map[fiscope.Operation]func(context.Context, *fiscope.Client) error{
		fiscope.OpTipoCambioSUNAT: func(ctx context.Context, c *fiscope.Client) error {
			return second(c.TipoCambio.SUNAT(ctx, fiscope.NewFecha(2026, time.November, 20)))
		},
		fiscope.OpTipoCambioUltimoPublicado: func(ctx context.Context, c *fiscope.Client) error {
			return second(c.TipoCambio.UltimoPublicado(ctx, fiscope.NewFecha(2026, time.November, 19)))
		},
		fiscope.OpTipoCambioMes: func(ctx context.Context, c *fiscope.Client) (last error) {
			for _, err := range c.TipoCambio.Mes(ctx, 2026, time.October) {
				last = err
			}
			return last
		},
	} {
		for by, opt := range everyWay {
			t.Run(string(op)+", "+by, func(t *testing.T) {
				var w watch
				client := newClient(t, roundTripper(raw(200, price)), append(w.options(), opt, fiscope.WithLenientReading())...)
				err := ask(t.Context(), client)
				require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
				require.Len(t, w.events, 2)
				require.NoError(t, w.events[0].Err)
				last := w.events[1]
				assert.Equal(t, op, last.Op)
				assert.Zero(t, last.Attempt)
				assert.Equal(t, 200, last.StatusCode)
				assert.Equal(t, fiscope.DeliveryAnswered, last.Delivery)
				require.EqualError(t, last.Err, err.Error())
				assert.NotSame(t, last.Err, err)
				require.Len(t, w.records, 2)
				assert.Equal(t, slog.LevelWarn, w.records[1].level)
				assert.EqualValues(t, 1, client.Stats().Calls)
			})
		}
	}
}

func TestEachLineOfATableHasItsOwnResponse(t *testing.T) {
	srv := julio2021(t)
	require.NoError(t, srv.DeleteTipoCambio("2021-07-05"))
	resp := fiscope.Response{Warnings: []string{"of another call"}}
	for line, err := range srv.Client().TipoCambio.Mes(t.Context(), 2021, time.July, fiscope.WithTodosLosDias(), fiscope.WithResponse(&resp)) {
		require.NoError(t, err)
		assert.Equal(t, line.Consultas, resp.Attempts, line.Para)
		assert.Empty(t, resp.Warnings)
	}
}
