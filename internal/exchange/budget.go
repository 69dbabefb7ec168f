package exchange

import "sync"

// Budget is a token bucket that keeps retries from multiplying an outage. Its zero value is full.
type Budget struct {
	mu    sync.Mutex
	spent float64
}

const (
	budgetSize   = 10
	budgetEarned = 0.1
)

// Take reports whether a retry may be made, and pays for it.
func (b *Budget) Take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spent > budgetSize-1 {
		return false
	}
	b.spent++
	return true
}

// Earn takes note of a call that succeeded.
func (b *Budget) Earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = max(0, b.spent-budgetEarned)
}
