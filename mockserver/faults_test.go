package mockserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func statuses(a api, n int) (got []int) {
	for range n {
		got = append(got, a.get(lookup).status)
	}
	return got
}

func TestSequencesAndOrder(t *testing.T) {
	srv, api := start(t)
	srv.Fault(mockserver.Match{}, mockserver.Status(500), mockserver.OK, mockserver.Status(502))
	assert.Equal(t, []int{500, 200, 502, 200, 200}, statuses(api, 5))
	assert.False(t, srv.Control().Faults("")[0].Active)
	srv.ClearFaults()
	srv.Fault(mockserver.Match{Times: 5}, mockserver.Status(500), mockserver.OK)
	assert.Equal(t, []int{500, 200, 500, 200, 500, 200}, statuses(api, 6), "again from the start")
	srv.ClearFaults()
	srv.Fault(mockserver.Match{Nth: 2}, mockserver.Status(502))
	srv.Fault(mockserver.Match{Nth: 3}, mockserver.Status(503))
	srv.Fault(mockserver.Match{}, mockserver.Status(500))
	assert.Equal(t, []int{500, 502, 503, 500}, statuses(api, 4), "each counts every call, the first that is due meets it")
}

func TestFaultsAreNamedReplacedAndRemoved(t *testing.T) {
	srv, api := start(t)
	assert.Empty(t, srv.Control().Faults(""))
	html := srv.Fault(mockserver.Match{}, mockserver.HTML200)
	assert.Equal(t, "html-200-1", html.Status().Name)
	_, err := srv.Control().AddFault(mockserver.Fault{Name: "mía", Steps: []mockserver.Effect{mockserver.Status(500)}})
	require.NoError(t, err)
	assert.Equal(t, "text/html; charset=utf-8", api.get(lookup).header.Get("Content-Type"))
	html.Remove()
	assert.Equal(t, 500, api.get(lookup).status)
	_, err = srv.Control().AddFault(mockserver.Fault{Name: "mía", Steps: []mockserver.Effect{mockserver.Status(502)}})
	require.NoError(t, err)
	assert.Equal(t, 502, api.get(lookup).status, "replaced")
	require.Len(t, srv.Control().Faults(""), 1)
	assert.Equal(t, 1, srv.Control().FindFault("", "mía").Status().Hits)
	assert.Nil(t, srv.Control().FindFault("", "otra"))
	require.NoError(t, srv.Reset(mockserver.PartFaults))
	assert.Equal(t, 200, api.get(lookup).status)
	assert.Equal(t, []string{"html-200-1", "mía", "mía", ""}, func() (names []string) {
		for _, r := range srv.Requests() {
			names = append(names, r.Fault)
		}
		return names
	}())
}

