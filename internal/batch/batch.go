// Package batch asks for many inputs, a few at a time. It waits while the service is away, and says where to resume
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
	window   = 1000             // positions read at most, from the lowest undelivered one on
	memory   = 10_000           // inputs remembered: a duplicate of one costs no query
	several  = 5                // consecutive failures after which the batch pauses ...
	patience = 10 * time.Minute // ... for this long at most
	tries    = 5                // failures of an input, not counting probes, after which it is delivered. TooFast counts only if it was alone
	few      = 8                // inputs left at the end of all that are delivered after two minutes without an answer
)

// Policy bounds a batch. All fields are set, and From is 0 or more.
type Policy struct {
	Concurrency int // queries under way plus answers waiting to be delivered
	From        int // the position to begin at
	MaxFailures int // consecutive failures that stop the batch; below 1, none do, and only TooFast pauses the batch
}

// Line is what a batch delivers for one input.
type Line[E, A any] struct {
	Position int // of the input, from 0 on
	Input    E
	Answer   A
	Err      error
	Repeated bool // an earlier input's query answered it
	Next     int  // where another run resumes
}

// Outcome is what the answer to one input means for the others.
type Outcome int

// The outcomes.
const (
	Failed    Outcome = iota // a failure, perhaps of this input alone
	Answered                 // the service answered
	Aside                    // it says nothing about the service
	Away                     // a failure: the service is away
	TooFast                  // a failure: the service asks for a pause
	Again                    // it was not asked, because others go first
	Stop                     // every later input would get the same answer
	StopFirst                // Stop, unless the service has answered another input
)

// Verdict says what an answer means for the batch.
type Verdict struct {
	Outcome
	Final    bool          // other runs need not ask for it
	Once     bool          // it is never asked again, though it failed
	After    time.Duration // the shortest pause
	Pause    time.Duration // the pause before the next probe, instead of the batch's own; 0 for none
	Fallback error         // the failure behind a fallback's answer, which is delivered all the same
}

// Batch asks for inputs E and delivers answers A.
type Batch[E, A any] struct {
	Ask      func(context.Context, E) (A, error) // called by many goroutines
	Panicked func(panicked any) error            // the error of an Ask that panicked; panicked is nil if it ended its goroutine
	Key      func(E) (string, error)             // identifies an input; an error for an invalid one
	Judge    func(A, error) Verdict
	Copy     func(A) A // for a duplicate

	// Done reports whether a key is done and can be skipped. Record gets each line with a key once it was taken, except
	// duplicates. Both are called in the goroutine of the loop, and an error stops the batch. Both may be nil.
	Done   func(key string) (bool, error)
	Record func(key string, answer A, err error, final bool) error
}

// Over yields a line for each input, in no particular order. It returns where another run resumes, and why it stopped:
// nil if the inputs ended or yield returned false; otherwise the error of an input, of Done or Record, or of ctx.
//
// Another run resumes at the lowest undelivered position. If the last consecutive failures were delivered, and may be
// asked again, it resumes at the first of these.
func (b Batch[E, A]) Over(ctx context.Context, p Policy, inputs iter.Seq[E], yield func(Line[E, A]) bool) (next int, stopped error) {
	p.Concurrency = min(p.Concurrency, window)
	ctx, cancel := context.WithCancel(ctx)
	read, stop := iter.Pull(inputs)
	r := &run[E, A]{
		Batch: b, ctx: ctx, policy: p, next: read, yield: yield,
		answers: make(chan *query[E, A], p.Concurrency),
		low:     p.From, above: map[int]bool{}, failedFrom: math.MaxInt,
	}
	r.known, _ = simplelru.NewLRU[string, *query[E, A]](memory, nil) // fails only for sizes below 1
	defer stop()
	defer r.asking.Wait() // even if the consumer panics
	defer cancel()
	r.loop()
	return r.resume(), r.stopped
}

// canRead reports whether the window has room for another input.
func (b *run[E, A]) canRead() bool { return !b.ended && b.position-b.low < window }

// markDone marks a position as delivered or skipped.
func (b *run[E, A]) markDone(position int) {
	b.above[position] = true
	for ; b.above[b.low]; b.low++ {
		delete(b.above, b.low)
	}
}

// resume returns where another run resumes.
func (b *run[E, A]) resume() int { return min(b.low, b.failedFrom) }
