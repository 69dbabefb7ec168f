package fiscope_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
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

func fecha(t testing.TB, s string) fiscope.Fecha {
	t.Helper()
	f, err := fiscope.ParseFecha(s)
	require.NoError(t, err)
	return f
}

// julio2021 is a mock with the rates that SUNAT's own tables of January 2019 and July 2021 show, and
// others of the mock's series.
func julio2021(t testing.TB) *mockserver.Server {
	srv := mockserver.New(t, mockserver.WithoutSocket())
	for _, r := range [][3]string{
		{"2019-01-02", "3.369", "3.373"}, {"2019-01-04", "3.356", "3.360"},
		{"2021-06-30", "3.849", "3.866"}, {"2021-07-27", "3.914", "3.924"}, {"2021-07-30", "4.036", "4.044"},
	} {
		require.NoError(t, srv.PutTipoCambio(r[0], r[1], r[2]))
	}
	return srv
}

func second[T any](_ T, err error) error { return err }

// at runs f in a bubble at an hour of Lima, as in "2026-11-18 17:00:00", a Wednesday.
func at(t *testing.T, hour string, f func(*testing.T, *mockserver.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		then, err := time.ParseInLocation(time.DateTime, hour, fiscope.Lima)
		require.NoError(t, err)
		time.Sleep(time.Until(then))
		f(t, mockserver.New(t, mockserver.WithoutSocket()))
	})
}

