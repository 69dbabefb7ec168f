package fiscope_test

import (
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
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
		"store":      {fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(newMemoryStore())},
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
					client := slow(t, srv, everyMemory()[by]...)
					ask := client.TipoCambio.UltimoPublicado
					if dating == "SUNAT" {
						ask = client.TipoCambio.SUNAT
					}
					notYet := func(day string) {
						_, err := ask(t.Context(), fecha(t, day).SumarDias(shift))
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
						got, err := ask(t.Context(), fecha(t, day).SumarDias(shift))
						require.NoError(t, err, day)
						assert.Equal(t, "2009-12-30", got.TipoCambio.Fecha.String())
						assert.False(t, got.Provisional)
						assert.LessOrEqual(t, got.Consultas, 3, "the day, the one after it and the one before it")
					}
					sent := client.Stats().Sent
					_, err := ask(t.Context(), fecha(t, "2009-12-31").SumarDias(shift))
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
		for day := fecha(t, "2026-11-10"); day.Compare(fecha(t, "2026-11-18")) <= 0; day = day.SumarDias(1) {
			if day.DiaHabil() {
				require.NoError(t, srv.DeleteTipoCambio(day.String()))
			}
		}
		client := srv.Client()
		for day := fecha(t, "2026-11-10"); day.Compare(fecha(t, "2026-11-18")) <= 0; day = day.SumarDias(1) {
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

// The cache learned that a day is missing, and then its rate and that of the next day come together.
func TestARateThatCameLateIsNotTakenForNone(t *testing.T) {
	for by := range everyMemory() {
		for name, comes := range map[string]bool{"comes": true, "never comes": false} {
			t.Run(name+", "+by, func(t *testing.T) {
				at(t, "2026-11-18 16:55:00", func(t *testing.T, srv *mockserver.Server) {
					require.NoError(t, srv.DeleteTipoCambio("2026-11-17"))
					client := slow(t, srv, everyMemory()[by]...)
					martes := fecha(t, "2026-11-17")
					_, err := client.TipoCambio.UltimoPublicado(t.Context(), martes)
					require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
					time.Sleep(6 * time.Minute)
					want := fecha(t, "2026-11-16")
					if comes {
						require.NoError(t, srv.PutTipoCambio("2026-11-17", "3.700", "3.710"))
						want = martes
					}
					got, err := client.TipoCambio.UltimoPublicado(t.Context(), martes)
					require.NoError(t, err)
					assert.Equal(t, want, got.TipoCambio.Fecha)
					again, err := client.TipoCambio.UltimoPublicado(t.Context(), martes)
					require.NoError(t, err)
					assert.Equal(t, got.TipoCambio, again.TipoCambio)
					if by == "cache" || by == "store" {
						assert.Zero(t, again.Consultas, "all were in the cache")
					}
				})
			})
		}
	}
}

// slow returns a client of the mock whose answers take a moment, so that none are of the same time.
func slow(t *testing.T, srv *mockserver.Server, opts ...fiscope.Option) *fiscope.Client {
	client := srv.Client(append(opts, fiscope.WithHTTPClient(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		time.Sleep(time.Millisecond)
		return srv.Transport().RoundTrip(r)
	})}))...)
	closeWith(t, client)
	return client
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

// A provider that answers with the last rate that it has, as lenient reading lets pass, does not make it that of the day.
func TestTheRateOfAnotherDateIsNone(t *testing.T) {
	at(t, "2026-11-20 18:00:00", func(t *testing.T, _ *mockserver.Server) {
		client := newClient(t, roundTripper(raw(200, change(price, "2026-11-20", "2026-11-18"))), fiscope.WithLenientReading())
		_, err := client.TipoCambio.SUNAT(t.Context(), viernes)
		require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
		var resp fiscope.Response
		got, err := client.TipoCambio.SUNAT(t.Context(), viernes, fiscope.WithProvisional(), fiscope.WithResponse(&resp))
		require.NoError(t, err)
		assert.NotEmpty(t, resp.Warnings)
		assert.Equal(t, "2026-11-18", got.TipoCambio.Fecha.String())
		assert.True(t, got.Provisional)
	})
}

// refusesToDial is a transport that reaches nobody, and says so.
var refusesToDial = roundTripper(func(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GetConn("x")
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
})