func TestFaultsThatCannotBe(t *testing.T) {
	effect := func(e mockserver.Effect) mockserver.Fault {
		return mockserver.Fault{Steps: []mockserver.Effect{e}}
	}
	match := func(m mockserver.Match) mockserver.Fault {
		return mockserver.Fault{Match: m, Steps: []mockserver.Effect{mockserver.OK}}
	}
	srv, _ := start(t)
	for name, f := range map[string]mockserver.Fault{
		"no steps":            {},
		"unknown preset":      effect(mockserver.Effect{Preset: "otro"}),
		"status 99":           effect(mockserver.Status(99)),
		"status 600":          effect(mockserver.Status(600)),
		"negative latency":    effect(mockserver.Latency(-1)),
		"an unknown second":   effect(mockserver.Effect{Preset: "slow+x"}),
		"content length":      effect(mockserver.Header("content-length", "1")),
		"transfer encoding":   effect(mockserver.Header("Transfer-Encoding", "chunked")),
		"trailer":             effect(mockserver.Header("Trailer", "X")),
		"a name with a blank": effect(mockserver.Header("X Y", "1")),
		"a name with a colon": effect(mockserver.Header("Trailer:X", "1")),
		"a name with an end":  effect(mockserver.Header("X\r\nY", "1")),
		"an accent in a name": effect(mockserver.Header("Ñ", "1")),
		"no name":             effect(mockserver.Header("", "1")),
		"a value with an end": effect(mockserver.Header("X", "a\r\nSet-Cookie: b")),
		"a value with a zero": effect(mockserver.Header("X", "a\x00")),
		"an end in Location":  effect(mockserver.Header("Location", "/\n")),
		"rewrite of nothing":  effect(mockserver.OtherRUC.Uncharged()),
		"header of nothing":   effect(mockserver.Header("X", "y").Uncharged()),
		"inside of nothing":   effect(mockserver.ResetInside.Uncharged()),
		"unknown operation":   match(mockserver.Match{Op: "consulta"}),
		"negative times":      match(mockserver.Match{Times: -1}),
		"negative life":       match(mockserver.Match{For: -1}),
		"n-th and times":      match(mockserver.Match{Nth: 2, Times: 3}),
		"n-th and steps":      {Match: mockserver.Match{Nth: 2}, Steps: []mockserver.Effect{mockserver.Status(500), mockserver.OK}},
	} {
		_, err := srv.Control().AddFault(f)
		assert.Error(t, err, name)
	}
	assert.Empty(t, srv.Control().Faults(""))
	var f fakeT
	mockserver.New(&f, mockserver.WithoutSocket()).Fault(mockserver.Match{})
	assert.Contains(t, f.fatal, "mockserver: Fault: ")
	mockserver.New(&f, mockserver.WithoutSocket()).Fault(mockserver.Match{}, mockserver.Header("X Y", "1"))
	assert.Contains(t, f.fatal, `"X Y"`)
	srv.Fault(mockserver.Match{}, mockserver.Header("X-Uno", "ñ, \tdos").And(mockserver.Header("Connection", "close")))
	started, err := mockserver.Start(mockserver.WithoutSocket())
	require.NoError(t, err)
	assert.Panics(t, func() { started.Fault(mockserver.Match{}) })
}

// A fault that can meet nothing more is not Active, whatever ended it, and meets nothing more.
func TestActiveFaults(t *testing.T) {
	status := mockserver.Status(503)
	for name, c := range map[string]struct {
		match  mockserver.Match
		end    func(*mockserver.Server, *mockserver.ActiveFault, api)
		active bool
	}{
		"without end":      {mockserver.Match{}, nil, true},
		"before the n-th":  {mockserver.Match{Nth: 2}, nil, true},
		"the n-th, once":   {mockserver.Match{Nth: 1, Times: 1}, nil, false},
		"once of two":      {mockserver.Match{Times: 2}, nil, true},
		"once":             {mockserver.Match{Times: 1}, nil, false},
		"before its time":  {mockserver.Match{For: time.Hour}, nil, true},
		"the n-th was met": {mockserver.Match{Nth: 1}, nil, false},
		"its time is over": {mockserver.Match{For: time.Hour}, func(srv *mockserver.Server, _ *mockserver.ActiveFault, _ api) { srv.Advance(time.Hour) }, false},
		"a call found it over": {mockserver.Match{For: time.Hour}, func(srv *mockserver.Server, _ *mockserver.ActiveFault, a api) {
			srv.Advance(time.Hour)
			a.get(lookup)
			srv.Advance(-time.Hour)
		}, false},
		"removed": {mockserver.Match{}, func(_ *mockserver.Server, f *mockserver.ActiveFault, _ api) { f.Remove() }, false},
		"cleared": {mockserver.Match{}, func(srv *mockserver.Server, _ *mockserver.ActiveFault, _ api) { srv.ClearFaults() }, false},
		"replaced": {mockserver.Match{}, func(srv *mockserver.Server, f *mockserver.ActiveFault, _ api) {
			_, err := srv.Control().AddFault(mockserver.Fault{Name: f.Status().Name, Match: mockserver.Match{Op: mockserver.OpBuscar}, Steps: []mockserver.Effect{status}})
			require.NoError(t, err)
		}, false},
		"its n-th was met by another": {mockserver.Match{Nth: 3}, func(_ *mockserver.Server, _ *mockserver.ActiveFault, a api) {
			a.get(lookup)
			a.get(lookup)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t, mockserver.WithKey("otra", 10), mockserver.WithNow(at(t, "2026-11-21T12:00:00Z")), mockserver.WithFrozenClock())
			if name == "its n-th was met by another" {
				srv.Fault(mockserver.Match{Nth: 3}, mockserver.Status(500))
			}
			fault := srv.Fault(c.match, status)
			api.get(lookup)
			if c.end != nil {
				c.end(srv, fault, api)
			}
			assert.Equal(t, c.active, fault.Status().Active)
			hits := fault.Status().Hits
			for range 3 {
				api.get(lookup)
			}
			assert.Equal(t, c.active, fault.Status().Hits > hits)
		})
	}
}

