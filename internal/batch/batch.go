// Package batch asks for many inputs, a few at a time, waits for a service that is away, and says where to go on
// when it stops.
package batch

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	window   = 1000             // positions read at most, from the lowest on that was not delivered
	memory   = 10_000           // inputs among which a duplicate is asked once
	several  = 5                // failures in a row after which the service is waited for ...
	patience = 10 * time.Minute // ... for so long
	tries    = 5                // how often an input is asked before its failure is its own, pauses aside
)

// Policy bounds a batch. All fields are set, and From is 0 or more.
type Policy struct {
	Concurrency int // queries under way and answers waiting to be delivered, together
	From        int // the position to begin at
	MaxFailures int // failures in a row that stop the batch; below 1: none do, and no failure is waited for
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

// Outcome is what the answer to one input means for the others.
type Outcome int

// The outcomes.
const (
	Failed    Outcome = iota // a failure, which may be this input's alone
	Answered                 // the service answered
	Aside                    // it says nothing of the service
	Away                     // a failure: the service is away
	TooFast                  // a failure: the service asks for a pause
	Again                    // it was not asked, since others go first
	Stop                     // all that follow would be answered the same
	StopFirst                // it is Stop, unless the service answered another
)

// Verdict is what a batch makes of an answer.
type Verdict struct {
	Outcome
	Final    bool          // other runs need not ask for it
	Once     bool          // it is never asked again, though it failed
	After    time.Duration // the shortest pause
	Fallback error         // the failure that the answer stands in for: it is delivered all the same
}

// Batch asks for inputs E, and brings answers A.
type Batch[E, A any] struct {
	Ask      func(context.Context, E) (A, error) // called by many goroutines
	Panicked func(panicked any) error            // the error of an Ask that panicked, or ended its goroutine: nil
	Key      func(E) (string, error)             // identifies an input; an error for an invalid one
	Judge    func(A, error) Verdict
	Copy     func(A) A // for a duplicate

	// Done reports whether another run need not ask for a key, which then is skipped. Record gets each line
	// with a key once it was taken, except duplicates. Both are called in the goroutine of the loop, and their error
	// stops the batch. Both may be nil.
	Done   func(key string) (bool, error)
	Record func(key string, answer A, err error, final bool) error
}

// Over yields a line for each input, in no order. It returns where another run goes on, and why it stopped: nil
// if the inputs ended, or yield said that it has enough; otherwise the error of an input, that of Done or Record, or
// that of ctx.
//
// Another run goes on at the lowest position that was not delivered. If the last failures in a row were delivered, and
// may be asked again, it goes on at the first of these.
func (b Batch[E, A]) Over(ctx context.Context, p Policy, inputs iter.Seq[E], yield func(Line[E, A]) bool) (next int, stopped error) {
	p.Concurrency = min(p.Concurrency, window)
	ctx, cancel := context.WithCancel(ctx)
	read, stop := iter.Pull(inputs)
	r := &run[E, A]{
		Batch: b, ctx: ctx, policy: p, next: read, yield: yield,
		answers: make(chan *query[E, A], p.Concurrency),
		low:     p.From, above: map[int]struct{}{}, rowBegan: math.MaxInt,
	}
	r.known, _ = simplelru.NewLRU[string, *query[E, A]](memory, nil) // fails below 1 only
	defer stop()
	defer r.asking.Wait() // also if the consumer panics
	defer cancel()
	r.loop()
	return r.resume(), r.stopped
}
