package fiscope_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// cached returns a client with a cache, and the service that it asks.
func cached(t testing.TB, p fiscope.CachePolicy, raw ...handler) (*fiscope.Client, *service) {
	t.Helper()
	s := &service{answers: raw}
	return newClient(t, s, fiscope.WithCache(p), fiscope.WithMaxRetries(0)), s
}

// fileOf is the answer that each operation expects.
var fileOf = map[string]string{
	"consultar": "consultar_200.json", "buscar": "buscar_200.json", "validar": "validar_200_aceptado.json",
	"tipocambio": "tipocambio_200.json", "hoy": "tipocambio_200.json",
}

func TestTheSameQuestionIsPaidOnce(t *testing.T) {
	for op, queries := range map[string]int{"consultar": 1, "buscar": 1, "tipocambio": 1, "validar": 5} {
		t.Run(op, func(t *testing.T) {
			client, s := cached(t, fiscope.CachePolicy{}, raw(200, contract(t, fileOf[op])))
			for range 5 {
				require.NoError(t, operations[op](t.Context(), client))
			}
			assert.Len(t, s.seen(), queries)
			assert.EqualValues(t, 5-queries, client.Stats().Avoided[fiscope.AvoidedCached])
			assert.EqualValues(t, 5, client.Stats().Calls)
		})
	}
	t.Run("another question", func(t *testing.T) {
		client, s := cached(t, fiscope.CachePolicy{}, raw(200, "[]"))
		for _, b := range []fiscope.Busqueda{{RazonSocial: "peru"}, {RazonSocial: " peru "}, {RazonSocial: "peru", Limite: 10}, {RazonSocial: "perú"}} {
			found, err := client.Contribuyentes.Buscar(t.Context(), b)
			require.NoError(t, err)
			assert.NotNil(t, found)
		}
		assert.Len(t, s.seen(), 3)
	})
}

func TestAnErrorIsNotKept(t *testing.T) {
	notFound := contract(t, "consultar_404.json")
	for name, failure := range map[string]handler{
		"500": raw(500, ""), "401": raw(401, ""), "429": raw(429, ""), "400": raw(400, ""), "malformed": raw(200, "null"),
		"another 404": raw(404, "<html>"), "no answer": broken(errors.New("x")),
		"NOT_FOUND with 302": raw(302, notFound), "NOT_FOUND with 401": raw(401, notFound), "NOT_FOUND with 503": raw(503, notFound),
		"NOT_FOUND that broke off": with(404, &body{text: io.MultiReader(strings.NewReader(notFound), errReader{io.ErrUnexpectedEOF})}),
	} {
		t.Run(name, func(t *testing.T) {
			client, s := cached(t, fiscope.CachePolicy{}, failure, raw(200, contract(t, "consultar_200.json")))
			require.Error(t, operations["consultar"](t.Context(), client))
			require.NoError(t, operations["consultar"](t.Context(), client))
			assert.Len(t, s.seen(), 2)
		})
	}
}

func TestAnAnswerFromTheCacheSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := cached(t, fiscope.CachePolicy{}, raw(200, change(record, "ACTIVO", "OTROS"), "X-RateLimit-Remaining: 7"), raw(200, change(record, "ACTIVO", "BAJA DEFINITIVA")))
		asked := time.Now()
		var first, second fiscope.Response
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&first)))
		time.Sleep(time.Hour)
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&second)))
		assert.True(t, asked.Equal(first.AsOf))
		require.Len(t, first.Warnings, 1)
		assert.Equal(t, fiscope.Response{StatusCode: 200, Source: fiscope.SourceCache, AsOf: first.AsOf, Warnings: first.Warnings}, second, "an old quota is no news")
		for _, opts := range [][]fiscope.CallOption{{fiscope.WithoutCache()}, nil} {
			c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT, opts...)
			require.NoError(t, err)
			assert.True(t, c.Estado.Baja(), "what was fresh is kept for the next")
		}
		assert.Len(t, s.seen(), 2)
	})
}

