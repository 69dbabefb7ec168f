package mockserver_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryCallConsumesOne(t *testing.T) {
	_, api := start(t, mockserver.WithQuota(100))
	left := 99
	require.Equal(t, "99", remaining(api.get(lookup)))
	for name, call := range map[string]func() reply{
		"lookup":            func() reply { return api.get(lookup) },
		"lookup 400":        func() reply { return api.get("/api/contribuyentes/1") },
		"lookup 404":        func() reply { return api.get("/api/contribuyentes/20000000001") },
		"search of many":    func() reply { return api.get("/api/contribuyentes/search?razonSocial=gloria&limit=50") },
		"search of none":    func() reply { return api.get("/api/contribuyentes/search?razonSocial=zzzzz") },
		"search 400":        func() reply { return api.get("/api/contribuyentes/search?razonSocial=a") },
		"validation":        func() reply { return api.validar(cpe(t)) },
		"validation 400":    func() reply { return api.validar("{}") },
		"validation 401":    func() reply { return api.validar(cpe(t, "claveSol", `"mala"`)) },
		"validation 415":    func() reply { return api.send("POST", "/api/cpe/validar", "{}") },
		"exchange rate":     func() reply { return api.get("/api/tipocambio?fecha=2024-02-29") },
		"exchange rate 400": func() reply { return api.get("/api/tipocambio?fecha=hoy") },
		"exchange rate 404": func() reply { return api.get("/api/tipocambio?fecha=2024-12-25") },
	} {
		call()
		left -= 2 // the call, and the lookup that asks
		assert.Equal(t, strconv.Itoa(left), remaining(api.get(lookup)), name)
	}
	for name, call := range map[string]func() reply{
		"no key":       func() reply { return api.withKey("").get(lookup) },
		"unknown key":  func() reply { return api.withKey("otra").get(lookup) },
		"no route":     func() reply { return api.get("/api/nada") },
		"wrong method": func() reply { return api.send("POST", lookup, "") },
	} {
		call()
		left--
		assert.Equal(t, strconv.Itoa(left), remaining(api.get(lookup)), name)
	}
}

func TestSpentQuota(t *testing.T) {
	_, api := start(t, mockserver.WithQuota(2), frozen(t, "2026-11-21T23:59:59-05:00"))
	assert.Equal(t, "1", remaining(api.get(lookup)))
	assert.Equal(t, "0", remaining(api.get(lookup)))
	for range 3 { // consuming nothing, it stays at 0
		r := api.get(lookup)
		r.isError(t, 429, "QUOTA_EXCEEDED")
		assert.Equal(t, "2", r.header.Get("X-RateLimit-Limit"))
		assert.Equal(t, "0", remaining(r))
		assert.Equal(t, "2026-11-22T05:00:00Z", r.header.Get("X-RateLimit-Reset"))
		assert.Empty(t, r.header.Get("Retry-After"))
		assert.Contains(t, r.body, "se renueva el 2026-11-22 a las 00:00 (Lima)")
	}
	for name, call := range four(t, api) {
		t.Run(name, func(t *testing.T) { call().isError(t, 429, "QUOTA_EXCEEDED") })
	}
}

func TestUnlimitedQuota(t *testing.T) {
	_, api := start(t, mockserver.WithQuota(mockserver.Unlimited))
	for range 20 {
		r := api.get(lookup)
		require.Equal(t, 200, r.status)
		assert.Empty(t, r.header.Get("X-RateLimit-Limit"))
	}
}

