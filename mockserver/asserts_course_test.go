package mockserver_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAssertOrder(t *testing.T) {
	srv, api := start(t, mockserver.WithKey("otra", 10))
	srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, mockserver.Status(500), mockserver.OK)
	api.get(lookup)
	api.get("/api/tipocambio?fecha=2024-02-29")
	api.get(lookup)
	api.validar(cpe(t))
	api.withKey("otra").get(lookup)
	failed := mockserver.Filter{Op: mockserver.OpConsultar, Status: 500, Key: srv.APIKey}
	looked := mockserver.Filter{Op: mockserver.OpConsultar, Status: 200, Key: srv.APIKey}
	validated := mockserver.Filter{Op: mockserver.OpValidar, Key: srv.APIKey}
	for name, c := range map[string]struct {
		filters []mockserver.Filter
		says    string // "" where it passes
	}{
		"in order":         {[]mockserver.Filter{failed, looked, validated}, ""},
		"some of them":     {[]mockserver.Filter{failed, validated}, ""},
		"another order":    {[]mockserver.Filter{looked, failed, validated}, "3 requests, want these 3 in order: [requests with op=consultar, key="},
		"the last missing": {[]mockserver.Filter{failed, looked, validated, validated}, "3 requests, want these 4"},
		"one too many":     {[]mockserver.Filter{{Op: mockserver.OpConsultar}, {Op: mockserver.OpValidar}}, "it is one more than 2"},
		"of two keys":      {[]mockserver.Filter{validated, {Key: "otra"}}, ""},
		"wrong of two":     {[]mockserver.Filter{{Key: "otra"}, validated}, "key is "},
		"none":             {nil, "5 requests, want these 0"},
	} {
		t.Run(name, func(t *testing.T) {
			var said fakeTB
			assert.Equal(t, c.says == "", srv.AssertOrder(&said, c.filters...), said.String())
			assert.Contains(t, said.String(), c.says)
			assert.NotContains(t, said.String(), srv.APIKey)
		})
	}
}

// So many calls are under way at once as goroutines wait.
func TestAssertInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		steps []mockserver.Step
		opts  []mockserver.Option
	}{
		"a latency":      {[]mockserver.Step{mockserver.Latency(time.Second)}, nil},
		"before":         {[]mockserver.Step{mockserver.Latency(time.Second).Uncharged()}, nil},
		"a slow body":    {[]mockserver.Step{mockserver.Dribble(10, time.Second)}, nil},
		"a hang":         {[]mockserver.Step{mockserver.Hang}, nil},
		"a hang inside":  {[]mockserver.Step{mockserver.HangInside}, nil},
		"a frozen clock": {[]mockserver.Step{mockserver.Latency(time.Second)}, []mockserver.Option{mockserver.WithFrozenClock()}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, api := start(t, c.opts...)
				fault := srv.Fault(mockserver.Match{Op: mockserver.OpConsultar}, c.steps...)
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() { _, _ = api.try("GET", lookup, "") })
				}
				synctest.Wait()
				all := mockserver.Filter{Op: mockserver.OpConsultar}
				assert.True(t, srv.AssertInFlight(t, all, 3))
				var now fakeTB
				assert.False(t, srv.AssertInFlight(&now, all, 2), "while they are under way")
				assert.Contains(t, now.String(), "3 requests under way when request ")
				time.Sleep(time.Minute)
				fault.Release()
				wg.Wait()
				fault.Remove()
				for range 5 {
					api.get(lookup)
				}
				assert.True(t, srv.AssertInFlight(t, all, 3))
				var later fakeTB
				assert.False(t, srv.AssertInFlight(&later, all, 2), "when they are over")
				assert.Contains(t, later.String(), "it was not under way then")
				assert.True(t, srv.AssertInFlight(t, mockserver.Filter{After: 3}, 1), "one after the other")
				assert.True(t, srv.AssertInFlight(t, mockserver.Filter{Op: mockserver.OpBuscar}, 0))
				assert.True(t, srv.AssertInFlight(t, mockserver.Filter{Op: mockserver.OpBuscar}, -1))
			})
		})
	}
}

