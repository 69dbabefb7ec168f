// Package batch asks many questions with few at a time, and says where to go on when it stops.
package batch

import (
	"context"
	"iter"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Policy bounds a batch.
type Policy struct {
	Concurrency, From, Memory, MaxFailures int
}

// Line is what a batch delivers for one input.
type Line[E, R any] struct {
	Position int
	Input    E
	Result   *R
	Err      error
	Repeated bool
	Next     int // the lowest position that is not delivered
}

// Judgement is what an answer means for the other inputs.
type Judgement struct {
	Keep   bool // it serves later duplicates too
	Local  bool // it says nothing of the service
	Stop   bool // all that follow would be answered so
	Slower bool // ask again, after a pause for all of at least After
	After  time.Duration
}

// Batch asks about inputs E, which are told apart by their K and answered by R.
type Batch[E any, K comparable, R any] struct {
	Ask   func(context.Context, E) (*R, error)
	Key   func(E) (K, bool) // false for an input that is refused locally
	Judge func(error) Judgement
}

// Over yields a line for each input. It returns why it stopped before their end, and where, and no
// error when they ended or the consumer had enough.
func (b Batch[E, K, R]) Over(ctx context.Context, p Policy, inputs iter.Seq[E], yield func(Line[E, R]) bool) (low int, stopped error) {
	p.Concurrency = min(p.Concurrency, Window)
	ctx, cancel := context.WithCancel(ctx)
	next, stop := iter.Pull(inputs)
	r := &run[E, K, R]{
		Batch: b, ctx: ctx, policy: p, next: next, yield: yield,
		landed:  make(chan *question[E, K, R], p.Concurrency),
		advance: advance{low: p.From, done: map[int]struct{}{}},
	}
	r.known, _ = simplelru.NewLRU[K, *question[E, K, R]](max(1, p.Memory), nil)
	defer stop()
	defer r.flying.Wait()
	defer cancel()
	r.loop()
	return r.low, r.stopped
}
