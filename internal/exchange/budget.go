package exchange

import "sync"

// Budget is a token bucket that keeps retries from multiplying an outage. Its zero value is full.
type Budget struct {
	mu    sync.Mutex
	spent int // tenths of a retry
}

const (
	budgetSize = 100 // tenths of a retry
	oneRetry   = 10
	oneSuccess = 1
)

// Take reports whether a retry may be made, and takes it.
func (b *Budget) Take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spent+oneRetry > budgetSize {
		return false
	}
	b.spent += oneRetry
	return true
}

// GiveBack returns a retry that was taken and then not made.
func (b *Budget) GiveBack() { b.refill(oneRetry) }

// Earn takes note of a call that succeeded. A full budget stays full.
func (b *Budget) Earn() { b.refill(oneSuccess) }

func (b *Budget) refill(tenths int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = max(0, b.spent-tenths)
}
