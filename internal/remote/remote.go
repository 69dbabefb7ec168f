// Package remote asks and tells somebody outside of this process who may hang. A question has its time, and
// its caller is kept by nothing else; after one that hung, the others are not asked for a while, so that not
// every caller pays for it. Who has something to tell waits for nothing, or for a moment where he wants it told
// before he goes on.
package remote

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fiscope/fiscope/internal/broken"
)

// LeftAlone is for how long nobody is asked after a question that hung, or failed late. From then on one
// question at a time goes to see whether it is over.
const LeftAlone = 5 * time.Second

// Moment is for how long [Await] waits: long enough for whoever is near and well.
const Moment = 50 * time.Millisecond

// ErrHangs is why there is no answer: the time of the question was over, or that of an earlier one was, and
// it was not asked.
var ErrHangs = errors.New("it hangs")

// Peer is somebody who is asked and told. The fields are set before the first call.
type Peer struct {
	// Go runs what is asked and told in a goroutine.
	Go func(func())
	// Lost, where it is set, is told of a panic of what was told, or of a question whose caller has left: it is
	// raised nowhere.
	Lost func(*broken.Panic)

	mu      sync.Mutex
	hangs   bool
	next    time.Time                // while it hangs: nobody asks before
	telling map[string]chan struct{} // by what it is about, the last thing that is being told; closed when it is
}

// mayAsk reports whether a question may be asked. While the peer hangs, one in each pause may.
func (p *Peer) mayAsk(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.hangs {
		return true
	}
	if now.Before(p.next) {
		return false
	}
	p.next = now.Add(LeftAlone)
	return true
}

// asked takes note of whether a question hung.
func (p *Peer) asked(hung bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hangs, p.next = hung, time.Now().Add(LeftAlone)
}

// reply is what came of a question.
type reply[A any] struct {
	answer A
	err    error
	off    *broken.Off // how the question was broken off
}

// Ask asks a question, whose context has the values of ctx and ends after patience, and not before. It
// returns the question's answer and error, or that of ctx where it ends first, or ErrHangs. An answer without
// an error for which nobody waited any more goes to late, with a context of the same kind. A question that
// failed after more than a third of patience hung, too: whoever asks next would wait as long.
//
// A panic of the question, with its value and stack (*broken.Panic), and a runtime.Goexit, is its caller's.
func Ask[A any](ctx context.Context, p *Peer, patience time.Duration, question func(context.Context) (A, error), late func(context.Context, A)) (answer A, err error) {
	if err := ctx.Err(); err != nil {
		return answer, err
	}
	if !p.mayAsk(time.Now()) {
		return answer, ErrHangs
	}
	start := time.Now()
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	replies, gone := make(chan reply[A]), make(chan struct{})
	defer close(gone)
	p.Go(func() {
		defer cancel()
		var r reply[A]
		broken.Run(func() { r.answer, r.err = question(limited) }, func(off *broken.Off) {
			r.off = off
			p.asked(limited.Err() != nil || r.err != nil && time.Since(start) > patience/3)
			select {
			case replies <- r:
			case <-gone:
				left(ctx, p, patience, r, late)
			}
		})
	})
	select {
	case r := <-replies:
		r.off.Raise()
		return r.answer, r.err
	case <-limited.Done():
		p.asked(true)
		return answer, ErrHangs
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// left takes a reply for which nobody waited.
func left[A any](ctx context.Context, p *Peer, patience time.Duration, r reply[A], late func(context.Context, A)) {
	switch {
	case r.off != nil:
		p.lost(r.off)
	case r.err == nil && late != nil:
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		p.safely(func() { late(ctx, r.answer) })
	}
}

// Tell tells something, and waits for nothing. The context of what has the values of ctx, and ends after
// patience. What is about the same, unless that is "", is told in the order of the calls: it waits for what
// came before, and is dropped where its time is over then. The channel is closed when it is told, or dropped.
func (p *Peer) Tell(ctx context.Context, about string, patience time.Duration, what func(context.Context)) <-chan struct{} {
	told := make(chan struct{})
	before := p.begin(about, told)
	p.Go(func() {
		defer p.end(about, told)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		select {
		case <-before:
			p.safely(func() { what(ctx) })
		case <-ctx.Done():
		}
	})
	return told
}

// Await waits a [Moment] for something to be told, unless ctx ends.
func Await(ctx context.Context, told <-chan struct{}) {
	timer := time.NewTimer(Moment)
	defer timer.Stop()
	select {
	case <-told:
	case <-ctx.Done():
	case <-timer.C:
	}
}

// begin returns what is closed when it is the turn of what told is about.
func (p *Peer) begin(about string, told chan struct{}) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.telling[about]
	if about != "" {
		if p.telling == nil {
			p.telling = map[string]chan struct{}{}
		}
		p.telling[about] = told
	}
	if before == nil {
		before = make(chan struct{})
		close(before)
	}
	return before
}

func (p *Peer) end(about string, told chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.telling[about] == told {
		delete(p.telling, about)
	}
	close(told)
}

// safely runs f. A panic of it ends here.
func (p *Peer) safely(f func()) { broken.Run(f, p.lost) }

func (p *Peer) lost(off *broken.Off) {
	if off != nil && off.Panic != nil && p.Lost != nil {
		p.Lost(off.Panic)
	}
}
