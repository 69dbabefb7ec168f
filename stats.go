package fiscope

import "sync/atomic"

// Stats is what a Client did since it was made.
type Stats struct {
	Calls    int64             // operations called
	Attempts int64             // attempts made for them
	Retries  int64             // attempts after a call's first
	Sent     int64             // requests that were written to the network, as far as the transport tells: what may have been charged
	Avoided  map[Avoided]int64 // calls that spent no query, by reason
}

// Stats returns the counts so far. Those of calls under way may be in part.
func (c *Client) Stats() Stats {
	l := &c.ledger
	return Stats{
		Calls:    l.calls.Load(),
		Attempts: l.attempts.Load(),
		Retries:  l.retries.Load(),
		Sent:     l.sent.Load(),
		Avoided: map[Avoided]int64{
			AvoidedInvalid:   l.invalid.Load(),
			AvoidedQuota:     l.quota.Load(),
			AvoidedSOL:       l.sol.Load(),
			AvoidedOutOfTime: l.outOfTime.Load(),
			AvoidedCached:    l.cached.Load(),
			AvoidedCoalesced: l.coalesced.Load(),
		},
	}
}

type ledger struct {
	calls, attempts, retries, sent atomic.Int64
	invalid, quota, sol, outOfTime atomic.Int64
	cached, coalesced              atomic.Int64
}

func (l *ledger) attempt(n, written int) {
	l.attempts.Add(1)
	l.sent.Add(int64(written))
	if n > 1 {
		l.retries.Add(1)
	}
}

func (l *ledger) call(avoided Avoided) {
	l.calls.Add(1)
	switch avoided {
	case AvoidedInvalid:
		l.invalid.Add(1)
	case AvoidedQuota:
		l.quota.Add(1)
	case AvoidedSOL:
		l.sol.Add(1)
	case AvoidedOutOfTime:
		l.outOfTime.Add(1)
	case AvoidedCached:
		l.cached.Add(1)
	case AvoidedCoalesced:
		l.coalesced.Add(1)
	}
}