func TestAKeptNotFoundIsAnErrorOfItsOwn(t *testing.T) {
	for _, status := range []int{404, 200} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			client, s := cached(t, fiscope.CachePolicy{}, raw(status, contract(t, "consultar_404.json")))
			first := operations["consultar"](t.Context(), client)
			var resp fiscope.Response
			second := operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp))
			assert.Len(t, s.seen(), 1)
			assert.Equal(t, fiscope.SourceCache, resp.Source)
			assert.NotSame(t, first, second)
			var e *fiscope.Error
			require.ErrorAs(t, second, &e)
			require.ErrorIs(t, second, fiscope.ErrNotFound)
			assert.Equal(t, status, e.StatusCode)
			assert.Equal(t, "NOT_FOUND", e.Code)
			assert.NotEmpty(t, e.Message)
			assert.Equal(t, contract(t, "consultar_404.json"), string(e.Body()))
			assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
			assert.Zero(t, e.Attempts)
		})
	}
}

// Neither the caller who asked first nor one who was served changes what the next one gets.
func TestEachCallerHasACopy(t *testing.T) {
	taxpayers, _ := cached(t, fiscope.CachePolicy{}, raw(200, record))
	searches, _ := cached(t, fiscope.CachePolicy{}, raw(200, results))
	rates, _ := cached(t, fiscope.CachePolicy{}, raw(200, price))
	for range 3 {
		c, err := taxpayers.Contribuyentes.Consultar(t.Context(), rucSUNAT)
		require.NoError(t, err)
		assert.Equal(t, "SUNAT", c.RazonSocial)
		c.RazonSocial = "OTRA"
		found, err := searches.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "sunat"})
		require.NoError(t, err)
		assert.Equal(t, "SUNAT", found[0].RazonSocial)
		found[0].RazonSocial = "OTRA"
		tc, err := rates.TipoCambio.Consultar(t.Context(), viernes)
		require.NoError(t, err)
		assert.Equal(t, "USD", tc.Moneda)
		tc.Moneda = "OTRA"
	}
}

