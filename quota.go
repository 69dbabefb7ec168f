package fiscope

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// WithoutQuotaGate trusts the service alone with the quota: no call is refused or held back for what
// the headers say.
func WithoutQuotaGate() Option {
	return option(func(c *Client) error {
		c.quota = nil
		return nil
	})
}

// QuotaOption is an option of a Client or of one call.
type QuotaOption interface {
	Option
	CallOption
}

// WithQuotaReserve keeps the last n queries of the day for others: for other programs when given to a
// Client, for other calls when given to one, over that of its Client. A call that would use them is
// refused with [ErrQuotaExceeded]; nothing is sent.
func WithQuotaReserve(n int) QuotaOption { return quotaReserve(n) }

type quotaReserve int

func (n quotaReserve) applyToClient(c *Client) error {
	if n < 0 {
		return fmt.Errorf("fiscope: WithQuotaReserve: want 0 or more, got %d", n)
	}
	c.reserve = int(n)
	return nil
}

func (n quotaReserve) applyToCall(s *settings) error {
	if n < 0 {
		return invalid("WithQuotaReserve wants 0 or more: it is %d", n)
	}
	s.reserve = int(n)
	return nil
}

// quotaGate refuses the attempts that the headers say cannot be answered (service.md, 8), and counts
// what leaves between two headers, so that many goroutines together do not send more than is left.
//
// What the headers say is certain, what was sent since is an estimate: a failure may have been free,
// and the contract documents the headers for lookups only. So a quota that is spent by a header refuses
// until its reset, and one that is spent by the estimate lets one attempt through at a time.
type quotaGate struct {
	mu        sync.Mutex
	remaining int       // the lowest header of this quota day; unknown while reset is zero
	reset     time.Time // when this quota day ends
	inFlight  int       // attempts under way
	silent    int       // queries that ended without a header, ever
	covered   int       // of those, how many the remaining of a header already counts
	afterEnd  bool      // a spent day ended: one attempt goes first, to see whether the new one began
	probing   bool      // ... it is under way
	verdicts  int       // how often such an attempt was told that the quota is still spent
	changed   chan struct{}
}

// ticket is an attempt's permission: what it must say when it ends.
type ticket struct {
	silent int // the silent queries before it, which the header of its answer counts
	probe  bool
}

// enter waits until an attempt may leave that keeps reserve queries, or refuses it.
func (g *quotaGate) enter(ctx context.Context, reserve int) (ticket, error) {
	if g == nil {
		return ticket{}, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	verdicts := g.verdicts
	for {
		g.endDay(time.Now())
		switch {
		case verdicts != g.verdicts:
			return ticket{}, &Error{kind: ErrQuotaExceeded, Message: "the quota should be new by now, and the service says that it is still spent"}
		case g.afterEnd && !g.probing:
			g.probing = true
			return g.pass(true), nil
		case g.afterEnd: // wait for the verdict
		case g.reset.IsZero():
			return g.pass(false), nil
		case g.remaining <= reserve:
			return ticket{}, spent(g.remaining, reserve, g.reset)
		case g.remaining-reserve > g.inFlight+g.silent-g.covered, g.inFlight == 0:
			return g.pass(false), nil
		}
		if err := g.wait(ctx); err != nil {
			return ticket{}, err
		}
	}
}

func (g *quotaGate) pass(probe bool) ticket {
	g.inFlight++
	return ticket{silent: g.silent, probe: probe}
}

// wait returns when something changed. It is called with the lock held, and holds it again on return.
func (g *quotaGate) wait(ctx context.Context) error {
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	changed := g.changed
	g.mu.Unlock()
	defer g.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave takes note of how an attempt ended: how many queries were written, and what came back.
func (g *quotaGate) leave(t ticket, written int, a *answer) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	if r := a.rateLimit; r != nil && r.Remaining != NoHeader {
		g.covered = max(g.covered, t.silent)
		g.merge(r)
	} else {
		g.silent += written
	}
	if t.probe {
		g.probing = false
		switch {
		case a.status == http.StatusTooManyRequests && g.afterEnd:
			g.verdicts++
		case a.status != 0 && a.status < 500:
			g.afterEnd = false
		}
	}
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

// merge believes the lower of two headers of the same day, whichever came first, and the later day.
func (g *quotaGate) merge(r *RateLimit) {
	switch {
	case r.Reset.After(g.reset):
		g.reset, g.remaining, g.afterEnd = r.Reset, r.Remaining, false
	case g.reset.IsZero(): // without a reset, nobody knows for how long
	case r.Reset.IsZero(), r.Reset.Equal(g.reset):
		g.remaining = min(g.remaining, r.Remaining)
	}
}

func (g *quotaGate) endDay(now time.Time) {
	if !g.reset.IsZero() && !now.Before(g.reset) {
		g.afterEnd = g.remaining <= 0
		g.reset = time.Time{}
	}
}