func TestARateThatMayStillComeIsNotPassed(t *testing.T) {
	official, provisional := []fiscope.CallOption(nil), []fiscope.CallOption{fiscope.WithProvisional()}
	decreed := []fiscope.CallOption{fiscope.WithNoLaborables(fiscope.NoLaborables{fecha(t, "2026-11-17")}, fiscope.NoLaborables{fecha(t, "2026-11-18")})}
	for name, test := range map[string]struct {
		now     string // 2026-11-18 is a Wednesday
		fecha   string
		opts    []fiscope.CallOption
		none    []string // business days without a rate
		want    string   // the effective date; "" for ErrNotYetPublished
		queries int
		changes bool // Provisional
	}{
		"today, a second too early":           {"2026-11-18 16:59:59", "2026-11-18", official, nil, "", 0, false},
		"... provisional":                     {"2026-11-18 16:59:59", "2026-11-18", provisional, nil, "2026-11-17", 1, true},
		"today, in time":                      {"2026-11-18 17:00:00", "2026-11-18", official, nil, "2026-11-18", 1, false},
		"... provisional is official then":    {"2026-11-18 17:00:00", "2026-11-18", provisional, nil, "2026-11-18", 1, false},
		"today, late":                         {"2026-11-18 18:00:00", "2026-11-18", official, []string{"2026-11-18"}, "", 1, false},
		"... provisional, late":               {"2026-11-18 18:00:00", "2026-11-18", provisional, []string{"2026-11-18"}, "2026-11-17", 2, true},
		"yesterday, in the morning":           {"2026-11-18 08:00:00", "2026-11-17", official, nil, "2026-11-17", 1, false},
		"tomorrow":                            {"2026-11-18 18:00:00", "2026-11-19", official, nil, "", 0, false},
		"... provisional, tomorrow":           {"2026-11-18 18:00:00", "2026-11-19", provisional, nil, "2026-11-18", 1, true},
		"Sunday, on Friday at noon":           {"2026-11-20 12:00:00", "2026-11-22", official, nil, "", 0, false},
		"Sunday, on Friday evening":           {"2026-11-20 17:00:00", "2026-11-22", official, nil, "2026-11-20", 1, false},
		"a week ahead, provisional":           {"2026-11-18 12:00:00", "2026-11-25", provisional, nil, "2026-11-17", 1, true},
		"ten days ahead, provisional":         {"2026-11-18 12:00:00", "2026-11-27", provisional, nil, "", 0, false},
		"no later day is due":                 {"2026-11-18 17:00:00", "2026-11-18", official, []string{"2026-11-18"}, "", 1, false},
		"... on the day after it":             {"2026-11-19 16:59:59", "2026-11-18", official, []string{"2026-11-18"}, "", 1, false},
		"the next day's is out":               {"2026-11-18 17:00:00", "2026-11-17", official, []string{"2026-11-17"}, "2026-11-16", 3, true},
		"... with WithProvisional too":        {"2026-11-18 17:00:00", "2026-11-17", provisional, []string{"2026-11-17"}, "2026-11-16", 3, true},
		"the next day's is not out":           {"2026-11-18 17:00:00", "2026-11-17", official, []string{"2026-11-17", "2026-11-18"}, "", 2, false},
		"... it is not, provisional":          {"2026-11-18 17:00:00", "2026-11-17", provisional, []string{"2026-11-17", "2026-11-18"}, "2026-11-16", 3, true},
		"over a weekend":                      {"2026-11-16 17:00:00", "2026-11-15", official, []string{"2026-11-13"}, "2026-11-12", 3, true},
		"... not on Sunday":                   {"2026-11-15 23:59:59", "2026-11-15", official, []string{"2026-11-13"}, "", 1, false},
		"two in a row, and then one":          {"2026-11-18 17:00:00", "2026-11-16", official, []string{"2026-11-16", "2026-11-17"}, "2026-11-13", 4, true},
		"three in a row, and then one":        {"2026-11-18 17:00:00", "2026-11-13", official, []string{"2026-11-13", "2026-11-16", "2026-11-17"}, "2026-11-12", 5, true},
		"three in a row, asked for the last":  {"2026-11-18 17:00:00", "2026-11-17", official, []string{"2026-11-13", "2026-11-16", "2026-11-17"}, "2026-11-12", 5, true},
		"four in a row, and then one":         {"2026-11-19 17:00:00", "2026-11-13", official, []string{"2026-11-13", "2026-11-16", "2026-11-17", "2026-11-18"}, "2026-11-12", 6, true},
		"after ten days it is not looked for": {"2026-11-18 17:00:00", "2026-11-06", official, []string{"2026-11-06"}, "2026-11-05", 2, false},
		"... the last of them":                {"2026-11-16 16:59:59", "2026-11-06", official, []string{"2026-11-06"}, "2026-11-05", 3, true},
		"a decreed day is not asked for":      {"2026-11-18 17:00:00", "2026-11-18", decreed, nil, "2026-11-16", 1, false},
		"... nor waited for":                  {"2026-11-18 08:00:00", "2026-11-18", decreed, nil, "2026-11-16", 1, false},
		"... nor looked at after another":     {"2026-11-19 17:00:00", "2026-11-16", decreed, []string{"2026-11-16", "2026-11-17"}, "2026-11-13", 3, true},
		"two decreed days long ago":           {"2026-11-18 12:00:00", "2026-10-13", official, []string{"2026-10-12", "2026-10-13"}, "2026-10-09", 3, false},
		"three without a rate, provisional":   {"2026-11-18 17:00:00", "2026-11-17", provisional, []string{"2026-11-17", "2026-11-16", "2026-11-13"}, "2026-11-12", 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			for dating, shift := range map[string]int{"UltimoPublicado": 0, "SUNAT": 1} {
				at(t, test.now, func(t *testing.T, srv *mockserver.Server) {
					for _, day := range test.none {
						require.NoError(t, srv.DeleteTipoCambio(day))
					}
					client := srv.Client()
					ask := map[string]func(context.Context, fiscope.Fecha, ...fiscope.CallOption) (*fiscope.TipoCambioVigente, error){
						"UltimoPublicado": client.TipoCambio.UltimoPublicado, "SUNAT": client.TipoCambio.SUNAT,
					}[dating]
					got, err := ask(t.Context(), fecha(t, test.fecha).SumarDias(shift), test.opts...)
					assert.EqualValues(t, test.queries, client.Stats().Sent)
					if test.want == "" {
						assert.Nil(t, got)
						require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
						require.ErrorIs(t, err, fiscope.ErrNotFound)
						var e *fiscope.Error
						require.ErrorAs(t, err, &e)
						assert.Equal(t, fiscope.Operation("TipoCambio."+dating), e.Op)
						assert.Equal(t, test.queries, e.Attempts)
						assert.Equal(t, test.queries == 0, e.Delivery == fiscope.DeliveryNotSent)
						return
					}
					require.NoError(t, err)
					assert.Equal(t, test.want, got.TipoCambio.Fecha.String())
					assert.Equal(t, test.queries, got.Consultas)
					assert.Equal(t, test.changes, got.Provisional)
				})
			}
		})
	}
}

