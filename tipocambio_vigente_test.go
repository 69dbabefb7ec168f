package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

func TestSUNATsTableOfJuly2021(t *testing.T) {
	client := julio2021(t).Client()
	var days []int
	rates := map[int]string{}
	for line, err := range client.TipoCambio.Mes(t.Context(), 2021, time.July) {
		require.NoError(t, err)
		assert.Equal(t, line.Para.AddDays(-1), line.TipoCambio.Fecha)
		assert.Equal(t, 1, line.Consultas)
		assert.False(t, line.Provisional)
		days = append(days, line.Para.Day())
		rates[line.Para.Day()] = line.TipoCambio.Compra.StringFixed(3) + "/" + line.TipoCambio.Venta.StringFixed(3)

		one, err := client.TipoCambio.SUNAT(t.Context(), line.Para)
		require.NoError(t, err)
		assert.Equal(t, line, *one, "SUNAT says the same")
	}
	assert.Equal(t, []int{1, 2, 3, 6, 7, 8, 9, 10, 13, 14, 15, 16, 17, 20, 21, 22, 23, 24, 27, 28, 31}, days)
	assert.Equal(t, "3.849/3.866", rates[1])
	assert.Equal(t, "3.914/3.924", rates[28])
	assert.Equal(t, "4.036/4.044", rates[31])
	assert.EqualValues(t, 2*21, client.Stats().Sent)
}