// A client that sends one call after the other never has two under way, however the calls end.
func TestOneAfterTheOther(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithQuota(mockserver.Unlimited))
	api := plain(t, srv)
	for _, step := range []mockserver.Step{
		mockserver.OK, mockserver.Null200, mockserver.ResetBefore, mockserver.ResetInside, mockserver.Broken(mockserver.BreakClose),
		mockserver.Broken(mockserver.BreakCloseInside), mockserver.Dribble(100, time.Microsecond), mockserver.Latency(time.Microsecond), mockserver.Answer(200, ""),
	} {
		srv.Fault(mockserver.Match{}, step)
		for range 20 {
			_, _ = api.try("GET", lookup, "")
		}
		srv.ClearFaults()
	}
	assert.True(t, srv.AssertInFlight(t, mockserver.Filter{}, 1))
	assert.True(t, srv.AssertPauses(t, mockserver.Filter{}, 0, time.Minute))
}

func TestAssertPauses(t *testing.T) {
	for name, opts := range map[string][]mockserver.Option{"a running clock": nil, "a frozen clock": {mockserver.WithFrozenClock()}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, api := start(t, opts...)
				srv.Fault(mockserver.Match{}, mockserver.Latency(3*time.Second))
				for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 0} {
					api.get(lookup)
					require.NoError(t, srv.Advance(time.Hour))
					time.Sleep(pause)
				}
				all := mockserver.Filter{Op: mockserver.OpConsultar}
				assert.True(t, srv.AssertPauses(t, all, time.Second, 4*time.Second))
				assert.True(t, srv.AssertPauses(t, mockserver.Filter{After: 2}, 4*time.Second, 4*time.Second))
				for _, c := range []struct {
					filter      mockserver.Filter
					least, most time.Duration
					says        string
				}{
					{all, time.Second + 1, time.Minute, "request 2 came 1s after request 1, want a pause of 1.000000001s to 1m0s"},
					{all, 0, 4*time.Second - 1, "request 4 came 4s after request 3"},
					{mockserver.Filter{After: 3}, 0, time.Hour, "no pause: 1 requests"},
					{mockserver.Filter{Status: 500}, 0, time.Hour, "no pause: 0 requests"},
				} {
					var said fakeTB
					assert.False(t, srv.AssertPauses(&said, c.filter, c.least, c.most))
					assert.Contains(t, said.String(), c.says)
				}
			})
		})
	}
}

func TestPausesOfCallsAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t)
		srv.Fault(mockserver.Match{}, mockserver.Latency(time.Second))
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { api.get(lookup) })
		}
		wg.Wait()
		var said fakeTB
		assert.False(t, srv.AssertPauses(&said, mockserver.Filter{}, 0, time.Hour))
		assert.Contains(t, said.String(), "request 2 came while request 1 was under way")
	})
}

// What the client's own policy says, seen from the other side.
func TestPausesBetweenTheClientsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _ := start(t)
		srv.Fault(mockserver.Match{Times: 1}, mockserver.Status(503).And(mockserver.RetryAfter("7")))
		_, err := srv.Client().Contribuyentes.Consultar(t.Context(), lookedUp)
		require.NoError(t, err)
		assert.True(t, srv.AssertPauses(t, mockserver.Filter{}, 7*time.Second, 8*time.Second))
		assert.True(t, srv.AssertInFlight(t, mockserver.Filter{}, 1))
		assert.True(t, srv.AssertFaultsMet(t))
	})
}

