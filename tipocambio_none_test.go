package fiscope_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// What the cache holds of a day without a rate was asked at some time, by some clock: neither may make an older
// rate the official one.

const noneOfTheDay = `{"error":"no hay","code":"NOT_FOUND"}`

func rateOf(day string) func(*http.Request) (*http.Response, error) {
	return raw(200, fmt.Sprintf(`{"compra":3.7,"venta":3.71,"moneda":"USD","fecha":%q,"origen":"SBS"}`, day))
}

func TestTheServicesClockCountsForWhatTheCacheHolds(t *testing.T) {
	for by := range everyMemory() {
		t.Run(by, func(t *testing.T) {
			at(t, "2026-11-11 18:00:00", func(t *testing.T, _ *mockserver.Server) {
				s := roundTripper(func(r *http.Request) (*http.Response, error) {
					if day := r.URL.Query().Get("fecha"); day <= "2026-11-10" {
						return rateOf(day)(r)
					}
					return raw(404, noneOfTheDay, "Date: "+time.Now().UTC().Format(http.TimeFormat))(r)
				})
				twoWeeksAhead := func() time.Time { return time.Now().AddDate(0, 0, 14) }
				client := newClient(t, s, append(everyMemory()[by], fiscope.WithClock(twoWeeksAhead))...)
				for range 3 {
					for day, ask := range map[string]func() error{
						"UltimoPublicado": func() error { return second(client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2026-11-11"))) },
						"SUNAT":           func() error { return second(client.TipoCambio.SUNAT(t.Context(), fecha(t, "2026-11-12"))) },
					} {
						require.ErrorIs(t, ask(), fiscope.ErrNotYetPublished, day)
					}
					time.Sleep(time.Minute)
				}
			})
		})
	}
}

func TestAServicesClockThatIsAheadMakesNothingFinal(t *testing.T) {
	at(t, "2026-11-12 18:00:00", func(t *testing.T, _ *mockserver.Server) {
		client, _ := answers(t, raw(404, noneOfTheDay, "Date: Mon, 25 Nov 2030 23:00:00 GMT"))
		_, err := client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2026-11-11"))
		require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
	})
}

// What the cache holds has no date of the service: for that it is asked once more.
func TestAnOldDayWithoutARateStaysFinalWhereNoLaterRateIsOut(t *testing.T) {
	for by := range everyMemory() {
		t.Run(by, func(t *testing.T) {
			at(t, "2026-11-25 18:00:00", func(t *testing.T, _ *mockserver.Server) {
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					if day := r.URL.Query().Get("fecha"); day <= "2026-11-10" {
						return rateOf(day)(r)
					}
					return raw(404, noneOfTheDay)(r)
				}), everyMemory()[by]...)
				for range 3 {
					got, err := client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2026-11-11"))
					require.NoError(t, err)
					assert.Equal(t, "2026-11-10", got.TipoCambio.Fecha.String())
				}
			})
		})
	}
}

// Of a day that is long past, the cache spares all queries once it knows a later rate.
func TestAnOldDayWithoutARateComesFromTheCache(t *testing.T) {
	at(t, "2026-11-20 18:00:00", func(t *testing.T, srv *mockserver.Server) {
		require.NoError(t, srv.DeleteTipoCambio("2026-06-10"))
		client := srv.Client(fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithObserver(func(fiscope.Event) { time.Sleep(time.Millisecond) }))
		for _, want := range []int{2, 2, 0, 0} {
			got, err := client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2026-06-10"))
			require.NoError(t, err)
			assert.Equal(t, "2026-06-09", got.TipoCambio.Fecha.String())
			assert.Equal(t, want, got.Consultas)
		}
	})
}

// It was read before the hour and came after the rate of the next day.
func TestASlowNoneIsAsOldAsItsQuestion(t *testing.T) {
	for by := range everyMemory() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				published := fecha(t, "2026-11-18").Publicacion()
				time.Sleep(time.Until(published.Add(-time.Second)))
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					day := r.URL.Query().Get("fecha")
					out := day < "2026-11-17" || !time.Now().Before(published)
					if day == "2026-11-17" && !out {
						time.Sleep(8 * time.Second)
					}
					if out {
						return rateOf(day)(r)
					}
					return raw(404, noneOfTheDay)(r)
				}), everyMemory()[by]...)
				var wg sync.WaitGroup
				wg.Go(func() { _, _ = client.TipoCambio.Consultar(t.Context(), fecha(t, "2026-11-17")) })
				time.Sleep(3 * time.Second)
				_, err := client.TipoCambio.Consultar(t.Context(), fecha(t, "2026-11-18"))
				require.NoError(t, err)
				wg.Go(func() { // it may join the slow query
					got, err := client.TipoCambio.SUNAT(t.Context(), fecha(t, "2026-11-18"))
					if assert.NoError(t, err) {
						assert.Equal(t, "2026-11-17", got.TipoCambio.Fecha.String())
					}
				})
				wg.Wait()
				got, err := client.TipoCambio.SUNAT(t.Context(), fecha(t, "2026-11-18"))
				require.NoError(t, err)
				assert.Equal(t, "2026-11-17", got.TipoCambio.Fecha.String())
			})
		})
	}
}

// A clock of tests that stands still gives every answer the same time.
func TestAClockThatStandsStillMakesNoNoneANewOne(t *testing.T) {
	for by := range everyMemory() {
		t.Run(by, func(t *testing.T) {
			out := false
			s := roundTripper(func(r *http.Request) (*http.Response, error) {
				if day := r.URL.Query().Get("fecha"); out || day != "2026-11-17" {
					return rateOf(day)(r)
				}
				return raw(404, noneOfTheDay)(r)
			})
			client := newClient(t, s, append(everyMemory()[by], fiscope.WithClock(func() time.Time { return fecha(t, "2026-11-18").Publicacion().Add(5 * time.Minute) }))...)
			_, err := client.TipoCambio.Consultar(t.Context(), fecha(t, "2026-11-17"))
			require.ErrorIs(t, err, fiscope.ErrNotFound)
			out = true
			got, err := client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2026-11-17"))
			require.NoError(t, err)
			assert.Equal(t, "2026-11-17", got.TipoCambio.Fecha.String())
		})
	}
}
