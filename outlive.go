package fiscope

import (
	"sync/atomic"

	"github.com/fiscope/fiscope/internal/broken"
)

// outlive makes a call that goes on when its caller leaves, while its request may have reached the service:
// what comes of it must be learned, or the next call would be one more refusal. A caller who leaves gets a
// call of his own, since the one that goes on still changes.
func outlive(c *call, follow func() error) (*call, error) {
	var home struct {
		err error
		off *broken.Off // how it was broken off, which is the caller's
	}
	var parted atomic.Bool // it has ended, or its caller has left: whichever came first
	done := make(chan struct{})
	c.background.start(func() {
		defer close(done)
		broken.Run(func() { home.err = follow() }, func(off *broken.Off) {
			home.off = off
			if left := !parted.CompareAndSwap(false, true); left && off != nil && off.Panic != nil {
				c.lostCall(off.Panic)
			}
		})
	})
	select {
	case <-done:
	case <-c.ctx.Done():
		if attempts, goesOn := c.turn.abandon(); goesOn && parted.CompareAndSwap(false, true) {
			return c.unanswered(attempts), c.ctx.Err()
		}
		<-done // it waits for nothing without the context: it was not sent, ends with its caller, or is answered
	}
	home.off.Raise()
	return c, home.err
}

// lostCall tells of a panic that is raised nowhere, since the caller in whose call it came has left.
func (s *sender) lostCall(p *broken.Panic) {
	s.lost("fiscope: a call panicked whose caller had left", p)
}