func TestTheTwoDatings(t *testing.T) {
	for name, test := range map[string]struct {
		dating, fecha, effective, rate string
	}{
		"July 2021, the 1st":                     {"SUNAT", "2021-07-01", "2021-06-30", "3.849/3.866"},
		"July 2021, the 28th, a holiday":         {"SUNAT", "2021-07-28", "2021-07-27", "3.914/3.924"},
		"July 2021, the 29th, not listed":        {"SUNAT", "2021-07-29", "2021-07-27", "3.914/3.924"},
		"July 2021, the 30th, not listed":        {"SUNAT", "2021-07-30", "2021-07-27", "3.914/3.924"},
		"July 2021, the 31st":                    {"SUNAT", "2021-07-31", "2021-07-30", "4.036/4.044"},
		"the Monday after":                       {"SUNAT", "2021-08-02", "2021-07-30", "4.036/4.044"},
		"January 2019, the 3rd":                  {"SUNAT", "2019-01-03", "2019-01-02", "3.369/3.373"},
		"January 2019, the 5th":                  {"SUNAT", "2019-01-05", "2019-01-04", "3.356/3.360"},
		"January 2019, Monday the 7th":           {"SUNAT", "2019-01-07", "2019-01-04", "3.356/3.360"},
		"SBS, the 27th":                          {"SBS", "2021-07-27", "2021-07-27", "3.914/3.924"},
		"SBS, the 28th, a holiday":               {"SBS", "2021-07-28", "2021-07-27", "3.914/3.924"},
		"SBS, the 30th":                          {"SBS", "2021-07-30", "2021-07-30", "4.036/4.044"},
		"SBS, Sunday":                            {"SBS", "2021-08-01", "2021-07-30", "4.036/4.044"},
		"the Monday after Holy Week":             {"SUNAT", "2025-04-21", "2025-04-16", "3.606/3.616"},
		"SBS, Easter Sunday":                     {"SBS", "2025-04-20", "2025-04-16", "3.606/3.616"},
		"the 10th of December, after two in row": {"SUNAT", "2025-12-10", "2025-12-05", "3.839/3.849"},
	} {
		t.Run(name, func(t *testing.T) {
			client := julio2021(t).Client()
			ask := client.TipoCambio.SUNAT
			if test.dating == "SBS" {
				ask = client.TipoCambio.UltimoPublicado
			}
			got, err := ask(t.Context(), fecha(t, test.fecha))
			require.NoError(t, err)
			assert.Equal(t, test.fecha, got.Para.String())
			assert.Equal(t, test.effective, got.TipoCambio.Fecha.String())
			assert.Equal(t, test.rate, got.TipoCambio.Compra.StringFixed(3)+"/"+got.TipoCambio.Venta.StringFixed(3))
			assert.False(t, got.Provisional)
			assert.Equal(t, 1, got.Consultas, "days that cannot have a rate cost nothing")
			assert.EqualValues(t, 1, client.Stats().Sent)
		})
	}
}

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
		passed  bool
	}{
		"today, a second too early":              {"2026-11-18 16:59:59", "2026-11-18", official, nil, "", 0, false},
		"... provisional":                        {"2026-11-18 16:59:59", "2026-11-18", provisional, nil, "2026-11-17", 1, true},
		"today, in time":                         {"2026-11-18 17:00:00", "2026-11-18", official, nil, "2026-11-18", 1, false},
		"... provisional is official then":       {"2026-11-18 17:00:00", "2026-11-18", provisional, nil, "2026-11-18", 1, false},
		"today, late":                            {"2026-11-18 18:00:00", "2026-11-18", official, []string{"2026-11-18"}, "", 1, false},
		"... provisional, late":                  {"2026-11-18 18:00:00", "2026-11-18", provisional, []string{"2026-11-18"}, "2026-11-17", 2, true},
		"yesterday, in the morning":              {"2026-11-18 08:00:00", "2026-11-17", official, nil, "2026-11-17", 1, false},
		"tomorrow":                               {"2026-11-18 18:00:00", "2026-11-19", official, nil, "", 0, false},
		"... provisional, tomorrow":              {"2026-11-18 18:00:00", "2026-11-19", provisional, nil, "2026-11-18", 1, true},
		"Sunday, on Friday at noon":              {"2026-11-20 12:00:00", "2026-11-22", official, nil, "", 0, false},
		"Sunday, on Friday evening":              {"2026-11-20 17:00:00", "2026-11-22", official, nil, "2026-11-20", 1, false},
		"a week ahead, provisional":              {"2026-11-18 12:00:00", "2026-11-25", provisional, nil, "2026-11-17", 1, true},
		"ten days ahead, provisional":            {"2026-11-18 12:00:00", "2026-11-27", provisional, nil, "", 0, false},
		"no later day is due":                    {"2026-11-18 17:00:00", "2026-11-18", official, []string{"2026-11-18"}, "", 1, false},
		"... on the day after it":                {"2026-11-19 16:59:59", "2026-11-18", official, []string{"2026-11-18"}, "", 1, false},
		"the next day's is out":                  {"2026-11-18 17:00:00", "2026-11-17", official, []string{"2026-11-17"}, "2026-11-16", 3, false},
		"... it is official, provisional or not": {"2026-11-18 17:00:00", "2026-11-17", provisional, []string{"2026-11-17"}, "2026-11-16", 3, false},
		"the next day's is not out":              {"2026-11-18 17:00:00", "2026-11-17", official, []string{"2026-11-17", "2026-11-18"}, "", 2, false},
		"... it is not, provisional":             {"2026-11-18 17:00:00", "2026-11-17", provisional, []string{"2026-11-17", "2026-11-18"}, "2026-11-16", 3, true},
		"over a weekend":                         {"2026-11-16 17:00:00", "2026-11-15", official, []string{"2026-11-13"}, "2026-11-12", 3, false},
		"... not on Sunday":                      {"2026-11-15 23:59:59", "2026-11-15", official, []string{"2026-11-13"}, "", 1, false},
		"two in a row, and then one":             {"2026-11-18 17:00:00", "2026-11-16", official, []string{"2026-11-16", "2026-11-17"}, "2026-11-13", 4, false},
		"three in a row, and then one":           {"2026-11-18 17:00:00", "2026-11-13", official, []string{"2026-11-13", "2026-11-16", "2026-11-17"}, "2026-11-12", 5, false},
		"three in a row, asked for the last":     {"2026-11-18 17:00:00", "2026-11-17", official, []string{"2026-11-13", "2026-11-16", "2026-11-17"}, "2026-11-12", 5, false},
		"four in a row, and then one":            {"2026-11-19 17:00:00", "2026-11-13", official, []string{"2026-11-13", "2026-11-16", "2026-11-17", "2026-11-18"}, "2026-11-12", 6, false},
		"after ten days it is not looked for":    {"2026-11-18 17:00:00", "2026-11-06", official, []string{"2026-11-06"}, "2026-11-05", 2, false},
		"... the last of them":                   {"2026-11-16 16:59:59", "2026-11-06", official, []string{"2026-11-06"}, "2026-11-05", 3, false},
		"a decreed day is not asked for":         {"2026-11-18 17:00:00", "2026-11-18", decreed, nil, "2026-11-16", 1, false},
		"... nor waited for":                     {"2026-11-18 08:00:00", "2026-11-18", decreed, nil, "2026-11-16", 1, false},
		"... nor looked at after another":        {"2026-11-19 17:00:00", "2026-11-16", decreed, []string{"2026-11-16"}, "2026-11-13", 3, false},
		"two decreed days long ago":              {"2026-11-18 12:00:00", "2026-10-13", official, []string{"2026-10-12", "2026-10-13"}, "2026-10-09", 3, false},
		"three without a rate, provisional":      {"2026-11-18 17:00:00", "2026-11-17", provisional, []string{"2026-11-17", "2026-11-16", "2026-11-13"}, "2026-11-12", 5, false},
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
					got, err := ask(t.Context(), fecha(t, test.fecha).AddDays(shift), test.opts...)
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
					assert.Equal(t, test.passed, got.Provisional)
				})
			}
		})
	}
}