func TestQuotaState(t *testing.T) {
	srv, api := start(t, mockserver.WithQuota(3), frozen(t, "2026-11-21T12:00:00-05:00"), mockserver.WithKey("sin", mockserver.Unlimited))
	state := func(key string) mockserver.Quota {
		q, ok := srv.Quota(key)
		require.True(t, ok)
		return q
	}
	reset := at(t, "2026-11-22T05:00:00Z").UTC()
	assert.Equal(t, mockserver.Quota{Limit: 3, Remaining: 3, Reset: reset}, state(srv.APIKey))
	api.get(lookup)
	assert.Equal(t, mockserver.Quota{Limit: 3, Used: 1, Remaining: 2, Reset: reset, Spent: 1}, state(srv.APIKey))
	require.NoError(t, srv.SetQuotaUsed(srv.APIKey, 3))
	api.get(lookup).isError(t, 429, "QUOTA_EXCEEDED")
	assert.Equal(t, mockserver.Quota{Limit: 3, Used: 3, Reset: reset, Spent: 1}, state(srv.APIKey))
	srv.Advance(12 * time.Hour)
	assert.Equal(t, "2", remaining(api.get(lookup)))
	assert.Equal(t, 2, state(srv.APIKey).Spent, "on all days")
	api.withKey("sin").get(lookup)
	assert.Equal(t, mockserver.Unlimited, state("sin").Remaining)
	_, ok := srv.Quota("nadie")
	assert.False(t, ok)

	never := mockserver.DefaultAssumptions()
	never.ChargeFailures = false
	free, api := start(t, mockserver.WithAssumptions(never))
	api.get("/api/contribuyentes/1")
	q, _ := free.Quota(free.APIKey)
	assert.Zero(t, q.Spent+q.Used, "given back")
	free.AssertSpent(t, mockserver.Filter{}, 0)
}

// A call that a fault keeps waiting belongs to the day on which it is charged, and wipes no other.
func TestCallHeldAcrossMidnight(t *testing.T) {
	for name, hold := range map[string]mockserver.Effect{"latency": mockserver.Latency(2 * time.Hour), "hold": mockserver.Hold()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, api := start(t, mockserver.WithQuota(2))
				waitUntil(t, "2026-11-21T23:00:00-05:00")
				require.Equal(t, "1", remaining(api.get(lookup)))
				fault := srv.Fault(mockserver.Match{Times: 1}, hold.Uncharged())
				held := make(chan reply)
				go func() { held <- api.get(lookup) }()
				waitUntil(t, "2026-11-22T00:30:00-05:00")
				require.Equal(t, "1", remaining(api.get(lookup)))
				waitUntil(t, "2026-11-22T01:30:00-05:00")
				fault.Release()
				r := <-held
				assert.Equal(t, 200, r.status)
				assert.Equal(t, "0", remaining(r))
				assert.Equal(t, "2026-11-23T05:00:00Z", r.header.Get("X-RateLimit-Reset"))
				assert.Equal(t, "Sun, 22 Nov 2026", r.header.Get("Date")[:16])
				api.get(lookup).isError(t, 429, "QUOTA_EXCEEDED")
				assert.Equal(t, "23:00", srv.Requests()[1].Time.In(fiscope.Lima).Format("15:04"), "the journal has when it came")
				srv.SetNow(at(t, "2026-11-21T23:00:00-05:00"))
				q, _ := srv.Quota(srv.APIKey)
				assert.Equal(t, 1, q.Used, "of the day before")
				assert.Equal(t, 3, q.Spent)
			})
		})
	}
}

