package mockserver_test

import (
	"testing"

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
	assert.False(t, srv.Faults()[0].Active)
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
	assert.Empty(t, srv.Faults())
	html := srv.Fault(mockserver.Match{}, mockserver.HTML200)
	assert.Equal(t, "html-200-1", html.Name())
	_, err := srv.AddFault(mockserver.Fault{Name: "mía", Steps: []mockserver.Effect{mockserver.Status(500)}})
	require.NoError(t, err)
	assert.Equal(t, "text/html; charset=utf-8", api.get(lookup).header.Get("Content-Type"))
	html.Remove()
	assert.Equal(t, 500, api.get(lookup).status)
	_, err = srv.AddFault(mockserver.Fault{Name: "mía", Steps: []mockserver.Effect{mockserver.Status(502)}})
	require.NoError(t, err)
	assert.Equal(t, 502, api.get(lookup).status, "replaced")
	require.Len(t, srv.Faults(), 1)
	assert.Equal(t, 1, srv.FindFault("mía").Hits())
	assert.Nil(t, srv.FindFault("otra"))
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
		"no steps":             {},
		"unknown preset":       effect(mockserver.Effect{Preset: "otro"}),
		"status 99":            effect(mockserver.Status(99)),
		"status 600":           effect(mockserver.Status(600)),
		"negative latency":     effect(mockserver.Latency(-1)),
		"sigma alone":          effect(mockserver.Effect{Sigma: 1}),
		"pause alone":          effect(mockserver.Effect{Every: 1}),
		"unknown rewrite":      effect(mockserver.Effect{Rewrite: "x"}),
		"unknown break":        effect(mockserver.Effect{Break: "x"}),
		"content length":       effect(mockserver.Header("content-length", "1")),
		"rewrite of nothing":   effect(mockserver.OtherRUC.Uncharged()),
		"header of nothing":    effect(mockserver.Header("X", "y").Uncharged()),
		"inside of nothing":    effect(mockserver.ResetInside.Uncharged()),
		"unknown operation":    match(mockserver.Match{Op: "consulta"}),
		"probability above 1":  match(mockserver.Match{Probability: 1.1}),
		"negative probability": match(mockserver.Match{Probability: -0.1}),
		"negative times":       match(mockserver.Match{Times: -1}),
		"negative life":        match(mockserver.Match{For: -1}),
	} {
		_, err := srv.AddFault(f)
		assert.Error(t, err, name)
	}
	assert.Empty(t, srv.Faults())
	var f fakeT
	mockserver.New(&f, mockserver.WithoutSocket()).Fault(mockserver.Match{})
	assert.Contains(t, f.fatal, "mockserver: Fault: ")
	started, err := mockserver.Start(mockserver.WithoutSocket())
	require.NoError(t, err)
	assert.Panics(t, func() { started.Fault(mockserver.Match{}) })
}