func TestMasReciente(t *testing.T) {
	for name, test := range map[string]struct {
		now     string
		none    []string
		opts    []fiscope.CallOption
		want    string // "" for ErrNotFound
		queries int
	}{
		"before 17:00":            {"2026-11-18 16:59:59", nil, nil, "2026-11-17", 1},
		"at 17:00":                {"2026-11-18 17:00:00", nil, nil, "2026-11-18", 1},
		"late":                    {"2026-11-18 17:30:00", []string{"2026-11-18"}, nil, "2026-11-17", 2},
		"on Monday morning":       {"2026-11-16 08:00:00", nil, nil, "2026-11-13", 1},
		"on Sunday":               {"2026-11-15 20:00:00", nil, nil, "2026-11-13", 1},
		"on a holiday":            {"2026-12-08 20:00:00", nil, nil, "2026-12-07", 1},
		"just after midnight":     {"2026-11-18 00:00:01", nil, nil, "2026-11-17", 1},
		"two are missing":         {"2026-11-18 08:00:00", []string{"2026-11-17", "2026-11-16"}, nil, "2026-11-13", 3},
		"a decreed day":           {"2026-11-18 08:00:00", nil, []fiscope.CallOption{fiscope.WithNoLaborables(fiscope.NoLaborables{fecha(t, "2026-11-17")})}, "2026-11-16", 1},
		"the service has nothing": {"2026-11-18 08:00:00", []string{"2026-11-17", "2026-11-16", "2026-11-13", "2026-11-12", "2026-11-11", "2026-11-10", "2026-11-09"}, nil, "", 7},
	} {
		t.Run(name, func(t *testing.T) {
			at(t, test.now, func(t *testing.T, srv *mockserver.Server) {
				for _, day := range test.none {
					require.NoError(t, srv.DeleteTipoCambio(day))
				}
				client := srv.Client()
				got, err := client.TipoCambio.MasReciente(t.Context(), test.opts...)
				assert.EqualValues(t, test.queries, client.Stats().Sent)
				if test.want == "" {
					require.ErrorIs(t, err, fiscope.ErrNotFound)
					require.NotErrorIs(t, err, fiscope.ErrNotYetPublished)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, test.want, got.TipoCambio.Fecha.String())
				assert.Equal(t, fiscope.HoyEnLima(), got.Para)
				assert.Equal(t, test.queries, got.Consultas)
				assert.False(t, got.Provisional)
			})
		})
	}
	t.Run("by the client's clock", func(t *testing.T) {
		srv := mockserver.New(t, mockserver.WithoutSocket(), mockserver.WithNow(time.Date(2026, time.November, 18, 9, 0, 0, 0, fiscope.Lima)))
		got, err := srv.Client(fiscope.WithClock(srv.Now)).TipoCambio.MasReciente(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "2026-11-18", got.Para.String())
		assert.Equal(t, "2026-11-17", got.TipoCambio.Fecha.String())
	})
}

