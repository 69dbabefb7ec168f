package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOurLookupAllocatesLessThanByHand(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: this is checked without it")
	}
	measured, err := measureCost(t.Context(), size{rounds: 1, calls: 1, allocating: 200}, lookups)
	require.NoError(t, err)
	require.Len(t, measured, len(contenders))
	assert.LessOrEqual(t, measured[len(measured)-1].allocations, measured[0].allocations)
	for i, m := range measured {
		assert.Greater(t, m.allocations, 10, contenders[i].name)
		assert.Greater(t, m.ratio, 0.0, contenders[i].name)
	}
}

// What we lose is in the table.
func TestOurFailuresCostMoreThanByHand(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: this is checked without it")
	}
	measured, err := measureCost(t.Context(), size{rounds: 1, calls: 1, allocating: 200}, misses)
	require.NoError(t, err)
	assert.Greater(t, measured[len(measured)-1].allocations, measured[0].allocations)
}

func TestWhoHasNothingOfTheKindHasNoCost(t *testing.T) {
	measured, err := measureCost(t.Context(), small, cacheMisses)
	require.NoError(t, err)
	for i, m := range measured {
		first, last := i == 0, i == len(measured)-1
		assert.Equal(t, !first && !last, m.none, contenders[i].name)
		assert.Equal(t, !first && !last, m.ratioCell() == none, contenders[i].name)
	}
}

// A client that does not do the work is not timed.
func TestACallThatFailsIsNotMeasured(t *testing.T) {
	_, err := measureCost(t.Context(), small, func(context.Context, contender) (func() error, error) {
		return func() error { return errors.New("no") }, nil
	})
	require.Error(t, err)
}
