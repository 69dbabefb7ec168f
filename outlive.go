package fiscope

import (
	"runtime"
	"sync/atomic"

	"github.com/fiscope/fiscope/internal/coalesce"
)

// outlive makes a call that goes on when its caller leaves, while its request may have reached the service:
// what comes of it must be learned, or the next call would be one more refusal. A caller who leaves gets a
// call of his own, since the one that goes on still changes.
func outlive(c *call, follow func() error) (*call, error) {
	var home struct {
		err      error
		whole    bool // follow returned
		panicked *coalesce.Panic
	}
	var parted atomic.Bool // it has ended, or its caller has left: whichever came first
	done := make(chan struct{})
	c.background.start(func() {
		defer close(done)
		defer func() {
			if !home.whole {
				home.panicked = coalesce.Caught(recover()) // it is the caller's
			}
			if left := !parted.CompareAndSwap(false, true); left && home.panicked != nil {
				c.lostCall(home.panicked)
			}
		}()
		home.err = follow()
		home.whole = true
	})
	defer c.turn.abandon() // also when this goroutine ends here
	select {
	case <-done:
	case <-c.ctx.Done():
		if attempts, goesOn := c.turn.abandon(); goesOn && parted.CompareAndSwap(false, true) {
			return c.unanswered(attempts), c.ctx.Err()
		}
		<-done // it waits for nothing without the context: it was not sent, ends with its caller, or is answered
	}
	switch {
	case home.panicked != nil:
		panic(home.panicked)
	case !home.whole:
		runtime.Goexit()
	}
	return c, home.err
}

// lostCall tells of a panic that is raised nowhere, since the caller in whose call it came has left.
func (s *sender) lostCall(p *coalesce.Panic) {
	s.lost("fiscope: a call panicked whose caller had left", p.Value, p.Stack)
}
