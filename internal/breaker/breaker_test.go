package breaker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/breaker"
)

func TestItOpensAfterFailuresInARow(t *testing.T) {
	b := breaker.Breaker{Failures: 3, Pause: time.Second, Longest: time.Second}
	for _, success := range []bool{false, false, true, false, false} {
		b.Record(success)
		assert.False(t, b.Open())
	}
	b.Record(false)
	assert.True(t, b.Open())
	b.Record(true)
	assert.False(t, b.Open(), "one success closes it")
}

func TestOneProbeInEachPauseWhichGrowsToTheLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.Breaker{Failures: 1, Pause: time.Second, Longest: 4 * time.Second}
		b.Record(false)
		for _, pause := range []time.Duration{1, 2, 4, 4} {
			time.Sleep(pause*time.Second - 1)
			for range 100 { // which were under way together
				b.Record(false)
			}
			assert.False(t, b.Probe())
			time.Sleep(time.Nanosecond)
			assert.True(t, b.Probe())
			assert.False(t, b.Probe())
			b.Record(false)
			b.Record(false)
		}
		b.Record(true)
		b.Record(false)
		time.Sleep(time.Second)
		assert.True(t, b.Probe(), "a new outage begins with the first pause")
		time.Sleep(time.Second)
		assert.True(t, b.Probe(), "also if the last one was never answered")
	})
}