// Whichever reading of the clock is late: each charge is counted once, on its day, also while the quota is asked for.
func TestLedgerAddsUpAroundMidnight(t *testing.T) {
	const quota, callers, calls = 150, 64, 20
	before, after := at(t, "2026-11-21T23:59:59-05:00"), at(t, "2026-11-22T00:00:00-05:00")
	srv, _ := start(t, mockserver.WithQuota(quota), mockserver.WithJournal(callers*calls), mockserver.WithClock(func() time.Time {
		if rand.IntN(3) == 0 {
			return before
		}
		return after
	}))
	var mu sync.Mutex
	left := map[string]map[string]bool{} // of each day: those that were shown
	answered := 0
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range calls {
				req := httptest.NewRequest(http.MethodGet, lookup, nil)
				req.Header.Set("X-API-KEY", srv.APIKey)
				rec := httptest.NewRecorder()
				srv.ServeHTTP(rec, req)
				srv.Quota(srv.APIKey)
				if rec.Code != 200 {
					continue
				}
				mu.Lock()
				day := rec.Header().Get("X-RateLimit-Reset")
				if left[day] == nil {
					left[day] = map[string]bool{}
				}
				left[day][rec.Header().Get("X-RateLimit-Remaining")] = true
				answered++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	assert.Len(t, left["2026-11-22T05:00:00Z"], quota)
	assert.Len(t, left["2026-11-23T05:00:00Z"], quota)
	assert.Equal(t, 2*quota, answered, "no answer shows what another one showed")
	q, _ := srv.Quota(srv.APIKey)
	assert.Equal(t, 2*quota, q.Spent)
	srv.AssertSpent(t, mockserver.Filter{Status: 200}, answered)
}

// Not every date of a zone begins at midnight, and not every date exists.
func TestQuotaDaysOfAZone(t *testing.T) {
	for name, c := range map[string]struct{ zone, now, reset string }{
		"Lima":                             {"America/Lima", "2026-11-21T12:00:00-05:00", "2026-11-22T05:00:00Z"},
		"the second before midnight":       {"America/Lima", "2026-11-21T23:59:59.999-05:00", "2026-11-22T05:00:00Z"},
		"Santiago, before no midnight":     {"America/Santiago", "2026-09-05T12:00:00-04:00", "2026-09-06T04:00:00Z"},
		"Santiago, an hour again":          {"America/Santiago", "2026-04-04T23:30:00-04:00", "2026-04-05T04:00:00Z"},
		"Havana, midnight twice":           {"America/Havana", "2026-10-31T12:00:00-04:00", "2026-11-01T04:00:00Z"},
		"Apia, which had no 30th December": {"Pacific/Apia", "2011-12-29T12:00:00-10:00", "2011-12-30T10:00:00Z"},
		"Casey, a day of 27 hours":         {"Antarctica/Casey", "2023-03-09T00:00:00+11:00", "2023-03-09T16:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			a := mockserver.DefaultAssumptions()
			var err error
			a.ResetZone, err = time.LoadLocation(c.zone)
			require.NoError(t, err)
			srv, api := start(t, mockserver.WithAssumptions(a), mockserver.WithQuota(1), mockserver.WithNow(at(t, c.now)), mockserver.WithFrozenClock())
			r := api.get(lookup)
			require.Equal(t, 200, r.status)
			assert.Equal(t, c.reset, r.header.Get("X-RateLimit-Reset"))
			reset := at(t, c.reset)
			srv.SetNow(reset.Add(-time.Nanosecond))
			api.get(lookup).isError(t, 429, "QUOTA_EXCEEDED")
			q, _ := srv.Quota(srv.APIKey)
			assert.Equal(t, reset.UTC(), q.Reset)
			srv.SetNow(reset)
			assert.Equal(t, 200, api.get(lookup).status, "a new day")
		})
	}
}

// What is given back after the used number was reset or set meanwhile makes it no smaller.
func TestGivenBackAfterAReset(t *testing.T) {
	for name, meanwhile := range map[string]func(*mockserver.Server) error{
		"reset": func(s *mockserver.Server) error { return s.Reset(mockserver.PartQuotas) },
		"set":   func(s *mockserver.Server) error { return s.SetQuotaUsed(s.APIKey, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := mockserver.DefaultAssumptions()
				a.ChargeFailures = false
				asked, answer := make(chan bool), make(chan bool)
				srv, api := start(t, mockserver.WithAssumptions(a), mockserver.WithQuota(3), mockserver.WithRegistro(waiting{asked, answer}))
				got := make(chan reply)
				go func() { got <- api.get(lookup) }()
				<-asked
				require.NoError(t, meanwhile(srv))
				answer <- true
				(<-got).isError(t, 500, "MOCK_REGISTRY_FAILURE")
				q, _ := srv.Quota(srv.APIKey)
				assert.Equal(t, 3, q.Remaining)
				assert.Zero(t, q.Used)
			})
		})
	}
}

