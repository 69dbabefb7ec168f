// Package flight runs work in a goroutine of its own, apart from the callers that wait for it.
package flight

import (
	"context"
	"fmt"
	"runtime/debug"
)

// Runner starts goroutines.
type Runner struct {
	Go       func(func())                    // starts a goroutine
	Panicked func(text string, stack []byte) // reports a panic of the work
}

// Panic is the error of work that panicked, or called runtime.Goexit.
type Panic struct{ Text string }

func (p *Panic) Error() string { return "the call broke off: " + p.Text }

// Detached runs work in a goroutine of its own, with ctx, and waits for it until ctx ends. It returns what the work
// returns, a *Panic, or ctx.Err(). In the last case late, which may be nil, gets the value of work that succeeds later.
func Detached[V any](ctx context.Context, r Runner, work func(context.Context) (V, error), late func(V)) (V, error) {
	type outcome struct {
		value V
		err   error
	}
	done := make(chan outcome) // unbuffered: either the caller gets the outcome, or late does
	r.Go(func() {
		var o outcome
		r.guard(func() { o.value, o.err = work(ctx) }, func(panicked error) {
			if panicked != nil {
				o.err = panicked
			}
			select {
			case done <- o:
			case <-ctx.Done():
				if o.err == nil && late != nil {
					late(o.value)
				}
			}
		})
	})
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// guard does work and then calls end, with a *Panic if the work did not return.
func (r Runner) guard(work func(), end func(panicked error)) {
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
}
