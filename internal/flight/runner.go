// Package flight runs work in goroutines of its own, apart from the callers that wait for it.
package flight

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
)

// Runner runs goroutines that may outlive the call that began them. Panicked is set before the first.
type Runner struct {
	Panicked func(text string, stack []byte) // reports a panic

	mu      sync.Mutex
	running map[chan struct{}]struct{} // each is closed when its goroutine ends
}

// Panic is the error of work that panicked, or called runtime.Goexit.
type Panic struct{ Text string }

func (p *Panic) Error() string { return "the call broke off: " + p.Text }

// Go runs work in a goroutine. A panic is reported and recovered.
func (r *Runner) Go(work func()) { r.run(work, func(error) {}) }

// run runs work and then end in a goroutine. end gets a *Panic if the work did not return.
func (r *Runner) run(work func(), end func(panicked error)) {
	done := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == nil {
		r.running = map[chan struct{}]struct{}{}
	}
	r.running[done] = struct{}{}
	go func() {
		defer func() {
			if value := recover(); value != nil { // in end
				r.Panicked(fmt.Sprint(value), debug.Stack())
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.running, done)
			close(done)
		}()
		broken := true // until the work returns
		defer func() {
			var err error
			if value := recover(); broken {
				err = &Panic{"runtime.Goexit was called"}
				if value != nil {
					err = &Panic{fmt.Sprint(value)}
					r.Panicked(fmt.Sprint(value), debug.Stack())
				}
			}
			end(err)
		}()
		work()
		broken = false
	}()
}

// Wait waits for the goroutines that run now, and then for those that they began meanwhile. If ctx ends first, Wait
// returns its cause.
func (r *Runner) Wait(ctx context.Context) error {
	for range 2 {
		r.mu.Lock()
		running := maps.Clone(r.running)
		r.mu.Unlock()
		for done := range running {
			select {
			case <-done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}