// The same zone may have been loaded twice; another one has other days, also where it has the same name.
func TestAZoneIsWhatItIs(t *testing.T) {
	load := func(name string) *time.Location {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		return zone
	}
	santiago, fixed := load("America/Santiago"), func(hours int) *time.Location { return time.FixedZone("", hours*3600) }
	for name, c := range map[string]struct {
		first, then *time.Location
		used        int
	}{
		"the same":          {santiago, santiago, 2},
		"loaded again":      {santiago, load("America/Santiago"), 2},
		"Lima of the SDK":   {fiscope.Lima, load("America/Lima"), 2},
		"fixed twice":       {fixed(-4), fixed(-4), 2},
		"another":           {santiago, fiscope.Lima, 0},
		"another, as large": {load("America/Bogota"), fiscope.Lima, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := mockserver.DefaultAssumptions()
			a.ResetZone = c.first
			srv, api := start(t, frozen(t, "2026-11-20T12:00:00-05:00"), mockserver.WithAssumptions(a))
			api.get(lookup)
			api.get(lookup)
			a.ResetZone = c.then
			require.NoError(t, srv.Control().SetAssumptions(a))
			q, _ := srv.Quota(srv.APIKey)
			assert.Equal(t, c.used, q.Used)
			assert.Equal(t, strconv.Itoa(999-c.used), remaining(api.get(lookup)))
		})
	}
}

// The limit that the readings show is the one in force, whatever set it, and what they are set to is in force,
// whatever was set before.
func TestTheQuotaOfTheReadingsIsInForce(t *testing.T) {
	const own = mockserver.DefaultAPIKey
	for name, c := range map[string]struct {
		opts  []mockserver.Option
		limit int
	}{
		"the default":         {nil, 1000},
		"WithQuota":           {[]mockserver.Option{mockserver.WithQuota(2)}, 2},
		"WithData, WithQuota": {[]mockserver.Option{mockserver.WithKey(own, 3), mockserver.WithQuota(4)}, 4},
		"WithQuota, WithData": {[]mockserver.Option{mockserver.WithQuota(4), mockserver.WithKey(own, 3)}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t, append(c.opts, mockserver.WithKey("otra-clave", 50))...)
			limit := func(key string) int {
				q, _ := srv.Quota(key)
				return q.Limit
			}
			a := srv.Control().Assumptions()
			assert.Equal(t, c.limit, a.Quota)
			a.BlockAfter = 9
			require.NoError(t, srv.Control().SetAssumptions(a))
			assert.Equal(t, c.limit, limit(own), "another field was set")
			require.NoError(t, srv.PutKey(own, 77))
			assert.Equal(t, 77, srv.Control().Assumptions().Quota)
			a.Quota = 0
			require.NoError(t, srv.Control().SetAssumptions(a))
			assert.Zero(t, limit(own))
			assert.Equal(t, 50, limit("otra-clave"))
			api.get(lookup).isError(t, 429, "QUOTA_EXCEEDED")
			require.NoError(t, srv.Reset(mockserver.PartData))
			assert.Equal(t, c.limit, limit(own))
		})
	}
}

// waiting is a Registro that fails on demand.
type waiting struct{ asked, answer chan bool }

func (w waiting) PorRUC(context.Context, string) (mockserver.Contribuyente, bool, error) {
	w.asked <- true
	<-w.answer
	return mockserver.Contribuyente{}, false, errors.New("on demand")
}

func (waiting) Buscar(context.Context, string, int) ([]mockserver.Contribuyente, error) {
	return nil, nil
}