func TestWhatIsNotYetPublishedSaysWhen(t *testing.T) {
	at(t, "2026-11-18 16:00:00", func(t *testing.T, srv *mockserver.Server) {
		_, err := srv.Client().TipoCambio.UltimoPublicado(t.Context(), fecha(t, "2026-11-18"))
		require.EqualError(t, err, "fiscope: TipoCambio.UltimoPublicado: not yet published: that of 2026-11-18 normally is after 17:00 in Lima of that day; nothing was sent")
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, time.Hour, e.RetryAfter)
	})
}

func TestADatingRefusesLocally(t *testing.T) {
	client, s := answers(t, raw(200, contract(t, "tipocambio_200.json")))
	for name, err := range map[string]error{
		"zero":        second(client.TipoCambio.SUNAT(t.Context(), fiscope.Fecha{})),
		"30 February": second(client.TipoCambio.SUNAT(t.Context(), fiscope.NewFecha(2026, time.February, 30))),
		"zero, SBS":   second(client.TipoCambio.UltimoPublicado(t.Context(), fiscope.Fecha{})),
		"nil option":  second(client.TipoCambio.SUNAT(t.Context(), viernes, nil)),
		"an option":   second(client.TipoCambio.SUNAT(t.Context(), viernes, fiscope.WithQuotaReserve(-1))),
		//lint:ignore SA1012 the point of the test
		"nil context": second(client.TipoCambio.SUNAT(nil, viernes)), //nolint:staticcheck // the point of the test
		"elsewhere":   second(client.TipoCambio.Consultar(t.Context(), viernes, fiscope.WithProvisional())),

		"decreed days elsewhere":        second(client.TipoCambio.Hoy(t.Context(), fiscope.WithNoLaborables())),
		"every day elsewhere":           second(client.Contribuyentes.Consultar(t.Context(), rucSUNAT, fiscope.WithTodosLosDias())),
		"every day of one day":          second(client.TipoCambio.SUNAT(t.Context(), viernes, fiscope.WithTodosLosDias())),
		"every day, provisional":        second(client.TipoCambio.UltimoPublicado(t.Context(), viernes, fiscope.WithProvisional(), fiscope.WithTodosLosDias())),
		"the newest, provisional":       second(client.TipoCambio.MasReciente(t.Context(), fiscope.WithProvisional())),
		"the newest, a nil option":      second(client.TipoCambio.MasReciente(t.Context(), nil)),
		"a decreed day that is none":    second(client.TipoCambio.SUNAT(t.Context(), viernes, fiscope.WithNoLaborables(fiscope.NoLaborables{{}}))),
		"a decreed day that is no day":  second(client.TipoCambio.MasReciente(t.Context(), fiscope.WithNoLaborables(nil, fiscope.NoLaborables{fiscope.NewFecha(2026, 2, 30)}))),
		"the newest, without a context": second(client.TipoCambio.MasReciente(nil)), //nolint:staticcheck // the point of the test
	} {
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
	}
	for name, month := range map[string]time.Month{"month 0": 0, "month 13": 13} {
		n := 0
		for line, err := range client.TipoCambio.Mes(t.Context(), 2021, month) {
			n++
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
			assert.Zero(t, line.TipoCambio)
		}
		assert.Equal(t, 1, n, name)
	}
	assert.Empty(t, s.seen())
}

