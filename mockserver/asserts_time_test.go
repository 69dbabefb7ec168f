package mockserver_test

import (
	"fmt"
	"strings"
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
		"another order":    {[]mockserver.Filter{looked, failed, validated}, "3 requests, want these 3 in order"},
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
			if c.says != "" {
				_, wanted, _ := strings.Cut(said.String(), "Want, in this order:\n")
				assert.Equal(t, len(c.filters), strings.Count(wanted, "\n"), "each one whole, below the table")
				for i, f := range c.filters {
					assert.Contains(t, wanted, fmt.Sprintf("%d. %v\n", i+1, f))
				}
			}
		})
	}
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
		assert.True(t, srv.AssertFaultsMet(t))
	})
}
