package fiscope

import (
	"context"
	"errors"
	"runtime"
)

// outlive makes a call that goes on when its caller leaves, while its request may have reached the service:
// what comes of it must be learned, or the next call would be one more refusal. A caller who leaves gets a
// call of his own, since the one that goes on still changes.
func outlive[T any](c *call, follow func() (T, error)) (result T, _ *call, err error) {
	var home struct {
		result   T
		err      error
		whole    bool // follow returned
		panicked any
	}
	done := make(chan struct{})
	c.background.start(func() {
		defer close(done)
		defer func() {
			if !home.whole {
				home.panicked = recover() // it is the caller's; nobody is there to see it once he left
			}
		}()
		home.result, home.err = follow()
		home.whole = true
	})
	defer c.turn.abandon() // also when this goroutine ends here
	select {
	case <-done:
	case <-c.ctx.Done():
		if attempts, goesOn := c.turn.abandon(); goesOn && !ended(done) {
			return result, c.unanswered(attempts), abandonedBecause(c.ctx)
		}
		<-done // it waits for nothing without the context: it was not sent, ends with its caller, or is answered
	}
	switch {
	case home.panicked != nil:
		panic(home.panicked)
	case !home.whole:
		runtime.Goexit()
	}
	return home.result, c, home.err
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// abandonedBecause returns the end of a context, and its cause where that says more.
func abandonedBecause(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(err, cause) {
		err = errors.Join(err, cause)
	}
	return err
}