func second[T any](_ T, err error) error { return err }

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

func TestTheTableOfARunningMonth(t *testing.T) {
	at(t, "2026-11-18 16:00:00", func(t *testing.T, srv *mockserver.Server) {
		require.NoError(t, srv.DeleteTipoCambio("2026-11-05"), "a decreed day")
		client := srv.Client()
		days := func(opts ...fiscope.CallOption) (days []int, last error) {
			for line, err := range client.TipoCambio.Mes(t.Context(), 2026, time.November, opts...) {
				if last = err; err != nil {
					assert.Equal(t, 19, line.Para.Day(), "the day without a rate")
					continue
				}
				days = append(days, line.Para.Day())
			}
			return days, last
		}
		so, err := days()
		require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
		assert.Equal(t, []int{3, 4, 5, 7, 10, 11, 12, 13, 14, 17, 18}, so)
		assert.EqualValues(t, 12, client.Stats().Sent, "nothing was asked about the days ahead")
		again, err := days(fiscope.WithProvisional())
		require.NoError(t, err)
		assert.Equal(t, so, again)
		assert.EqualValues(t, 24, client.Stats().Sent)
	})
}

// SUNAT's own table has a line for every day since 2023: each is what SUNAT says of that day.
func TestATableOfEveryDay(t *testing.T) {
	srv := julio2021(t)
	require.NoError(t, srv.DeleteTipoCambio("2021-07-14"), "SBS published nothing")
	for name, test := range map[string]struct {
		mes, costs int
		opts       []fiscope.CallOption
	}{
		"July begins after a business day": {7, 21, nil},
		"August begins on a Sunday":        {8, 21, nil},
		"January begins after a holiday":   {1, 21, nil},
		"with a decreed day":               {7, 20, []fiscope.CallOption{fiscope.WithNoLaborables(fiscope.NoLaborables{fecha(t, "2021-07-14")})}},
	} {
		t.Run(name, func(t *testing.T) {
			client := srv.Client()
			queries, day := 0, fiscope.NewFecha(2021, time.Month(test.mes), 1)
			for line, err := range client.TipoCambio.Mes(t.Context(), 2021, time.Month(test.mes), append(test.opts, fiscope.WithTodosLosDias())...) {
				require.NoError(t, err)
				require.Equal(t, day, line.Para)
				one, err := srv.Client().TipoCambio.SUNAT(t.Context(), day)
				require.NoError(t, err)
				assert.Equal(t, one.TipoCambio, line.TipoCambio, day)
				assert.False(t, line.Provisional)
				queries += line.Consultas
				day = day.AddDays(1)
			}
			assert.Equal(t, time.Month(test.mes+1), day.Month(), "every day was there")
			assert.Equal(t, test.costs, queries)
			assert.EqualValues(t, queries, client.Stats().Sent)
		})
	}
}

