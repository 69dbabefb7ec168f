// Package batch asks for many inputs, a few at a time, and says where to go on when it stops.
package batch

import (
	"context"
	"iter"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Window is how many positions beyond the lowest that was not delivered are read.
const Window = 1000

// Policy bounds a batch. All fields are set, and From is 0 or more.
type Policy struct {
	Concurrency int // queries under way and answers waiting to be delivered, together, Window at most
	From        int // the position to begin at
	Memory      int // the inputs among which a duplicate is asked once; below 1 for none
	MaxFailures int // failures in a row that stop the batch; below 1 for never
}

// Line is what a batch delivers for one input.
type Line[E, R any] struct {
	Position int // of the input, from 0 on
	Input    E
	Result   *R
	Err      error
	Repeated bool // an earlier input's query answered it
	Next     int  // the lowest position that was not delivered
}

// Verdict is what the answer to one input means for the others.
type Verdict struct {
	Keep   bool          // it serves later duplicates too, and shows that the service works
	Local  bool          // it says nothing of the service
	Stop   bool          // all that follow would be answered the same
	Slower bool          // ask again, after a pause of the whole batch
	After  time.Duration // the shortest pause
}

// Batch asks for inputs E, which are told apart by their K and answered by R.
type Batch[E any, K comparable, R any] struct {
	Ask   func(context.Context, E) (*R, error) // called by many goroutines
	Key   func(E) (K, bool)                    // false for an input without duplicates
	Judge func(error) Verdict                  // nil is an answer, too

	// Pack returns a result in less memory, in which it is kept for duplicates, and Unpack brings it back. Both
	// may be nil: then it is kept as it is.
	Pack   func(*R) string
	Unpack func(string) *R
}

// Over yields a line for each input, in no order. It returns the lowest position that was not delivered,
// and why it stopped there: nil where the inputs ended, or yield said that it has enough; otherwise the error of
// an input, or that of ctx.
//
// What breaks off a query, a panic or runtime.Goexit, breaks off Over, once no goroutine of it is left.
func (b Batch[E, K, R]) Over(ctx context.Context, p Policy, inputs iter.Seq[E], yield func(Line[E, R]) bool) (low int, stopped error) {
	p.Concurrency = min(p.Concurrency, Window)
	ctx, cancel := context.WithCancel(ctx)
	next, stop := iter.Pull(inputs)
	r := &run[E, K, R]{
		Batch: b, ctx: ctx, policy: p, next: next, yield: yield,
		answers:   make(chan *query[E, K, R], p.Concurrency),
		delivered: delivered{low: p.From, above: map[int]struct{}{}},
	}
	r.known, _ = simplelru.NewLRU[K, *known[E, K, R]](max(1, p.Memory), nil) // fails below 1 only
	defer stop()
	defer r.asking.Wait()
	defer cancel()
	r.loop()
	cancel()
	r.asking.Wait()
	r.broken.Load().Raise()
	return r.low, r.stopped
}
