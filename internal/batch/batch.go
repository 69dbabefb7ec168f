// Package batch asks for many inputs, a few at a time, and says where to go on when it stops.
package batch

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Policy bounds a batch. All fields are set, and From is 0 or more.
type Policy struct {
	Concurrency int // queries under way and answers waiting to be delivered, together, Window at most
	From        int // the position to begin at
	Window      int // how many positions from the lowest on that was not delivered are read
	Memory      int // the inputs among which a duplicate is asked once; below 1 for none
	MaxFailures int // failures in a row that stop the batch; below 1 for never
}

// Line is what a batch delivers for one input.
type Line[E, A any] struct {
	Position int // of the input, from 0 on
	Input    E
	Answer   A
	Err      error
	Repeated bool // an earlier input's query answered it
	Next     int  // where another run goes on
}

// Verdict is what the answer to one input means for the others.
type Verdict struct {
	Keep      bool          // it serves later duplicates too
	Record    bool          // other runs need not ask for it
	Works     bool          // the service itself answered, and takes the key
	Local     bool          // it says nothing of the service
	Failure   error         // what an answer stands in for, which counts as a failure all the same; nil for nothing
	Stop      bool          // all that follow would be answered the same
	StopAlone bool          // it is Stop where the service has not answered another
	Waits     bool          // it was not asked, since others go first: ask again
	Slower    bool          // ask again, after a pause of the whole batch
	After     time.Duration // the shortest pause
}

// Batch asks for inputs E, which are told apart by their K, and brings answers A.
type Batch[E any, K comparable, A any] struct {
	Ask   func(context.Context, E) (A, error) // called by many goroutines
	Key   func(E) (K, bool)                   // false for an input without duplicates
	Judge func(A, error) Verdict              // nil is an answer, too

	// Pack keeps an answer in little memory, for duplicates of its input, and Unpack returns a copy for each.
	Pack   func(A) string
	Unpack func(string) A

	// Done reports whether another run need not ask for a key, which then is passed, and Record takes note of that
	// once the line with its answer was taken. Both are called in the goroutine of the loop, and an error stops
	// the batch. Both may be nil.
	Done   func(K) (bool, error)
	Record func(K) error
}

// Over yields a line for each input, in no order. It returns where another run goes on, and why it stopped: nil
// where the inputs ended, or yield said that it has enough; otherwise the error of an input, that of Done or
// Record, or that of ctx.
//
// Another run goes on at the lowest position that was not delivered, or at the lowest failure after which no
// input beyond it was answered, if that is lower: it may be one of those that stop the batch.
//
// What breaks off a query, a panic or runtime.Goexit, breaks off Over, once no goroutine of it is left.
func (b Batch[E, K, A]) Over(ctx context.Context, p Policy, inputs iter.Seq[E], yield func(Line[E, A]) bool) (next int, stopped error) {
	p.Concurrency = min(p.Concurrency, p.Window)
	ctx, cancel := context.WithCancel(ctx)
	read, stop := iter.Pull(inputs)
	r := &run[E, K, A]{
		Batch: b, ctx: ctx, policy: p, next: read, yield: yield,
		questions: make(chan *query[E, K, A], p.Concurrency),
		answers:   make(chan *query[E, K, A], p.Concurrency),
		delivered: delivered{low: p.From, above: map[int]struct{}{}},
	}
	r.known, _ = simplelru.NewLRU[K, known[E, K, A]](max(1, p.Memory), nil) // fails below 1 only
	defer stop()
	end := sync.OnceFunc(func() {
		cancel()
		close(r.questions)
		r.asking.Wait()
	})
	defer end() // also where the consumer panics
	r.loop()
	end()
	r.broken.Load().Raise()
	return r.resume(), r.stopped
}