func TestATableOfEveryDayOfARunningMonth(t *testing.T) {
	at(t, "2026-11-20 16:00:00", func(t *testing.T, srv *mockserver.Server) {
		require.NoError(t, srv.DeleteTipoCambio("2026-11-05"))
		require.NoError(t, srv.DeleteTipoCambio("2026-11-18"))
		require.NoError(t, srv.DeleteTipoCambio("2026-11-19"))
		table := func(opts ...fiscope.CallOption) (lines []string, last error) {
			for line, err := range srv.Client().TipoCambio.Mes(t.Context(), 2026, time.November, append(opts, fiscope.WithTodosLosDias())...) {
				if last = err; err != nil {
					break
				}
				text := line.Para.String()[8:] + " " + line.TipoCambio.Fecha.String()[5:]
				if line.Provisional {
					text += "?"
				}
				lines = append(lines, text)
			}
			return lines, last
		}
		official, err := table()
		require.ErrorIs(t, err, fiscope.ErrNotYetPublished)
		assert.Equal(t, []string{
			"01 10-30", "02 10-30", "03 11-02", "04 11-03", "05 11-04", "06 11-04", "07 11-06", "08 11-06", "09 11-06",
			"10 11-09", "11 11-10", "12 11-11", "13 11-12", "14 11-13", "15 11-13", "16 11-13", "17 11-16", "18 11-17",
		}, official)
		all, err := table(fiscope.WithProvisional())
		require.NoError(t, err)
		require.Len(t, all, 30)
		assert.Equal(t, official, all[:18])
		for i, text := range all[18:] {
			assert.Equal(t, fmt.Sprintf("%d 11-17?", 19+i), text)
		}
	})
}

func TestATableAsksForNoDayTwice(t *testing.T) {
	at(t, "2026-11-18 16:00:00", func(t *testing.T, srv *mockserver.Server) {
		require.NoError(t, srv.DeleteTipoCambio("2026-11-13"))
		require.NoError(t, srv.DeleteTipoCambio("2026-11-05"))
		asked := 0
		client := srv.Client(fiscope.WithObserver(func(fiscope.Event) { asked++ }))
		queries := 0
		for line, err := range client.TipoCambio.Mes(t.Context(), 2026, time.November, fiscope.WithProvisional()) {
			require.NoError(t, err)
			queries += line.Consultas
		}
		assert.Equal(t, 12, queries, "the business days from 30 October to the 17th, less a holiday: the rate after a missing one serves its own line too")
		assert.EqualValues(t, 12, client.Stats().Sent)
	})
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

func TestATableThatIsNotReadToItsEndCostsNoMore(t *testing.T) {
	client := julio2021(t).Client()
	for line, err := range client.TipoCambio.Mes(t.Context(), 2021, time.July) {
		require.NoError(t, err)
		if line.Para.Day() == 3 {
			break
		}
	}
	assert.EqualValues(t, 3, client.Stats().Sent)
}

// Against the plain reading of the rule, over random sets of published days.
func TestBothDatingsFindWhatTheRuleSays(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithoutSocket())
	client := srv.Client(fiscope.WithoutQuotaGate())
	random := rand.New(rand.NewPCG(7, 7))
	published := map[fiscope.Fecha]bool{}
	for f := fiscope.NewFecha(2022, time.January, 1); f.Year() < 2024; f = f.AddDays(1) {
		if published[f] = f.DiaHabil() && random.IntN(4) > 0; f.DiaHabil() && !published[f] {
			require.NoError(t, srv.DeleteTipoCambio(f.String()))
		}
	}
	require.NoError(t, srv.PutKey(srv.APIKey, mockserver.Unlimited))
	for range 300 {
		day := fiscope.NewFecha(2022, time.January, 20).AddDays(random.IntN(700))
		for shift, ask := range []func(context.Context, fiscope.Fecha, ...fiscope.CallOption) (*fiscope.TipoCambioVigente, error){
			client.TipoCambio.UltimoPublicado, client.TipoCambio.SUNAT,
		} {
			var want fiscope.Fecha
			queries := 0
			for n := shift; n < shift+10 && want.IsZero(); n++ {
				if f := day.AddDays(-n); f.DiaHabil() {
					if queries++; published[f] {
						want = f
					}
				}
			}
			got, err := ask(t.Context(), day)
			if want.IsZero() {
				require.ErrorIs(t, err, fiscope.ErrNotFound)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, got.TipoCambio.Fecha, day)
			require.Equal(t, queries, got.Consultas, day)
		}
	}
}

