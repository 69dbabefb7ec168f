// Package quota is the gate that every attempt passes: it never lets more queries leave than are left.
package quota

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Unknown stands for a number that no header gave.
const Unknown = -1

// Headers is the quota as one answer shows it.
type Headers struct {
	Limit     int
	Remaining int
	Reset     time.Time
}

// Outcome is how an attempt ended.
type Outcome struct {
	Written int      // queries that were written
	Status  int      // 0 where no answer came
	Headers *Headers // nil where none came
}

// Spent refuses an attempt that would go into the reserve, or beyond the quota.
type Spent struct {
	Left, Reserve int
	Until         time.Time
}

func (s *Spent) Error() string {
	text := "no queries are left"
	if s.Reserve > 0 {
		text = fmt.Sprintf("%d queries are left, and %d are kept in reserve", s.Left, s.Reserve)
	}
	if !s.Until.IsZero() {
		text += " until " + s.Until.UTC().Format(time.RFC3339)
	}
	return text
}

// ErrStillSpent refuses those who waited for the first attempt of a new day, which was refused.
var ErrStillSpent = errors.New("the quota should be new by now, and the service says that it is still spent")

// Gate refuses the attempts that the headers say cannot be answered (docs/contrato.md, 8), and counts
// what leaves between two headers, so that many goroutines together do not send more than is left.
//
// What the headers say is certain, what was sent since is an estimate: a failure may have been free,
// and the contract documents the headers for lookups only. So a quota that is spent by a header refuses
// until its reset, and one that is spent by the estimate lets one attempt through at a time.
type Gate struct {
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

// Ticket is an attempt's permission: what it must say when it ends.
type Ticket struct {
	silent int // the silent queries before it, which the header of its answer counts
	probe  bool
}

// Enter waits until an attempt may leave that keeps reserve queries, or refuses it.
func (g *Gate) Enter(ctx context.Context, reserve int) (Ticket, error) {
	if g == nil {
		return Ticket{}, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	verdicts := g.verdicts
	for {
		g.endDay(time.Now())
		switch {
		case verdicts != g.verdicts:
			return Ticket{}, ErrStillSpent
		case g.afterEnd && !g.probing:
			g.probing = true
			return g.pass(true), nil
		case g.afterEnd: // wait for the verdict
		case g.reset.IsZero():
			return g.pass(false), nil
		case g.remaining <= reserve:
			return Ticket{}, &Spent{g.remaining, reserve, g.reset}
		case g.remaining-reserve > g.inFlight+g.silent-g.covered, g.inFlight == 0:
			return g.pass(false), nil
		}
		if err := g.wait(ctx); err != nil {
			return Ticket{}, err
		}
	}
}

func (g *Gate) pass(probe bool) Ticket {
	g.inFlight++
	return Ticket{silent: g.silent, probe: probe}
}

// wait returns when something changed. It is called with the lock held, and holds it again on return.
func (g *Gate) wait(ctx context.Context) error {
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

// Leave takes note of how an attempt ended: what was written, and what came back.
func (g *Gate) Leave(t Ticket, o Outcome) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	if r := o.Headers; r != nil && r.Remaining != Unknown {
		g.covered = max(g.covered, t.silent)
		g.merge(r)
	} else {
		g.silent += o.Written
	}
	if t.probe {
		g.probing = false
		switch {
		case o.Status == http.StatusTooManyRequests && g.afterEnd:
			g.verdicts++
		case o.Status != 0 && o.Status < 500:
			g.afterEnd = false
		}
	}
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

// merge believes the lower of two headers of the same day, whichever came first, and the later day.
func (g *Gate) merge(r *Headers) {
	switch {
	case r.Reset.After(g.reset):
		g.reset, g.remaining, g.afterEnd = r.Reset, r.Remaining, false
	case g.reset.IsZero(): // without a reset, nobody knows for how long
	case r.Reset.IsZero(), r.Reset.Equal(g.reset):
		g.remaining = min(g.remaining, r.Remaining)
	}
}

func (g *Gate) endDay(now time.Time) {
	if !g.reset.IsZero() && !now.Before(g.reset) {
		g.afterEnd = g.remaining <= 0
		g.reset = time.Time{}
	}
}
