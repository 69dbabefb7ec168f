package mockserver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
)

func TestAHoldEndsByItselfWithALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t, mockserver.WithHoldLimit(time.Minute))
		gate := srv.Fault(mockserver.Match{}, mockserver.Hold())
		took := func() time.Duration {
			began := time.Now()
			assert.Equal(t, 200, api.get(lookup).status, "its own answer")
			return time.Since(began)
		}
		assert.Equal(t, time.Minute, took())
		assert.Zero(t, took(), "the fault was released, not this call alone")
		gate.Remove()

		srv.Fault(mockserver.Match{Times: 1}, mockserver.Hold().Uncharged())
		assert.Equal(t, time.Minute, took(), "before the charge too")

		early := srv.Fault(mockserver.Match{}, mockserver.Hold())
		time.AfterFunc(time.Second, early.Release)
		assert.Equal(t, time.Second, took())
	})
}

func TestAHoldLastsWithoutALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t)
		gate := srv.Fault(mockserver.Match{}, mockserver.Hold())
		began := time.Now()
		time.AfterFunc(24*time.Hour, gate.Release)
		assert.Equal(t, 200, api.get(lookup).status)
		assert.Equal(t, 24*time.Hour, time.Since(began))
	})
	_, err := mockserver.Start(mockserver.WithHoldLimit(-1))
	assert.ErrorContains(t, err, "WithHoldLimit")
}