func ExampleTipoCambioService_SUNAT() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	// An invoice of Monday, 2 August 2021: the rate is the close of Friday.
	lunes := fiscope.NewFecha(2021, time.August, 2)
	tc, err := client.TipoCambio.SUNAT(context.Background(), lunes)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tc.Para, "venta", tc.TipoCambio.Venta.StringFixed(3), "of", tc.TipoCambio.Fecha, "for", tc.Consultas, "query")
	// Output: 2021-08-02 venta 3.321 of 2021-07-30 for 1 query
}

func ExampleTipoCambioService_UltimoPublicado() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	domingo := fiscope.NewFecha(2021, time.August, 1)
	tc, err := client.TipoCambio.UltimoPublicado(context.Background(), domingo)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tc.TipoCambio.Fecha, tc.TipoCambio.Venta.StringFixed(3))
	// Output: 2021-07-30 3.321
}

func ExampleWithProvisional() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()
	ctx := context.Background()

	nextWeek := fiscope.HoyEnLima().AddDays(7)
	_, err := client.TipoCambio.SUNAT(ctx, nextWeek)
	fmt.Println(errors.Is(err, fiscope.ErrNotYetPublished), client.Stats().Sent)

	tc, err := client.TipoCambio.SUNAT(ctx, nextWeek, fiscope.WithProvisional())
	fmt.Println(err, tc.Provisional)
	// Output:
	// true 0
	// <nil> true
}

func ExampleTipoCambioService_Mes() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer client.CloseIdleConnections()

	for tc, err := range client.TipoCambio.Mes(context.Background(), 2021, time.July) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if tc.Para.Day() >= 27 {
			fmt.Println(tc.Para, tc.TipoCambio.Venta.StringFixed(3))
		}
	}
	// Output:
	// 2021-07-27 3.317
	// 2021-07-28 3.318
	// 2021-07-31 3.321
}

// Where SUNAT looks at 10 days and finds none, the table of every day repeats no older rate, nor takes one of the
// month before.
func TestATableOfEveryDayRepeatsNoRateThatSUNATRefuses(t *testing.T) {
	for by := range everyMemory() {
		for name, hole := range map[string]struct{ from, to string }{
			"within the month":      {"2026-03-05", "2026-03-20"},
			"from the month before": {"2026-02-17", "2026-03-05"},
			"... by one day":        {"2026-02-19", "2026-03-05"},
			"... none of that long": {"2026-02-23", "2026-03-02"},
		} {
			t.Run(name+", "+by, func(t *testing.T) {
				at(t, "2026-11-18 18:00:00", func(t *testing.T, srv *mockserver.Server) {
					for d := fecha(t, hole.from); d.Compare(fecha(t, hole.to)) <= 0; d = d.AddDays(1) {
						if d.DiaHabil() {
							require.NoError(t, srv.DeleteTipoCambio(d.String()))
						}
					}
					table, single := srv.Client(everyMemory()[by]...), srv.Client()
					for line, err := range table.TipoCambio.Mes(t.Context(), 2026, time.March, fiscope.WithTodosLosDias()) {
						one, refused := single.TipoCambio.SUNAT(t.Context(), line.Para)
						if refused == nil {
							require.NoError(t, err, line.Para)
							require.Equal(t, one.TipoCambio, line.TipoCambio)
							continue
						}
						require.ErrorIs(t, err, fiscope.ErrNotFound, line.Para)
						require.NotErrorIs(t, err, fiscope.ErrNotYetPublished)
						var ofTable, ofDay *fiscope.Error
						require.ErrorAs(t, err, &ofTable)
						require.ErrorAs(t, refused, &ofDay)
						require.Equal(t, ofDay.Message, ofTable.Message)
					}
				})
			})
		}
	}
}