func TestEachLineOfATableHasItsOwnResponse(t *testing.T) {
	srv := julio2021(t)
	require.NoError(t, srv.DeleteTipoCambio("2021-07-05"))
	resp := fiscope.Response{Warnings: []string{"of another call"}}
	for line, err := range srv.Client().TipoCambio.Mes(t.Context(), 2021, time.July, fiscope.WithTodosLosDias(), fiscope.WithResponse(&resp)) {
		require.NoError(t, err)
		assert.Equal(t, line.Consultas, resp.Attempts, line.Para)
		assert.Equal(t, 200, resp.StatusCode, "of the day whose rate it is")
		assert.Len(t, resp.Warnings, len(line.SinTasa))
	}
	for _, err := range srv.Client().TipoCambio.Mes(t.Context(), 2021, time.June, fiscope.WithResponse(&resp)) {
		require.NoError(t, err)
	}
	assert.Equal(t, 200, resp.StatusCode, "of the last line")
}

// everyMemory are the ways to keep and to share answers: what holds without them holds with them.
func everyMemory() map[string][]fiscope.Option {
	return map[string][]fiscope.Option{
		"alone":      nil,
		"cache":      {fiscope.WithCache(fiscope.CachePolicy{})},
		"coalescing": {fiscope.WithCoalescing()},
		"store":      {fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(newMemoryStore())},
	}
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
	client := srv.Client(append(opts, fiscope.WithHTTPClient(&http.Client{Transport: handler(func(r *http.Request) (*http.Response, error) {
		time.Sleep(time.Millisecond)
		return srv.Transport().RoundTrip(r)
	})}))...)
	closeWith(t, client)
	return client
}