func TestAWalksResponseIsTheSumOfItsQueries(t *testing.T) {
	srv := julio2021(t)
	require.NoError(t, srv.DeleteTipoCambio("2021-07-23"))
	client := srv.Client()
	resp := fiscope.Response{Warnings: []string{"of another call"}}
	got, err := client.TipoCambio.SUNAT(t.Context(), fecha(t, "2021-07-26"), fiscope.WithResponse(&resp))
	require.NoError(t, err)
	assert.Equal(t, "2021-07-22", got.TipoCambio.Fecha.String())
	assert.Equal(t, 2, got.Consultas)
	assert.Equal(t, 2, resp.Attempts)
	assert.Equal(t, 200, resp.StatusCode)
	assert.Empty(t, resp.Warnings)
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

// The error of a walk says what became of all its queries, also if the last of them was not sent.
func TestTheErrorOfAWalkTellsWhatWasSent(t *testing.T) {
	none := raw(404, contract(t, "tipocambio_404.json"))
	spent := raw(404, contract(t, "tipocambio_404.json"), "X-RateLimit-Limit: 100", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2026-11-21T05:00:00Z")
	for name, test := range map[string]struct {
		answers  []func(*http.Request) (*http.Response, error)
		class    error
		attempts int
		delivery fiscope.Delivery
	}{
		"no answer of the contract":          {[]func(*http.Request) (*http.Response, error){none, raw(404, "<html>not here</html>")}, fiscope.ErrMalformedResponse, 2, fiscope.DeliveryAnswered},
		"one is tried again":                 {[]func(*http.Request) (*http.Response, error){none, raw(503, ""), none, raw(429, "")}, fiscope.ErrQuotaExceeded, 4, fiscope.DeliveryAnswered},
		"the quota is spent after the first": {[]func(*http.Request) (*http.Response, error){spent}, fiscope.ErrQuotaExceeded, 1, fiscope.DeliveryAnswered},
		"the last gets no answer":            {[]func(*http.Request) (*http.Response, error){none, broken(syscall.ECONNRESET)}, fiscope.ErrUnavailable, 4, fiscope.DeliveryUnknown},
		"nothing is sent":                    {[]func(*http.Request) (*http.Response, error){refusesToDial}, fiscope.ErrUnavailable, 3, fiscope.DeliveryNotSent},
	} {
		for by := range everyMemory() {
			t.Run(name+", "+by, func(t *testing.T) {
				at(t, "2026-11-20 18:00:00", func(t *testing.T, _ *mockserver.Server) {
					_, err := newClient(t, &service{answers: test.answers}, everyMemory()[by]...).TipoCambio.SUNAT(t.Context(), fecha(t, "2026-11-02"))
					require.ErrorIs(t, err, test.class)
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					assert.Equal(t, fiscope.OpTipoCambioSUNAT, e.Op)
					assert.Equal(t, test.attempts, e.Attempts)
					assert.Equal(t, test.delivery, e.Delivery, err)
				})
			})
		}
	}
}

func TestADatingRefusesLocally(t *testing.T) {
	client, s := answers(t, raw(200, price))
	for name, err := range map[string]error{
		"zero":           second(client.TipoCambio.SUNAT(t.Context(), fiscope.Fecha{})),
		"30 February":    second(client.TipoCambio.UltimoPublicado(t.Context(), fiscope.NewFecha(2026, time.February, 30))),
		"nil option":     second(client.TipoCambio.MasReciente(t.Context(), nil)),
		"a wrong option": second(client.TipoCambio.SUNAT(t.Context(), viernes, fiscope.WithQuotaReserve(-1))),
		//lint:ignore SA1012 the point of the test
		"nil context":          second(client.TipoCambio.SUNAT(nil, viernes)), //nolint:staticcheck // the point of the test
		"provisional":          second(client.TipoCambio.Consultar(t.Context(), viernes, fiscope.WithProvisional())),
		"decreed days":         second(client.TipoCambio.Hoy(t.Context(), fiscope.WithNoLaborables())),
		"every day elsewhere":  second(client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithTodosLosDias())),
		"every day of one day": second(client.TipoCambio.SUNAT(t.Context(), viernes, fiscope.WithTodosLosDias())),
	} {
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
	}
	for _, month := range []time.Month{0, 13} {
		n := 0
		for line, err := range client.TipoCambio.Mes(t.Context(), 2021, month) {
			n++
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			assert.Zero(t, line.TipoCambio)
		}
		assert.Equal(t, 1, n, month)
	}
	assert.Empty(t, s.seen())
}
