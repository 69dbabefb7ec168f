// Package quota is the gate that every attempt passes: it keeps back what cannot be answered
// (docs/contrato.md, 8). It goes by these rules:
//
//   - What a header says is certain until its reset, or until another header of the same day says less.
//     An attempt that began after it was read knows better, and is believed upwards too.
//   - Resets within an hour of each other are of the same day: some services compute them anew each time.
//   - A header of a day that is over, and one whose attempt began on an earlier day, say nothing.
//   - What was answered without a header since the last one counts as used. What is under way, and what
//     failed, may have been free: it is an estimate.
//   - A reserve refuses as soon as no more than it is left. An estimate refuses nobody: while it says that
//     nothing is left, attempts leave one at a time.
//   - While a header says that nothing is left, one attempt leaves now and then to look whether it is still
//     so: every 15 to 60 minutes before the reset, every second to every 5 minutes after it. Before the
//     reset only a header or what the service itself serves says so.
package quota

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Answer is what an attempt brought, as far as the quota goes.
type Answer int

// The answers.
const (
	Unanswered Answer = iota // nothing that tells whether it used a query: no answer, a failure, "slower"
	Answered                 // what uses a query, for all that is known
	Served                   // what only the service itself answers, and not without a query
	Refused                  // that the quota is spent
)

// Outcome is how an attempt ended.
type Outcome struct {
	Written int // queries that were written
	Answer  Answer
	Headers *Headers // nil where none came
}

// ErrAway refuses an attempt because nobody can say whether a query is left for it.
var ErrAway = errors.New("the Store cannot say whether a query is left: try again later, and see to its server if that goes on")

// Spent refuses an attempt that would go into the reserve, or beyond the quota.
type Spent struct {
	Left, Reserve int
	Until         time.Time
	Overdue       bool // the quota should be new by now, and is not
}

func (s *Spent) Error() string {
	text := "no queries are left"
	switch {
	case s.Overdue:
		text = "the quota should be new by now, and the service says that it is still spent: none is asked"
	case s.Reserve > 0:
		text = fmt.Sprintf("%d queries are left, and %d are kept in reserve", s.Left, s.Reserve)
	}
	if !s.Until.IsZero() {
		text += " until " + s.Until.UTC().Format(time.RFC3339)
	}
	return text
}

// phase is what is known of the present day.
type phase int

const (
	unknown phase = iota // nothing
	known                // what its headers say
	overdue              // it has not begun: the day before, which is spent, should be over by our clock
)

// Gate lets attempts pass, and counts what leaves between two headers, so that many goroutines together
// do not send more than is left. Its zero value knows nothing and lets all pass; a nil Gate always does.
type Gate struct {
	// Now is the clock by which days end; nil for time.Now. All waits are in real time.
	Now func() time.Time

	mu        sync.Mutex
	phase     phase
	remaining int       // as the headers say; 0 while overdue
	reset     time.Time // when the known day ends; later, when it ended
	news      int       // how often what is known changed
	since     int       // the news with which what is known began anew: attempts from before it know nothing
	inFlight  int       // attempts under way
	silent    tally     // queries that ended without a header, ever
	covered   tally     // those of them that remaining counts already
	told      time.Time // when remaining was, by the clock of the days
	look      look
	changed   chan struct{}
}

// tally counts queries.
type tally struct{ answered, failed int }

// Ticket is an attempt's permission: what it must say when it ends.
type Ticket struct {
	Look   bool  // it leaves although no query is left, to see whether that is still so
	news   int   // what was known when it left
	silent tally // the silent queries before it, which the header of its answer counts
}

// Enter waits until an attempt may leave that keeps reserve queries, or refuses it with a [Spent]. An
// attempt that entered must [Gate.Leave].
func (g *Gate) Enter(ctx context.Context, reserve int) (Ticket, error) {
	if g == nil {
		return Ticket{}, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		now := g.now()
		g.endDay(now)
		left := g.remaining - (g.silent.answered - g.covered.answered)
		unsure := g.inFlight + g.silent.failed - g.covered.failed
		switch {
		case g.phase == unknown:
			return g.pass(false), nil
		case g.remaining == 0 && g.look.due(now.real):
			g.look.begin(now, g.phase)
			return g.pass(true), nil
		case g.phase == overdue && g.look.refused && !g.look.underWay:
			return Ticket{}, &Spent{Until: now.day.Add(g.look.next.Sub(now.real)), Overdue: true}
		case g.phase == overdue: // wait for what the one that looks is told
		case g.remaining == 0, reserve > 0 && left <= reserve:
			return Ticket{}, &Spent{Left: max(0, left), Reserve: reserve, Until: g.reset}
		case left-unsure > reserve, g.inFlight == 0:
			return g.pass(false), nil
		}
		if err := g.wait(ctx); err != nil {
			return Ticket{}, err
		}
	}
}

func (g *Gate) pass(look bool) Ticket {
	g.inFlight++
	return Ticket{news: g.news, silent: g.silent, Look: look}
}

// wait returns when something changed, or an attempt may leave to look. It is called with the lock held,
// and holds it again on return.
func (g *Gate) wait(ctx context.Context) error {
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	changed := g.changed
	var due <-chan time.Time
	if g.phase == overdue && !g.look.underWay {
		timer := time.NewTimer(time.Until(g.look.next))
		defer timer.Stop()
		due = timer.C
	}
	g.mu.Unlock()
	defer g.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-due:
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
	now := g.now()
	g.endDay(now)
	g.inFlight--
	heard := g.learn(t, o.Headers, now)
	switch {
	case !o.Headers.silent(): // some header counts it, if not this one
	case o.Answer == Answered, o.Answer == Served:
		g.silent.answered += o.Written
	default:
		g.silent.failed += o.Written
	}
	if t.Look {
		g.looked(t, o, heard, now)
	} else if o.Answer == Refused && o.Written > 0 {
		g.refused(t, now)
	}
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}
