package roundtrip

import "sync"

// Budget keeps retries from multiplying an outage. Its zero value is full.
type Budget struct {
	mu     sync.Mutex
	spent  int  // tenths of a retry
	failed bool // the last call failed
}

// Tenths of a retry.
const (
	budgetSize = 100
	oneRetry   = 10
	oneSuccess = 1
)

// Take reports whether a retry may be made. The first failure after a success is always retried; consecutive failures
// draw on the budget.
func (b *Budget) Take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.failed:
		b.failed = true
	case b.spent+oneRetry > budgetSize:
		return false
	default:
		b.spent += oneRetry
	}
	return true
}

// Earn records a call that succeeded: it earns a tenth of a retry.
func (b *Budget) Earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed, b.spent = false, max(0, b.spent-oneSuccess)
}
