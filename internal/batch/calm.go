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

// calm makes all queries of a batch wait when the service throttles one of them.
type calm struct {
	mu    sync.Mutex
	until time.Time
}

func (c *calm) hold(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := time.Now().Add(d); until.After(c.until) {
		c.until = until
	}
}

// wait returns when nobody asked for calm, a little later for each, so that they do not go on together.
func (c *calm) wait(ctx context.Context) {
	for {
		c.mu.Lock()
		left := time.Until(c.until)
		c.mu.Unlock()
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

// askCalmly asks again for what was throttled, after a pause for all.
func (b *run[E, K, R]) askCalmly(input E) (*R, error) {
	for try := 1; ; try++ {
		b.calm.wait(b.ctx)
		result, err := b.Ask(b.ctx, input)
		says := b.Judge(err)
		if !says.Slower || try == throttleTries {
			return result, err
		}
		b.calm.hold(max(says.After, throttleBase<<(try-1)))
	}
}
