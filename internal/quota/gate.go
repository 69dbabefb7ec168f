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
	waiting   waiting
	alarm     time.Time // when those who wait are looked after the next time, besides at every change
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
	d, place := g.ask(reserve)
	if place != nil {
		select {
		case d = <-place.told:
		case <-ctx.Done():
			var decided bool
			if d, decided = g.giveUp(place); !decided {
				return Ticket{}, ctx.Err()
			}
		}
	}
	return d.ticket, d.refusal
}

// ask returns what is decided of an attempt now, or where it waits.
func (g *Gate) ask(reserve int) (decision, *place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	g.release(now)
	if g.waiting[reserve] == nil {
		if d, decided := g.decide(reserve, now); decided {
			return d, nil
		}
	}
	if g.waiting == nil {
		g.waiting = waiting{}
	}
	place := g.waiting.join(reserve)
	g.setAlarm(now)
	return decision{}, place
}

// giveUp is the end of an attempt that waits, unless it was decided about meanwhile.
func (g *Gate) giveUp(p *place) (d decision, decided bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting.leave(p)
}

// decide says whether an attempt that keeps reserve queries may leave now. Where it is not decided, the attempt
// has to wait.
func (g *Gate) decide(reserve int, now moment) (d decision, decided bool) {
	left := g.remaining - (g.silent.answered - g.covered.answered)
	unsure := g.inFlight + g.silent.failed - g.covered.failed
	switch {
	case g.phase == unknown:
		return g.pass(false), true
	case g.remaining == 0 && g.look.due(now.real):
		g.look.begin(now, g.phase)
		return g.pass(true), true
	case g.phase == overdue && g.look.refused && !g.look.underWay:
		return decision{refusal: &Spent{Until: now.day.Add(g.look.next.Sub(now.real)), Overdue: true}}, true
	case g.phase == overdue: // wait for what the one that looks is told
	case g.remaining == 0, reserve > 0 && left <= reserve:
		return decision{refusal: &Spent{Left: max(0, left), Reserve: reserve, Until: g.reset}}, true
	case left-unsure > reserve, g.inFlight == 0:
		return g.pass(false), true
	}
	return decision{}, false
}

func (g *Gate) pass(look bool) decision {
	g.inFlight++
	return decision{ticket: Ticket{news: g.news, silent: g.silent, Look: look}}
}

// release tells those who wait what is decided of them by now.
func (g *Gate) release(now moment) {
	g.endDay(now)
	if len(g.waiting) == 0 {
		return
	}
	g.waiting.tell(func(reserve int) (decision, bool) { return g.decide(reserve, now) })
	g.setAlarm(now)
}

// setAlarm makes sure that one of those who wait leaves to look once it may.
func (g *Gate) setAlarm(now moment) {
	if len(g.waiting) == 0 || g.phase != overdue || g.look.underWay || g.alarm.Equal(g.look.next) {
		return
	}
	g.alarm = g.look.next
	time.AfterFunc(g.alarm.Sub(now.real), func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.release(g.now())
	})
}

// Leave takes note of how an attempt ended: what was written, and what came back.
func (g *Gate) Leave(t Ticket, o Outcome) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight-- // first: whatever the clock does, nothing stays taken
	now := g.now()
	g.endDay(now)
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
	g.release(now)
}
