package roundtrip_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/roundtrip"
)

func TestTheBudget(t *testing.T) {
	var b roundtrip.Budget
	outage := func() (retries int) {
		for range 100 {
			if b.Take() {
				retries++
			}
		}
		return retries
	}
	assert.Equal(t, 11, outage(), "the first failure is free, and ten draw on the budget")
	for range 9 {
		b.Earn()
		assert.Equal(t, 1, outage(), "so it is after each success")
	}
	for range 20 {
		b.Earn()
	}
	assert.Equal(t, 3, outage(), "ten successes earn a retry")
	for range 1000 {
		b.Earn()
	}
	assert.Equal(t, 11, outage(), "no more than ten are saved up")
}