// A provider that answers with the last rate that it has, as lenient reading lets pass, does not make it that of the day.
func TestTheRateOfAnotherDateIsNone(t *testing.T) {
	at(t, "2026-11-20 18:00:00", func(t *testing.T, _ *mockserver.Server) {
		client := newClient(t, raw(200, change(price, "2026-11-20", "2026-11-18")), fiscope.WithLenientReading())
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
var refusesToDial = handler(func(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GetConn("x")
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
})

// The error of a walk says what became of all its queries, also if the last of them was not sent.
func TestTheErrorOfAWalkTellsWhatWasSent(t *testing.T) {
	none, none0 := raw(404, contract(t, "tipocambio_404.json")), raw(404, contract(t, "tipocambio_404.json"), "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2026-11-21T05:00:00Z")
	for name, test := range map[string]struct {
		answers  []handler
		class    error
		attempts int
		delivery fiscope.Delivery
	}{
		"one is tried again":                 {[]handler{none, raw(503, ""), none, raw(429, "")}, fiscope.ErrQuotaExceeded, 4, fiscope.DeliveryAnswered},
		"the quota is spent after the first": {[]handler{none0}, fiscope.ErrQuotaExceeded, 1, fiscope.DeliveryAnswered},
		"the last gets no answer":            {[]handler{none, broken(syscall.ECONNRESET)}, fiscope.ErrUnavailable, 4, fiscope.DeliveryUnknown},
		"a day is not answered":              {[]handler{raw(503, ""), raw(503, ""), raw(503, ""), ratesOf(t, 0)}, fiscope.ErrUnavailable, 3, fiscope.DeliveryAnswered},
		"nothing is sent":                    {[]handler{refusesToDial}, fiscope.ErrUnavailable, 3, fiscope.DeliveryNotSent},
		"none of ten days has a rate":        {[]handler{none}, fiscope.ErrNotFound, 6, fiscope.DeliveryAnswered},
	} {
		t.Run(name, func(t *testing.T) {
			at(t, "2026-11-20 18:00:00", func(t *testing.T, _ *mockserver.Server) {
				var resp fiscope.Response
				err := second(newClient(t, &service{answers: test.answers}).TipoCambio.SUNAT(t.Context(), fecha(t, "2026-11-02"), fiscope.WithResponse(&resp)))
				require.ErrorIs(t, err, test.class)
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, fiscope.OpTipoCambioSUNAT, e.Op)
				assert.Equal(t, test.attempts, e.Attempts)
				assert.Equal(t, test.attempts, resp.Attempts)
				assert.Equal(t, test.delivery, e.Delivery, err)
			})
		})
	}
}

func TestAQueryOfAnotherCallIsNotCounted(t *testing.T) {
	at(t, "2026-11-18 16:55:00", func(t *testing.T, _ *mockserver.Server) {
		client, _ := newChangingClient(t, slowly(ratesOf(t, 0)), fiscope.WithCoalescing())
		var total atomic.Int64
		together(5, func(int) {
			got, err := client.TipoCambio.SUNAT(t.Context(), fecha(t, "2026-11-16"))
			assert.NoError(t, err)
			total.Add(int64(got.Consultas))
		})
		assert.EqualValues(t, 1, total.Load())
	})
}

// This machine is a day behind.
func TestTodayIsTheServices(t *testing.T) {
	at(t, "2026-11-17 18:00:00", func(t *testing.T, _ *mockserver.Server) {
		client, _ := answers(t, raw(200, record, "Date: Wed, 18 Nov 2026 23:00:00 GMT"), ratesOf(t, 24*time.Hour), raw(200, strings.Replace(price, "2026-11-20", "2026-11-18", 1), "Date: Wed, 18 Nov 2026 23:00:00 GMT"))
		require.NoError(t, operations["consultar"](t.Context(), client))
		got, err := client.TipoCambio.MasReciente(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "2026-11-18", got.TipoCambio.Fecha.String())
		var resp fiscope.Response
		require.NoError(t, second(client.TipoCambio.Hoy(t.Context(), fiscope.WithResponse(&resp))))
		assert.Empty(t, resp.Warnings)
	})
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
	assert.EqualValues(t, 11, client.Stats().Avoided[fiscope.AvoidedInvalid])
}

// ratesOf answers with the rate of each business day but some, which it has at its hour. Its answers have the Date of its
// clock, which is as far ahead of this machine's; 0 for answers without a Date.
func ratesOf(t testing.TB, ahead time.Duration, lost ...string) handler {
	return func(r *http.Request) (*http.Response, error) {
		now, headers := time.Now().Add(ahead), []string(nil)
		if ahead != 0 {
			headers = []string{"Date: " + now.UTC().Format(http.TimeFormat)}
		}
		day := fecha(t, r.URL.Query().Get("fecha"))
		if !day.DiaHabil() || slices.Contains(lost, day.String()) || now.Before(day.Publicacion()) {
			return raw(404, contract(t, "tipocambio_404.json"), headers...)(r)
		}
		return raw(200, change(price, "2026-11-20", day.String()), headers...)(r)
	}
}

// A business day that the service lost leaves an older rate, which says so.
func TestADayThatTheServiceLost(t *testing.T) {
	const martes, lunes = "2026-11-17", "2026-11-16"
	decreed := fiscope.WithNoLaborables(fiscope.NoLaborables{fecha(t, martes)})
	for name, test := range map[string]struct {
		now, fecha string
		lost       []string
		opts       []fiscope.CallOption
		rate       string
		sinTasa    []string
		changes    bool
		queries    int
	}{
		"the invoice of the day after it": {"2026-11-18 17:00:00", "2026-11-18", []string{martes}, nil, lunes, []string{martes}, true, 3},
		"... with WithProvisional":        {"2026-11-18 17:00:00", "2026-11-18", []string{martes}, []fiscope.CallOption{fiscope.WithProvisional()}, lunes, []string{martes}, true, 3},
		"... once the next rate is used":  {"2026-11-18 17:00:00", "2026-11-19", []string{martes}, nil, "2026-11-18", nil, false, 1},
		"... while it may still come":     {"2026-11-18 16:59:59", "2026-11-18", []string{martes}, []fiscope.CallOption{fiscope.WithProvisional()}, lunes, nil, true, 2},
		"... a second before ten days":    {"2026-11-27 16:59:59", "2026-11-18", []string{martes}, nil, lunes, []string{martes}, true, 3},
		"... after ten days":              {"2026-11-27 17:00:00", "2026-11-18", []string{martes}, nil, lunes, []string{martes}, false, 2},
		"... though no later is known":    {"2026-11-27 17:00:00", "2026-11-18", []string{martes, "2026-11-18", "2026-11-19", "2026-11-20"}, nil, lunes, []string{martes}, false, 2},
		"declared free":                   {"2026-11-18 17:00:00", "2026-11-18", []string{martes}, []fiscope.CallOption{decreed}, lunes, nil, false, 1},
		"over a weekend, two of them":     {"2026-11-18 17:00:00", "2026-11-17", []string{"2026-11-13", lunes}, nil, "2026-11-12", []string{"2026-11-13", lunes}, true, 4},
	} {
		for by := range everyMemory() {
			for dating, shift := range map[string]int{"SUNAT": 0, "UltimoPublicado": -1} {
				t.Run(name+", "+dating+", "+by, func(t *testing.T) {
					at(t, test.now, func(t *testing.T, _ *mockserver.Server) {
						s := &service{answers: []handler{after(time.Millisecond, ratesOf(t, 0, test.lost...))}}
						client := newClient(t, s, everyMemory()[by]...)
						ask := client.TipoCambio.SUNAT
						if shift != 0 {
							ask = client.TipoCambio.UltimoPublicado
						}
						for again := range 3 {
							var resp fiscope.Response
							got, err := ask(t.Context(), fecha(t, test.fecha).SumarDias(shift), append(test.opts, fiscope.WithResponse(&resp))...)
							require.NoError(t, err)
							written, err := json.Marshal(got)
							require.NoError(t, err)
							var read fiscope.TipoCambioVigente
							require.NoError(t, json.Unmarshal(written, &read))
							assert.Equal(t, test.rate, read.TipoCambio.Fecha.String())
							assert.Equal(t, test.changes, read.Provisional)
							if assert.Len(t, read.SinTasa, len(test.sinTasa)); len(test.sinTasa) > 0 {
								assert.Equal(t, []string{"business days without a rate: [" + strings.Join(test.sinTasa, " ") + "]"}, resp.Warnings)
								assert.Equal(t, fmt.Sprint(test.sinTasa), fmt.Sprint(read.SinTasa))
							} else {
								assert.Empty(t, resp.Warnings)
								assert.NotContains(t, string(written), "sinTasa")
							}
							if kept := by == "cache" || by == "store"; !kept || again == 0 {
								assert.Equal(t, test.queries, got.Consultas)
							} else if again == 1 {
								assert.LessOrEqual(t, got.Consultas, len(test.sinTasa), "those that were cached before the later rate")
							} else {
								assert.Zero(t, got.Consultas)
							}
							assert.Equal(t, got.Consultas, resp.Attempts)
							assert.Equal(t, 200, resp.StatusCode)
							assert.False(t, resp.AsOf.IsZero())
							if source := resp.Source; again > 0 && (by == "cache" || by == "store") {
								assert.Equal(t, fiscope.SourceCache, source, "of the day whose rate it is")
							} else {
								assert.Equal(t, fiscope.SourceService, source)
								assert.Equal(t, time.Duration(test.queries)*time.Millisecond, resp.Duration)
							}
						}
					})
				})
			}
		}
	}
}

func TestATableWithLostDays(t *testing.T) {
	lost := []string{"2026-11-13", "2026-11-17", "2026-11-27", "2026-11-30"} // Friday, Tuesday, the last two of the month
	for name, test := range map[string]struct {
		now  string
		opts []fiscope.CallOption
		want string // a line's day, its rate's, and that it may change
		ends string // the warning after the last line
	}{
		"each line":      {"2026-12-02 18:00:00", nil, "17 16 [2026-11-13]|19 18 [2026-11-17]", "[2026-11-27]"},
		"... in time":    {"2026-11-18 18:00:00", nil, "17 16 [2026-11-13]|19 18 [2026-11-17]", ""},
		"every day":      {"2026-12-02 18:00:00", []fiscope.CallOption{fiscope.WithTodosLosDias()}, "14 12 [2026-11-13]|15 12 [2026-11-13]|16 12 [2026-11-13]|18 16 [2026-11-17]|28 26 [2026-11-27]?|29 26 [2026-11-27]?|30 26 [2026-11-27]?", ""},
		"... after all":  {"2026-12-23 18:00:00", []fiscope.CallOption{fiscope.WithTodosLosDias()}, "14 12 [2026-11-13]|15 12 [2026-11-13]|16 12 [2026-11-13]|18 16 [2026-11-17]|28 26 [2026-11-27]|29 26 [2026-11-27]|30 26 [2026-11-27]", ""},
		"... in time, +": {"2026-11-18 18:00:00", []fiscope.CallOption{fiscope.WithTodosLosDias()}, "14 12 [2026-11-13]?|15 12 [2026-11-13]?|16 12 [2026-11-13]?|18 16 [2026-11-17]?", ""},
	} {
		t.Run(name, func(t *testing.T) {
			at(t, test.now, func(t *testing.T, _ *mockserver.Server) {
				client := newClient(t, ratesOf(t, 0, lost...))
				var marked []string
				var resp fiscope.Response
				queries := 0
				for line, err := range client.TipoCambio.Mes(t.Context(), 2026, time.November, append(test.opts, fiscope.WithResponse(&resp))...) {
					if err != nil {
						require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
						break
					}
					queries += line.Consultas
					text := fmt.Sprintf("%d %d %s", line.Para.Day(), line.TipoCambio.Fecha.Day(), line.SinTasa)
					if line.Provisional {
						text += "?"
					}
					if len(line.SinTasa) > 0 {
						marked = append(marked, text)
						assert.Equal(t, []string{fmt.Sprintf("business days without a rate: %s", line.SinTasa)}, resp.Warnings)
					} else {
						assert.Empty(t, resp.Warnings, text)
						assert.False(t, line.Provisional, text)
					}
				}
				assert.Equal(t, test.want, strings.Join(marked, "|"))
				if test.ends != "" {
					assert.Equal(t, []string{"business days without a rate: " + test.ends}, resp.Warnings)
				}
			})
		})
	}
}

// The hour of a rate is that of the last Date that the service sent, whatever this machine's clock says.
func TestTheHourOfARateIsTheServices(t *testing.T) {
	for name, test := range map[string]struct {
		now   string        // by this machine
		ahead time.Duration // the service's clock
		first string        // the day asked about: "" for a lookup of a taxpayer
		sent  int           // queries of the first call
		wait  time.Duration // its RetryAfter
		then  time.Duration // later
		opts  []fiscope.Option
		rate  string // of 2026-11-18 then; "" for ErrNotYetPublished
		again int    // queries then
	}{
		"ahead by two hours":              {"2026-11-18 17:30:00", -2 * time.Hour, "2026-11-18", 1, 90 * time.Minute, 89 * time.Minute, nil, "", 0},
		"... carried on":                  {"2026-11-18 17:30:00", -2 * time.Hour, "2026-11-18", 1, 90 * time.Minute, 90 * time.Minute, nil, "2026-11-18", 1},
		"... known from a lookup":         {"2026-11-18 17:30:00", -2 * time.Hour, "", 1, 0, 0, nil, "", 0},
		"ahead by eleven days":            {"2026-11-29 18:00:00", -11 * 24 * time.Hour, "2026-11-18", 1, 15 * time.Minute, time.Minute, nil, "", 1},
		"... with a cache":                {"2026-11-29 18:00:00", -11 * 24 * time.Hour, "2026-11-18", 1, 15 * time.Minute, 15 * time.Minute, []fiscope.Option{fiscope.WithCache(fiscope.CachePolicy{})}, "", 1},
		"behind by two hours":             {"2026-11-18 15:30:00", 2 * time.Hour, "", 1, 0, 0, nil, "2026-11-18", 1},
		"... without a Date":              {"2026-11-18 15:30:00", 2 * time.Hour, "2026-11-18", 0, 90 * time.Minute, 0, nil, "", 0},
		"with WithClock that clock alone": {"2026-11-18 17:30:00", -2 * time.Hour, "", 1, 0, 0, []fiscope.Option{fiscope.WithClock(time.Now)}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			at(t, test.now, func(t *testing.T, _ *mockserver.Server) {
				lost := []string{}
				if strings.HasPrefix(test.now, "2026-11-29") {
					lost = append(lost, "2026-11-18")
				}
				s := &service{answers: []handler{func(r *http.Request) (*http.Response, error) {
					if !strings.Contains(r.URL.Path, "tipocambio") {
						return raw(200, record, "Date: "+time.Now().Add(test.ahead).UTC().Format(http.TimeFormat))(r)
					}
					return ratesOf(t, test.ahead, lost...)(r)
				}}}
				client := newClient(t, s, test.opts...)
				if test.first == "" {
					require.NoError(t, operations["consultar"](t.Context(), client))
				} else {
					_, err := client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, test.first))
					require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					assert.Equal(t, test.wait, e.RetryAfter)
				}
				assert.Len(t, s.seen(), test.sent)
				time.Sleep(test.then)
				got, err := client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2026-11-18"))
				assert.Len(t, s.seen(), test.sent+test.again)
				if test.rate == "" {
					require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, test.rate, got.TipoCambio.Fecha.String())
			})
		})
	}
}