func TestLifetimesAtTheirEdges(t *testing.T) {
	for name, test := range map[string]struct {
		op      string
		status  int
		fecha   string // of the question; "" for none
		asked   string // when the answer was kept, in Lima
		serves  string // the last second in which it serves; "" for never, "for good"
		in, out string // a change of the answer
	}{
		"a taxpayer, 12 hours":                     {op: "consultar", status: 200, asked: "2026-11-20 08:00:00", serves: "2026-11-20 19:59:59"},
		"an odd optional field changes nothing":    {op: "consultar", status: 200, asked: "2026-11-20 08:00:00", serves: "2026-11-20 19:59:59", in: `"150101"`, out: "150101"},
		"no taxpayer, 1 hour":                      {op: "consultar", status: 404, asked: "2026-11-20 08:00:00", serves: "2026-11-20 08:59:59"},
		"a search, 1 hour":                         {op: "buscar", status: 200, asked: "2026-11-20 08:00:00", serves: "2026-11-20 08:59:59"},
		"a past rate, for good":                    {op: "tipocambio", status: 200, fecha: "2026-11-19", asked: "2026-11-20 08:00:00", serves: "for good"},
		"today's rate, until midnight":             {op: "tipocambio", status: 200, fecha: "2026-11-20", asked: "2026-11-20 18:00:00", serves: "2026-11-20 23:59:59"},
		"no rate yet, until 17:00":                 {op: "tipocambio", status: 404, fecha: "2026-11-20", asked: "2026-11-20 09:00:00", serves: "2026-11-20 16:59:59"},
		"no rate at 17:00, 15 minutes":             {op: "tipocambio", status: 404, fecha: "2026-11-20", asked: "2026-11-20 17:00:00", serves: "2026-11-20 17:14:59"},
		"no rate in the future":                    {op: "tipocambio", status: 404, fecha: "2026-11-24", asked: "2026-11-20 17:00:00", serves: "2026-11-24 16:59:59"},
		"no rate for 10 days, 15 minutes":          {op: "tipocambio", status: 404, fecha: "2026-11-20", asked: "2026-11-30 16:59:59", serves: "2026-11-30 17:14:58"},
		"no rate after 10 days, a day":             {op: "tipocambio", status: 404, fecha: "2026-11-20", asked: "2026-11-30 17:00:00", serves: "2026-12-01 16:59:59"},
		"no rate on a Saturday, for good":          {op: "tipocambio", status: 404, fecha: "2026-11-21", asked: "2026-11-20 08:00:00", serves: "for good"},
		"no rate on a holiday, for good":           {op: "tipocambio", status: 404, fecha: "2026-12-08", asked: "2026-12-08 08:00:00", serves: "for good"},
		"the rate of today, until midnight":        {op: "hoy", status: 200, asked: "2026-11-20 18:00:00", serves: "2026-11-20 23:59:59"},
		"no rate of today yet, until 17:00":        {op: "hoy", status: 404, asked: "2026-11-20 09:00:00", serves: "2026-11-20 16:59:59"},
		"today of another day is not kept for Hoy": {op: "hoy", status: 200, asked: "2026-11-23 18:00:00", serves: ""},
	} {
		inBubble(t, name, func(t *testing.T) {
			until := func(text string) {
				at, err := time.ParseInLocation(time.DateTime, text, fiscope.Lima)
				require.NoError(t, err)
				time.Sleep(time.Until(at))
			}
			until(test.asked)
			fecha, body := viernes, change(contract(t, fileOf[test.op]), test.in, test.out)
			if test.fecha != "" {
				var err error
				fecha, err = fiscope.ParseFecha(test.fecha)
				require.NoError(t, err)
				body = change(body, "2026-11-20", test.fecha)
			}
			if test.status == 404 {
				body = contract(t, "tipocambio_404.json")
			}
			client, s := cached(t, fiscope.CachePolicy{}, raw(test.status, body))
			ask := func() {
				var err error
				if test.op == "tipocambio" {
					_, err = client.TipoCambio.Consultar(t.Context(), fecha)
				} else {
					err = operations[test.op](t.Context(), client)
				}
				assert.Equal(t, test.status == 404, errors.Is(err, fiscope.ErrNotFound))
			}
			ask()
			switch test.serves {
			case "for good":
				time.Sleep(5 * 365 * 24 * time.Hour)
				ask()
				assert.Len(t, s.seen(), 1)
			case "":
				ask()
				assert.Len(t, s.seen(), 2)
			default:
				until(test.serves)
				ask()
				assert.Len(t, s.seen(), 1, "it still serves at %s", test.serves)
				time.Sleep(time.Second)
				ask()
				assert.Len(t, s.seen(), 2, "and not a second later")
			}
		})
	}
}

func TestAPolicyIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := cached(t, fiscope.CachePolicy{Consulta: time.Minute, Busqueda: -1}, raw(200, record), raw(200, record), raw(200, "[]"))
		for _, op := range []string{"consultar", "consultar", "buscar", "buscar"} {
			require.NoError(t, operations[op](t.Context(), client))
			time.Sleep(time.Minute)
		}
		assert.Len(t, s.seen(), 4)

		client, s = cached(t, fiscope.CachePolicy{Entries: 2}, raw(200, "[]"))
		for _, text := range []string{"uno", "dos", "uno", "tres", "uno", "dos"} {
			_, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: text})
			require.NoError(t, err)
		}
		assert.Len(t, s.seen(), 4, "of more, the least recently used is forgotten")
	})
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithCache(fiscope.CachePolicy{Entries: -1}))
	require.Error(t, err)
}

func TestAContradictionIsNotCached(t *testing.T) {
	s := &service{answers: []handler{raw(200, change(record, "20131312955", rucEmisor)), raw(200, record)}}
	client := newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithLenientReading())
	require.NoError(t, operations["consultar"](t.Context(), client))
	c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	require.NoError(t, err)
	assert.Equal(t, rucSUNAT, c.RUC)
}

