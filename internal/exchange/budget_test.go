package exchange_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/exchange"
)

func TestBudget(t *testing.T) {
	var b exchange.Budget
	all := func() (taken int) {
		for b.Take() {
			taken++
		}
		return taken
	}
	times := func(n int, f func()) {
		for range n {
			f()
		}
	}
	assert.Equal(t, 10, all(), "it begins full")
	times(9, b.Earn)
	assert.Equal(t, 0, all())
	b.Earn()
	assert.Equal(t, 1, all(), "ten successes make one")
	times(1000, b.Earn)
	assert.Equal(t, 10, all(), "and no more than it holds")
	b.GiveBack()
	assert.Equal(t, 1, all())
	times(1000, b.GiveBack)
	assert.Equal(t, 10, all())
}
