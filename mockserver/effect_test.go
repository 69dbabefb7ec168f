package mockserver_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
)

func TestPresetsAreDescribed(t *testing.T) {
	for _, p := range mockserver.Presets() {
		assert.NotEmpty(t, p.What)
		assert.NotEmpty(t, p.Group)
	}
}

// What one of two effects sets is set, and what both set is that of the one on top.
func TestAnEffectOverAnother(t *testing.T) {
	body, other := "a", "b"
	for name, e := range map[string]mockserver.Effect{
		"before": {Before: true}, "hold": {Hold: true}, "latency": {Latency: time.Second}, "status": {Status: 500}, "preset": {Preset: mockserver.Slow},
		"headers": {Header: map[string]string{"A": "1"}}, "body": {Body: &body}, "nothing at all": {},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, cmp.Diff(e, mockserver.Effect{}.And(e)))
			assert.Empty(t, cmp.Diff(e, e.And(mockserver.Effect{})))
		})
	}
	assert.Empty(t, cmp.Diff(
		mockserver.Effect{Latency: 2 * time.Second, Status: 503, Header: map[string]string{"A": "1", "B": "3", "C": "4"}, Body: &other},
		mockserver.Effect{Latency: time.Second, Status: 500, Header: map[string]string{"A": "1", "B": "2"}, Body: &body}.
			And(mockserver.Effect{Latency: 2 * time.Second, Status: 503, Header: map[string]string{"B": "3", "C": "4"}, Body: &other})))
}

// Several presets are one effect, unless they change the same.
func TestPresetsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t)
		srv.Fault(mockserver.Match{Times: 1}, mockserver.Latin1.And(mockserver.CloseInside).And(mockserver.SUNATSlow).And(mockserver.Latency(time.Second)))
		begin := time.Now()
		half, err := api.try("GET", "/api/contribuyentes/20999990011", "")
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Contains(t, half.body, "\xd1")
		assert.Equal(t, time.Second, time.Since(begin), "the latency above is no median")
		srv.Fault(mockserver.Match{Times: 1}, mockserver.Slow.And(mockserver.Latin1))
		api.get(lookup)
		assert.Greater(t, time.Since(begin), 2*time.Second, "in pieces")
		srv.Fault(mockserver.Match{Times: 1}, mockserver.Throttle429.And(mockserver.NoRateLimit))
		got := api.get(lookup)
		assert.Equal(t, 429, got.status)
		assert.Empty(t, remaining(got))
		srv.Fault(mockserver.Match{Times: 1}, mockserver.SUNATDown.And(mockserver.Header("X-Uno", "1")))
		assert.Equal(t, "1", api.get(lookup).header.Get("X-Uno"), "the header of a lookup too")
		for _, two := range []mockserver.Effect{mockserver.OtherRUC.And(mockserver.Latin1), mockserver.Hang.And(mockserver.ResetBefore), {Preset: "slow+nada"}} {
			_, err := srv.Control().AddFault(mockserver.Fault{Steps: []mockserver.Effect{two}})
			assert.Error(t, err, two.Preset)
		}
	})
}