// Of two answers the one whose request left later is kept, however late the other one came.
func TestAnOlderAnswerDoesNotReplaceANewerOne(t *testing.T) {
	gone, older, newer := raw(404, contract(t, "consultar_404.json")), raw(200, record), raw(200, change(record, "ACTIVO", "BAJA DEFINITIVA"))
	for name, test := range map[string]struct{ first, second handler }{
		"two records": {older, newer}, "none, and then one": {gone, newer}, "one, and then none": {older, gone}, "a failure": {raw(503, ""), newer},
	} {
		inBubble(t, name, func(t *testing.T) {
			client, s := cached(t, fiscope.CachePolicy{}, after(5*time.Second, test.first), test.second)
			var wg sync.WaitGroup
			wg.Go(func() { _ = operations["consultar"](t.Context(), client) })
			time.Sleep(time.Second)
			second := operations["consultar"](t.Context(), client, fiscope.WithoutCache())
			wg.Wait()
			c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
			assert.Len(t, s.seen(), 2)
			assert.Equal(t, second == nil, err == nil)
			assert.True(t, err != nil || c.Estado.Baja())
		})
	}
}

// A field is read as a part of the body, which it would keep.
func TestAKeptRecordKeepsNothingElse(t *testing.T) {
	const entries = 500
	one, missing := strings.TrimSpace(contract(t, "consultar_200.json")), strings.TrimSpace(contract(t, "consultar_404.json"))
	for name, test := range map[string]struct {
		status int
		body   string
		added  int // bytes that the contract does not have
		search bool
	}{
		"a record": {200, one, 250, false}, "... with 30 kB more": {200, one, 30_000, false},
		"results": {200, one, 250, true}, "... in 30 kB more": {200, one, 30_000, true},
		"NOT_FOUND": {404, missing, 30_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, handler(func(r *http.Request) (*http.Response, error) {
				body := plus(change(test.body, rucSUNAT, path.Base(r.URL.Path)), `"socios":"`+strings.Repeat("x", test.added)+`"`)
				if test.search {
					body = "[" + change(body, "search", rucSUNAT) + "]"
				}
				return raw(test.status, body)(r)
			}), fiscope.WithCache(fiscope.CachePolicy{}))
			ask := func(text string) {
				var err error
				if test.search {
					_, err = client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: text})
				} else {
					_, err = client.Contribuyentes.Consultar(t.Context(), text)
				}
				require.Equal(t, test.status == 404, errors.Is(err, fiscope.ErrNotFound), err)
			}
			before := retained()
			for i := range entries {
				file := strings.Repeat(fmt.Sprintf("%011d,", i), 1000) // of which the caller cut a RUC
				ask(file[:11])
			}
			assert.Less(t, (retained()-before)/entries, 2000)
			ask("00000000000")
			assert.EqualValues(t, entries, client.Stats().Sent, "all of them are kept")
		})
	}
}

// retained returns how many bytes are in use.
func retained() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools still had
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// asleep returns t as a machine says it that slept for d before: the monotonic reading stood still.
func asleep(t time.Time, d time.Duration) time.Time {
	t = t.Add(d)
	(*struct {
		wall uint64
		ext  int64 // the monotonic reading
	})(unsafe.Pointer(&t)).ext -= int64(d)
	return t
}

func TestAnAnswerAgesWhileTheMachineSleeps(t *testing.T) {
	var slept atomic.Int64
	now := func() time.Time { return asleep(time.Now(), time.Duration(slept.Load())) }
	start := now()
	s := &service{answers: []handler{raw(200, record)}}
	client := newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithClock(now))
	var resp fiscope.Response
	require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithResponse(&resp)))
	slept.Store(int64(48 * time.Hour))
	require.Less(t, now().Sub(start), time.Hour, "the monotonic reading stood still")
	assert.GreaterOrEqual(t, now().Sub(resp.AsOf), 48*time.Hour)
	require.NoError(t, operations["consultar"](t.Context(), client))
	assert.Len(t, s.seen(), 2)
}