func TestAssertHeader(t *testing.T) {
	srv, api := start(t, mockserver.WithKey("otra-clave", 10))
	api.send("GET", lookup, "", "X-Request-Id", "uno", "User-Agent", "prueba/1.0")
	api.send("GET", lookup, "", "X-Request-Id", "dos", "User-Agent", "prueba/1.0")
	crowd := []string{"Accept", "x"}
	for i := range 30 {
		crowd = append(crowd, fmt.Sprint("X-", i), "x")
	}
	api.withKey("otra-clave").send("GET", lookup, "", crowd...)
	own := mockserver.Filter{Key: srv.APIKey}
	for name, c := range map[string]struct {
		filter      mockserver.Filter
		name, value string
		says        string // "" where it passes
	}{
		"each":            {own, "User-Agent", "prueba/1.0", ""},
		"any spelling":    {own, "user-agent", "prueba/1.0", ""},
		"one":             {mockserver.Filter{After: 1, Key: srv.APIKey}, "X-Request-Id", "dos", ""},
		"absent":          {own, "Accept", "", ""},
		"the host":        {own, "Host", "127.0.0.1", ""},
		"a key":           {own, "X-API-KEY", srv.APIKey, ""},
		"another key":     {own, "X-API-KEY", "otra-clave", "X-Api-Key is another"},
		"one is another":  {own, "X-Request-Id", "uno", "X-Request-Id is another"},
		"not sent":        {own, "Traceparent", "x", "it has no Traceparent"},
		"sent":            {own, "User-Agent", "", "User-Agent is another"},
		"no request":      {mockserver.Filter{Status: 500}, "User-Agent", "prueba/1.0", "0 requests, want 1 or more"},
		"too many fields": {mockserver.Filter{Key: "otra-clave"}, "X-Absent", "", "it has too many headers to tell"},
	} {
		t.Run(name, func(t *testing.T) {
			var said fakeTB
			assert.Equal(t, c.says == "", srv.AssertHeader(&said, c.filter, c.name, c.value), said.String())
			assert.Contains(t, said.String(), c.says)
			assert.NotContains(t, said.String(), "otra-clave", "a value may be a secret")
		})
	}
}

func TestAssertHeaderOfSeveralValues(t *testing.T) {
	srv, api := start(t)
	req, err := http.NewRequest(http.MethodGet, api.url+lookup, nil)
	require.NoError(t, err)
	req.Header = http.Header{"X-Api-Key": {api.key}, "Accept": {"a", "b"}}
	resp, err := api.hc.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.True(t, srv.AssertHeader(t, mockserver.Filter{}, "Accept", "a, b"))
}

func TestAssertFaultsMet(t *testing.T) {
	some := mockserver.Match{Op: mockserver.OpConsultar}
	for name, c := range map[string]struct {
		match mockserver.Match
		steps []mockserver.Step
		calls int
		says  string // "" where it passes
	}{
		"once":            {some, []mockserver.Step{mockserver.Null200}, 1, ""},
		"never":           {some, []mockserver.Step{mockserver.Null200}, 0, "fault null-200-1 has met 0 calls, want 1 or more"},
		"another call":    {mockserver.Match{RUC: "20100070970"}, []mockserver.Step{mockserver.Null200}, 3, "has met 0 calls"},
		"both steps":      {some, []mockserver.Step{mockserver.Status(500), mockserver.OK}, 2, ""},
		"one of two":      {some, []mockserver.Step{mockserver.Status(500), mockserver.OK}, 1, "fault-1 has met 1 calls, want 2 or more"},
		"two of three":    {mockserver.Match{Times: 3}, []mockserver.Step{mockserver.Status(500)}, 2, "has met 2 calls, want 3"},
		"more than three": {mockserver.Match{Times: 3}, []mockserver.Step{mockserver.Status(500)}, 5, ""},
		"the second":      {mockserver.Match{Nth: 2}, []mockserver.Step{mockserver.Status(500)}, 2, ""},
		"not the second":  {mockserver.Match{Nth: 2}, []mockserver.Step{mockserver.Status(500)}, 1, "has met 0 calls"},
		"of the key":      {mockserver.Match{Key: mockserver.DefaultAPIKey, Nth: 9}, []mockserver.Step{mockserver.Status(500)}, 1, "Key:k_"},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t, mockserver.WithJournal(0)) // it needs none
			srv.Fault(c.match, c.steps...)
			for range c.calls {
				api.get(lookup)
			}
			var said fakeTB
			assert.Equal(t, c.says == "", srv.AssertFaultsMet(&said), said.String())
			assert.Contains(t, said.String(), c.says)
			assert.NotContains(t, said.String(), srv.APIKey)
			srv.ClearFaults()
			assert.True(t, srv.AssertFaultsMet(t), "what was removed is not asked for")
		})
	}
}