// The allocations of a call are exact: as many with a thousand faults that have ended as with none.
func TestEndedFaultsCostNothing(t *testing.T) {
	if !countsAllocations {
		t.Skip("allocations are counted with Go 1.26, without the race detector")
	}
	srv, _ := start(t, mockserver.WithQuota(mockserver.Unlimited), mockserver.WithJournal(0))
	call := func() {
		req := httptest.NewRequest(http.MethodPost, "/api/cpe/validar", strings.NewReader(cpe(t)))
		req.Header.Set("X-API-KEY", srv.APIKey)
		req.Header.Set("Content-Type", "application/json")
		srv.ServeHTTP(discard{http.Header{}}, req)
	}
	without := testing.AllocsPerRun(50, call)
	const about = mockserver.RUCSolicitante // reading a body for it is dear
	for range 250 {
		srv.Fault(mockserver.Match{RUC: about, Times: 1}, mockserver.OK)
		call()
		srv.Fault(mockserver.Match{RUC: about, Nth: 1}, mockserver.OK)
		call()
		srv.Fault(mockserver.Match{RUC: about}, mockserver.OK).Remove()
		srv.Fault(mockserver.Match{RUC: about, For: time.Minute}, mockserver.OK)
		srv.Advance(time.Minute)
	}
	for range 3 { // the two that come after the first n-th one pass it
		call()
	}
	assert.InDelta(t, without, testing.AllocsPerRun(50, call), 1)
	assert.Len(t, srv.Control().Faults(""), 750)
}

// A fault that no call can meet is not active.
func TestAFaultThatMeetsNothingIsNotActive(t *testing.T) {
	srv, api := start(t)
	for name, c := range map[string]struct {
		match  mockserver.Match
		active bool
	}{
		"any call":            {mockserver.Match{}, true},
		"a key":               {mockserver.Match{Key: srv.APIKey}, true},
		"an unknown key":      {mockserver.Match{Key: "otra-clave"}, false},
		"a RUC":               {mockserver.Match{RUC: lookedUp}, true},
		"of a lookup":         {mockserver.Match{RUC: lookedUp, Op: mockserver.OpConsultar}, true},
		"of a validation":     {mockserver.Match{RUC: lookedUp, Op: mockserver.OpValidar}, true},
		"of an exchange rate": {mockserver.Match{RUC: lookedUp, Op: mockserver.OpTipoCambio}, false},
		"of a search":         {mockserver.Match{RUC: lookedUp, Op: mockserver.OpBuscar}, false},
	} {
		f := srv.Fault(c.match, mockserver.OK)
		assert.Equal(t, c.active, f.Status().Active, name)
		f.Remove()
	}
	later := srv.Fault(mockserver.Match{Key: "otra-clave"}, mockserver.Status(503))
	require.NoError(t, srv.PutKey("otra-clave", 5))
	assert.True(t, later.Status().Active, "it is known now")
	assert.Equal(t, 503, api.withKey("otra-clave").get(lookup).status)
	require.NoError(t, srv.Reset(mockserver.PartData))
	assert.False(t, later.Status().Active)
	assert.Empty(t, srv.Control().Faults(""), "they go with their key")
	require.NoError(t, srv.PutKey("otra-clave", 5))
	assert.Equal(t, 200, api.withKey("otra-clave").get(lookup).status)
}

// A fault that takes the place of another one lets go what that held.
func TestAFaultInThePlaceOfAnotherLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t)
		_, err := srv.Control().AddFault(mockserver.Fault{Name: "una", Steps: []mockserver.Effect{mockserver.Hold()}})
		require.NoError(t, err)
		got := make(chan reply, 1)
		go func() { got <- api.get(lookup) }()
		synctest.Wait()
		_, err = srv.Control().AddFault(mockserver.Fault{Name: "una", Steps: []mockserver.Effect{mockserver.Status(503)}})
		require.NoError(t, err)
		synctest.Wait()
		select {
		case r := <-got:
			assert.Equal(t, 200, r.status)
		default:
			t.Error("it is still held")
			srv.ClearFaults()
			<-got
		}
	})
}
