package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/fiscope/fiscope/compare/peers"
	"github.com/fiscope/fiscope/compare/peers/sdk"
)

// compareCost measures what a client costs by itself, over a service in memory.
func compareCost(ctx context.Context, s size) ([]row, error) {
	var rows []row
	for _, work := range []struct {
		name string
		do   func(context.Context, contender) (func() error, error)
	}{
		{"a lookup", lookups},
		{"nobody has it (404)", misses},
		{"a new client's first lookup", firstLookups},
		{"a lookup that a cache misses", cacheMisses},
	} {
		measured, err := measureCost(ctx, s, work.do)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", work.name, err)
		}
		allocations, ratios := row{work: work.name + ": allocations"}, row{work: work.name + ": time"}
		for _, m := range measured {
			allocations.cells = append(allocations.cells, m.allocationsCell())
			ratios.cells = append(ratios.cells, m.ratioCell())
		}
		rows = append(rows, allocations, ratios)
	}
	return rows, nil
}

// cost is that of a call.
type cost struct {
	allocations int
	ratio       float64 // of its time to the first contender's
	none        bool    // the contender has nothing of the kind
}

func (c cost) allocationsCell() string {
	if c.none {
		return none
	}
	return grouped(c.allocations)
}

func (c cost) ratioCell() string {
	if c.none {
		return none
	}
	return times(c.ratio)
}

// errNothingOfTheKind is of a work that a contender does not do.
var errNothingOfTheKind = errors.New("nothing of the kind")

// measureCost measures a call of each contender, in turn, so that what else the machine does is everybody's.
func measureCost(ctx context.Context, s size, work func(context.Context, contender) (func() error, error)) ([]cost, error) {
	var calls []func() error
	for _, c := range contenders {
		call, err := work(ctx, c)
		if err == nil {
			err = call() // once, before it is measured
		}
		if errors.Is(err, errNothingOfTheKind) {
			call = nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		calls = append(calls, call)
	}
	least := leastOf(s.rounds, s.calls, calls)
	measured := make([]cost, len(contenders))
	for i, call := range calls {
		if call == nil {
			measured[i].none = true
			continue
		}
		measured[i] = cost{allocations: allocations(s.allocating, call), ratio: least[i] / least[0]}
	}
	return measured, nil
}

// leastOf makes calls of each, round after round, and returns the least nanoseconds that a call took in a round.
func leastOf(rounds, calls int, each []func() error) []float64 {
	least := slices.Repeat([]float64{math.Inf(1)}, len(each))
	for range rounds {
		for i, call := range each {
			if call == nil {
				continue
			}
			began := time.Now()
			for range calls {
				_ = call() // which was seen to do its work
			}
			least[i] = min(least[i], float64(time.Since(began).Nanoseconds())/float64(calls))
		}
	}
	return least
}

// allocations returns how many a call makes, on average and rounded down.
func allocations(calls int, call func() error) int {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		_ = call()
	}
	runtime.ReadMemStats(&after)
	return int((after.Mallocs - before.Mallocs) / uint64(calls)) //nolint:gosec // a small number
}

// finds returns a service that has the object, and says that much of the quota is left.
func (a *api) finds() service {
	return always(inJSON(200, a.found, a.quota(1_000_000_000, 999_999_999, time.Now().Add(12*time.Hour))...))
}

func lookups(ctx context.Context, c contender) (func() error, error) {
	client, err := c.open(c.api.finds(), briefly)
	return func() error { return finds(ctx, client, c.api) }, err
}

// finds looks the object up, which is there.
func finds(ctx context.Context, client peers.Client, a *api) error {
	found, err := client.Lookup(ctx, a.id)
	if err == nil && found != a.object {
		return fmt.Errorf("found %v", found)
	}
	return err
}

func misses(ctx context.Context, c contender) (func() error, error) {
	client, err := c.open(always(inJSON(404, c.api.missing)), briefly)
	return func() error {
		if _, err := client.Lookup(ctx, c.api.id); err == nil {
			return errors.New("found what is not there")
		}
		return nil
	}, err
}

func firstLookups(ctx context.Context, c contender) (func() error, error) {
	found := c.api.finds()
	return func() error {
		client, err := c.open(found, briefly)
		if err != nil {
			return err
		}
		defer client.Close()
		return finds(ctx, client, c.api)
	}, nil
}

func cacheMisses(ctx context.Context, c contender) (func() error, error) {
	if c.name != ours.name && c.name != contenders[0].name {
		return nil, errNothingOfTheKind
	}
	if c.name == ours.name {
		c.new = sdk.NewWithCache
	}
	return lookups(ctx, c)
}
