package mockserver_test

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

func TestHeadersAreOnLookupOnly(t *testing.T) {
	_, api := start(t)
	for name, call := range four(t, api) {
		r := call()
		for _, h := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
			assert.Equal(t, name == "lookup", r.header.Get(h) != "", "%s of %s", h, name)
		}
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
	}
	for name, call := range four(t, api) {
		t.Run(name, func(t *testing.T) { call().isError(t, 429, "QUOTA_EXCEEDED") })
	}
}

func TestSpentQuotaSparesTheSOLUser(t *testing.T) {
	srv, api := start(t, mockserver.WithQuota(0), mockserver.WithKey("rica", 10))
	for range 5 {
		api.validar(cpe(t, "claveSol", `"mala"`)).isError(t, 429, "QUOTA_EXCEEDED")
	}
	_ = srv
	assert.Equal(t, 200, api.withKey("rica").validar(cpe(t)).status)
}

func TestUnlimitedQuota(t *testing.T) {
	_, api := start(t, mockserver.WithQuota(mockserver.Unlimited))
	for range 20 {
		r := api.get(lookup)
		require.Equal(t, 200, r.status)
		assert.Empty(t, r.header.Get("X-RateLimit-Limit"))
	}
}

func TestQuotaResetsAtMidnightInLima(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, api := start(t, mockserver.WithQuota(1))
		waitUntil(t, "2026-11-21T23:59:00-05:00")
		r := api.get(lookup)
		require.Equal(t, 200, r.status)
		assert.Equal(t, "2026-11-22T05:00:00Z", r.header.Get("X-RateLimit-Reset"))
		waitUntil(t, "2026-11-21T23:59:59-05:00")
		api.get(lookup).isError(t, 429, "QUOTA_EXCEEDED")
		waitUntil(t, "2026-11-22T00:00:00-05:00")
		r = api.get(lookup)
		require.Equal(t, 200, r.status)
		assert.Equal(t, "0", remaining(r))
		assert.Equal(t, "2026-11-23T05:00:00Z", r.header.Get("X-RateLimit-Reset"))
		waitUntil(t, "2026-12-31T12:00:00-05:00")
		assert.Equal(t, "2027-01-01T05:00:00Z", api.get(lookup).header.Get("X-RateLimit-Reset"))
	})
}

func TestQuotaFollowsAClockSetBack(t *testing.T) {
	now := at(t, "2026-11-21T12:00:00Z")
	var mu sync.Mutex
	_, api := start(t, mockserver.WithQuota(1), mockserver.WithClock(func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}))
	require.Equal(t, 200, api.get(lookup).status)
	mu.Lock()
	now = now.AddDate(0, 0, -3)
	mu.Unlock()
	r := api.get(lookup)
	require.Equal(t, 200, r.status, "another day")
	assert.Equal(t, "2026-11-19T05:00:00Z", r.header.Get("X-RateLimit-Reset"))
}

// Nothing is charged twice or lost, and no two answers show the same Remaining.
func TestLedgerAddsUpUnderConcurrency(t *testing.T) {
	const quota, calls = 150, 200
	srv := mockserver.New(t, mockserver.WithQuota(quota))
	api := plain(t, srv)
	seen := make(chan string, calls)
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			r := api.get(lookup)
			if r.status == 200 {
				seen <- remaining(r)
			} else {
				assert.Equal(t, 429, r.status)
			}
		})
	}
	wg.Wait()
	close(seen)
	distinct := map[string]bool{}
	for s := range seen {
		distinct[s] = true
	}
	assert.Len(t, distinct, quota)
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
