package batch

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// How often a batch asks for an input to which the service says "slower", and its shortest pause.
const (
	throttleTries = 5
	throttleBase  = time.Second
)

// pause makes all queries of a batch wait when the service throttles one of them.
type pause struct {
	mu    sync.Mutex
	until time.Time
}

// extend makes the pause last at least d from now on.
func (p *pause) extend(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until = until
	}
}

// wait returns after the pause, a little later for each caller, so that they do not go on together.
func (p *pause) wait(ctx context.Context) {
	for {
		p.mu.Lock()
		left := time.Until(p.until)
		p.mu.Unlock()
		if left <= 0 {
			return
		}
		timer := time.NewTimer(left + rand.N(throttleBase/4))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// ask asks for an input, and again where it was throttled, after a pause of the whole batch, or where others went
// first, unless the batch stops meanwhile.
func (b *run[E, K, A]) ask(input E) (A, error) {
	for try := 1; ; {
		b.pause.wait(b.ctx)
		answer, err := b.Ask(b.ctx, input)
		switch verdict := b.Judge(answer, err); {
		case verdict.Waits && !b.stopping.Load():
		case verdict.Slower && try < throttleTries:
			b.pause.extend(max(verdict.After, throttleBase<<(try-1)))
			try++
		default:
			return answer, err
		}
	}
}