func TestAHalfTypedDateCostsNothing(t *testing.T) {
	at(t, "2026-11-20 18:00:00", func(t *testing.T, _ *mockserver.Server) {
		client, s := answers(t, ratesOf(t, 0))
		month := func(year int, mes time.Month) error {
			for _, err := range client.TipoCambio.Mes(t.Context(), year, mes, fiscope.WithProvisional()) {
				return err
			}
			return nil
		}
		for name, test := range map[string]struct {
			err    error
			refuse bool
		}{
			"a year of three digits":      {second(client.TipoCambio.SUNAT(t.Context(), fecha(t, "0202-11-20"))), true},
			"before the sol":              {second(client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "1991-06-30"))), true},
			"its first day":               {second(client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "1991-07-01"))), false},
			"in 31 days":                  {second(client.TipoCambio.SUNAT(t.Context(), fecha(t, "2026-12-21"))), false},
			"in 32":                       {second(client.TipoCambio.SUNAT(t.Context(), fecha(t, "2026-12-22"))), true},
			"in 32, to value a balance":   {second(client.TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2026-12-22"))), true},
			"June 1991":                   {month(1991, time.June), true},
			"July 1991":                   {month(1991, time.July), false},
			"a month that begins in time": {month(2026, time.December), false},
			"the one after it":            {month(2027, time.January), true},
			"month 0":                     {month(2026, 0), true},
			"by its own name":             {second(client.TipoCambio.Consultar(t.Context(), fecha(t, "2062-11-20"))), false},
		} {
			if !test.refuse {
				require.NotErrorIs(t, test.err, fiscope.ErrInvalidRequest, name)
				continue
			}
			require.ErrorIs(t, test.err, fiscope.ErrInvalidRequest, name)
			var e *fiscope.Error
			require.ErrorAs(t, test.err, &e)
			assert.Equal(t, "fecha", e.Field, name)
			assert.Zero(t, e.RetryAfter)
			assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
		}
		for _, r := range s.seen() {
			for _, refused := range []string{"0202", "1991-06-2", "2026-12", "2027"} {
				assert.NotContains(t, r.url, refused)
			}
		}
	})
}
