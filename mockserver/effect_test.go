package mockserver_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFaultJSON(t *testing.T) {
	text := `{"name":"lenta","match":{"op":"validar","ruc":"20100070970","times":2,"for":"30m0s"},"steps":[{"preset":"sunat-down"},{"latency":"1.5s","sigma":0.6,"break":"reset"}]}`
	var f mockserver.Fault
	require.NoError(t, json.Unmarshal([]byte(text), &f))
	assert.Equal(t, 30*time.Minute, f.Match.For)
	assert.Equal(t, 1500*time.Millisecond, f.Steps[1].Latency)
	again, err := json.Marshal(f)
	require.NoError(t, err)
	assert.JSONEq(t, text, string(again))
	srv, api := start(t)
	_, err = srv.AddFault(f)
	require.NoError(t, err)
	api.validar(cpe(t)).isError(t, 500, "SUNAT_UNAVAILABLE")
	for name, bad := range map[string]string{
		"unknown member of a step":    `{"steps":[{"estado":500}]}`,
		"unknown member of the match": `{"match":{"operacion":"x"},"steps":[{}]}`,
		"a duration without a unit":   `{"steps":[{"latency":"15"}]}`,
		"a wrong type":                `{"steps":[{"status":"500"}]}`,
	} {
		assert.Error(t, json.Unmarshal([]byte(bad), &f), name)
	}
	for _, p := range mockserver.Presets() {
		text, err := json.Marshal(p.Effect)
		require.NoError(t, err)
		var e mockserver.Effect
		require.NoError(t, json.Unmarshal(text, &e))
		assert.Empty(t, cmp.Diff(p.Effect, e), p.Name)
		assert.NotEmpty(t, p.What)
	}
}

// What one of two effects sets is set, and what both set is that of the one on top.
func TestAnEffectOverAnother(t *testing.T) {
	body, other := "a", "b"
	for name, e := range map[string]mockserver.Effect{
		"before":         {Before: true},
		"hold":           {Hold: true},
		"the authority":  {SUNATDown: true},
		"latency":        {Latency: time.Second, Sigma: 0.5},
		"status":         {Status: 500},
		"headers":        {Header: map[string]string{"A": "1"}},
		"body":           {Body: &body},
		"rewrite":        {Rewrite: mockserver.RewriteOtherDate},
		"pieces":         {Chunk: 3, Every: time.Second},
		"break":          {Break: mockserver.BreakReset},
		"all of a kind":  {Before: true, Hold: true, Latency: time.Second, Status: 500},
		"nothing at all": {},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, cmp.Diff(e, mockserver.Effect{}.And(e)))
			assert.Empty(t, cmp.Diff(e, e.And(mockserver.Effect{})))
		})
	}
	assert.Empty(t, cmp.Diff(mockserver.Effect{
		Latency: 2 * time.Second, Status: 503, Header: map[string]string{"A": "1", "B": "3", "C": "4"},
		Body: &other, Rewrite: mockserver.RewriteOtherDate, Chunk: 4, Break: mockserver.BreakClose,
	}, mockserver.Effect{
		Latency: time.Second, Sigma: 0.5, Status: 500, Header: map[string]string{"A": "1", "B": "2"},
		Body: &body, Rewrite: mockserver.RewriteOtherRUC, Chunk: 3, Every: time.Second, Break: mockserver.BreakReset,
	}.And(mockserver.Effect{
		Latency: 2 * time.Second, Status: 503, Header: map[string]string{"B": "3", "C": "4"},
		Body: &other, Rewrite: mockserver.RewriteOtherDate, Chunk: 4, Break: mockserver.BreakClose,
	})))
}
