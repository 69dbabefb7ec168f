package mockserver_test

import (
	"errors"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClockMovesAllThatFollowsIt(t *testing.T) {
	srv, api := start(t, mockserver.WithNow(at(t, "2026-11-20T16:59:59-05:00")), mockserver.WithFrozenClock(), mockserver.WithQuota(10))
	assert.True(t, srv.Control().Frozen())
	assert.Equal(t, at(t, "2026-11-20T16:59:59-05:00").Unix(), srv.Now().Unix())

	r := api.get("/api/tipocambio")
	r.isError(t, 404, "NOT_FOUND")
	assert.Equal(t, "Fri, 20 Nov 2026 21:59:59 GMT", r.header.Get("Date"))
	srv.Advance(time.Second)
	r = api.get("/api/tipocambio")
	assert.Equal(t, 200, r.status, "published at 17:00")
	assert.Equal(t, "Fri, 20 Nov 2026 22:00:00 GMT", r.header.Get("Date"))

	for range 3 {
		api.validar(cpe(t, "claveSol", `"mala"`))
	}
	api.validar(cpe(t)).isError(t, 401, wrongSOL)
	srv.Advance(30 * time.Minute)
	assert.Equal(t, 200, api.validar(cpe(t)).status, "the block is over")

	assert.Equal(t, "2", remaining(api.get(lookup)))
	srv.Advance(7 * time.Hour)
	assert.Equal(t, "9", remaining(api.get(lookup)), "a new day")

	srv.Fault(mockserver.Match{For: time.Minute}, mockserver.Status(503))
	srv.Advance(59 * time.Second)
	assert.Equal(t, 503, api.get(lookup).status)
	srv.Advance(time.Second)
	assert.Equal(t, 200, api.get(lookup).status, "the fault is over")

	all := srv.Requests()
	assert.Equal(t, at(t, "2026-11-20T16:59:59-05:00").UTC(), all[0].Time.UTC(), "the journal's times")
	assert.Equal(t, srv.Now(), all[len(all)-1].Time)
}

func TestClockRunsFreezesAndResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _ := start(t, mockserver.WithNow(at(t, "2026-11-20T10:00:00Z")))
		shows := func(want string) { t.Helper(); assert.Equal(t, want, srv.Now().UTC().Format(time.DateTime)) }
		time.Sleep(time.Minute)
		shows("2026-11-20 10:01:00")
		assert.False(t, srv.Control().Frozen())
		srv.Freeze()
		time.Sleep(time.Hour)
		shows("2026-11-20 10:01:00")
		srv.Advance(time.Minute)
		shows("2026-11-20 10:02:00")
		srv.SetNow(at(t, "2025-01-01T00:00:00Z"))
		time.Sleep(time.Hour)
		shows("2025-01-01 00:00:00")
		srv.Resume()
		time.Sleep(time.Hour)
		shows("2025-01-01 01:00:00")
		srv.Advance(-time.Hour)
		shows("2025-01-01 00:00:00")
		require.NoError(t, srv.Reset(mockserver.PartClock))
		shows("2026-11-20 10:00:00")
	})
}

func TestClockLiesOverTheOneOfTheOption(t *testing.T) {
	now := at(t, "2026-11-20T10:00:00Z")
	srv, api := start(t, mockserver.WithClock(func() time.Time { return now }))
	srv.Advance(time.Hour)
	now = now.Add(time.Minute)
	assert.Equal(t, "2026-11-20 11:01:00", srv.Now().Format(time.DateTime))
	assert.Equal(t, srv.Now().Format(http.TimeFormat), api.get(lookup).header.Get("Date")[:25]+" GMT")
	require.NoError(t, srv.Reset(mockserver.PartClock))
	assert.Equal(t, now, srv.Now())

	_, err := mockserver.Start(mockserver.WithNow(time.Time{}))
	assert.ErrorContains(t, err, "WithNow")
}

// The clock shows what it was set to, or the setter says that it cannot and moves nothing.
func TestClockTakesOrRefuses(t *testing.T) {
	const most, least = time.Duration(math.MaxInt64), time.Duration(math.MinInt64)
	now := at(t, "2026-11-20T10:00:00Z")
	for name, c := range map[string]struct {
		move func(*mockserver.Server) error
		want time.Time // zero: refused
	}{
		"in four hundred years":    {func(s *mockserver.Server) error { return s.SetNow(now.AddDate(400, 0, 0)) }, now.AddDate(400, 0, 0)},
		"the last":                 {func(s *mockserver.Server) error { return s.SetNow(at(t, "9000-01-01T00:00:00Z")) }, at(t, "9000-01-01T00:00:00Z")},
		"the first":                {func(s *mockserver.Server) error { return s.SetNow(time.Unix(0, 0).UTC()) }, time.Unix(0, 0)},
		"the most from now":        {func(s *mockserver.Server) error { return s.Advance(most) }, now.Add(most)},
		"twice as much":            {func(s *mockserver.Server) error { return errors.Join(s.Advance(most), s.Advance(most)) }, now.Add(most).Add(most)},
		"the last year of RFC3339": {func(s *mockserver.Server) error { return s.SetNow(at(t, "9999-12-31T23:59:59Z")) }, time.Time{}},
		"beyond it":                {func(s *mockserver.Server) error { return s.SetNow(now.AddDate(100_000, 0, 0)) }, time.Time{}},
		"before 1970":              {func(s *mockserver.Server) error { return s.SetNow(at(t, "1969-12-31T23:59:59Z")) }, time.Time{}},
		"zero":                     {func(s *mockserver.Server) error { return s.SetNow(time.Time{}) }, time.Time{}},
		"back too far":             {func(s *mockserver.Server) error { return s.Advance(least) }, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			srv, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithNow(now), mockserver.WithFrozenClock())
			require.NoError(t, err)
			defer func() { _ = srv.Close() }()
			err = c.move(srv)
			want := c.want
			if assert.Equal(t, want.IsZero(), err != nil, "%v", err); err != nil {
				want = now
			}
			assert.True(t, srv.Control().Frozen())
			assert.True(t, want.Equal(srv.Now()), srv.Now())
			r := plain(t, srv).get(lookup)
			assert.Equal(t, want.UTC().Format(http.TimeFormat), r.header.Get("Date"))
			reset, err := time.Parse(time.RFC3339, r.header.Get("X-RateLimit-Reset"))
			require.NoError(t, err)
			assert.True(t, reset.After(want) && reset.Sub(want) <= 24*time.Hour)
		})
	}
	var f fakeT
	assert.Error(t, mockserver.New(&f, mockserver.WithoutSocket()).SetNow(time.Time{}))
	assert.NotEmpty(t, f.errors, "the test fails too")
	_, err := mockserver.Start(mockserver.WithNow(at(t, "9999-12-31T23:59:59Z")))
	assert.ErrorContains(t, err, "WithNow")
}
