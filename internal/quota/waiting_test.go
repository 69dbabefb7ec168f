package quota_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/quota"
)

// line is attempts that wait one after the other, and what was decided of them.
type line struct {
	g *quota.Gate

	mu      sync.Mutex
	tickets []quota.Ticket
	left    []string // the names of those who left, those that were let go at the same time in any order
	refused []string
}

// add makes an attempt wait, or leave, before the next one comes.
func (l *line) add(ctx context.Context, name string, reserve int) {
	go func() {
		ticket, err := l.g.Enter(ctx, reserve)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil {
			l.refused = append(l.refused, name)
			return
		}
		l.left, l.tickets = append(l.left, name), append(l.tickets, ticket)
	}()
	synctest.Wait()
}

// so returns what was decided so far.
func (l *line) so() (left, refused []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.left), slices.Clone(l.refused)
}

func (l *line) ticket(i int) quota.Ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tickets[i]
}

// leftAre and refusedAre check the names of those of whom something was decided.
func (l *line) leftAre(t *testing.T, want ...string) {
	t.Helper()
	left, _ := l.so()
	assert.ElementsMatch(t, want, left)
}

func (l *line) refusedAre(t *testing.T, want ...string) {
	t.Helper()
	_, refused := l.so()
	assert.ElementsMatch(t, want, refused)
}

// end ends an attempt, and lets all that was decided by it happen.
func (l *line) end(ticket quota.Ticket, o quota.Outcome) {
	l.g.Leave(ticket, o)
	synctest.Wait()
}

func TestTheFirstWhoWaitsLeavesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := line{g: new(quota.Gate)}
		pass(t, l.g, said(1, time.Hour))
		last := enter(t, l.g)
		for _, name := range []string{"a", "b", "c", "d"} {
			l.add(t.Context(), name, 0)
		}
		l.leftAre(t)
		l.end(last, said(3, time.Hour)) // the quota was raised
		l.leftAre(t, "a", "b", "c")
		l.add(t.Context(), "e", 0)
		l.end(l.ticket(0), said(2, time.Hour))
		l.leftAre(t, "a", "b", "c") // two are under way for two that are left
		l.end(l.ticket(1), unsent)
		l.leftAre(t, "a", "b", "c", "d")
		l.end(l.ticket(2), said(0, time.Hour))
		l.refusedAre(t, "e")
	})
}

func TestWhoKeepsLessInReserveDoesNotWaitForWhoKeepsMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := line{g: new(quota.Gate)}
		pass(t, l.g, said(3, time.Hour))
		first, second := enter(t, l.g), enter(t, l.g)
		l.add(t.Context(), "two", 2)
		l.add(t.Context(), "one", 1)
		l.leftAre(t)
		l.add(t.Context(), "none", 0)
		l.leftAre(t, "none")
		l.end(first, said(2, time.Hour))
		l.refusedAre(t, "two")
		l.end(second, unsent)
		l.end(l.ticket(0), unsent)
		l.leftAre(t, "none", "one")
	})
}

func TestOneWhoGivesUpIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := line{g: new(quota.Gate)}
		pass(t, l.g, said(1, time.Hour))
		last := enter(t, l.g)
		ctx, cancel := context.WithCancel(t.Context())
		for name, ctx := range map[string]context.Context{"a": ctx, "b": ctx} {
			l.add(ctx, name, 0)
		}
		l.add(t.Context(), "c", 0)
		cancel()
		synctest.Wait()
		l.refusedAre(t, "a", "b")
		l.end(last, unsent)
		l.leftAre(t, "c")
	})
}

// The others wait for what the one is told who goes to see.
func TestOfThoseWhoWaitOneLooksWhenItIsTime(t *testing.T) {
	for name, test := range map[string]struct {
		verdict       quota.Outcome
		left, refused int // of the others
	}{
		"and opens the day": {answered, 2, 0},
		"and is refused":    {refused, 0, 2},
		"and learns":        {said(2, time.Hour), 2, 0},
		"and is not sent":   {unsent, 1, 0}, // another goes at once
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := line{g: new(quota.Gate)}
				pass(t, l.g, said(0, time.Minute))
				time.Sleep(time.Minute)
				pass(t, l.g, failed)
				for range 3 {
					l.add(t.Context(), "one", 0)
				}
				l.leftAre(t) // one looked this moment
				time.Sleep(time.Second)
				synctest.Wait()
				l.leftAre(t, "one")
				assert.True(t, l.ticket(0).Look)
				time.Sleep(30 * time.Minute)
				synctest.Wait()
				l.leftAre(t, "one")
				l.end(l.ticket(0), test.verdict)
				left, refused := l.so()
				assert.Len(t, left, 1+test.left)
				assert.Len(t, refused, test.refused)
				if len(left)+len(refused) < 3 {
					l.end(l.ticket(1), answered)
				}
				left, refused = l.so()
				assert.Equal(t, 3, len(left)+len(refused))
			})
		})
	}
}

// Who gives up in the moment in which it is decided of him takes what was decided: nobody else would give the
// ticket back.
func TestWhoGivesUpInTheMomentOfTheDecisionLosesNoTicket(t *testing.T) {
	for name, test := range map[string]struct {
		last    quota.Outcome // of the one whom he waits for
		refuses bool
	}{
		"he may leave":  {unsent, false},
		"he is refused": {said(0, time.Hour), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				meanwhile := func() {}
				g := &quota.Gate{Now: func() time.Time { meanwhile(); return time.Now() }}
				pass(t, g, said(1, time.Hour))
				last := enter(t, g)
				entered := make(chan error)
				go func() {
					ticket, err := g.Enter(ctx, 0)
					if err == nil {
						g.Leave(ticket, unsent)
					}
					entered <- err
				}()
				synctest.Wait()
				meanwhile = cancel // the gate asks for the time before it decides
				g.Leave(last, test.last)
				err := <-entered
				if test.refuses {
					require.ErrorAs(t, err, new(*quota.Spent))
					return
				}
				require.NoError(t, err)
				enter(t, g)
			})
		})
	}
}

// Where those who look learn nothing, the others go to look one after the other, at the time of each, though
// nobody else comes or leaves.
func TestThoseWhoWaitLookOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := line{g: new(quota.Gate)}
		pass(t, l.g, said(0, time.Minute))
		time.Sleep(time.Minute)
		first := enter(t, l.g)
		for range 3 {
			l.add(t.Context(), "one", 0)
		}
		l.leftAre(t) // one looks
		l.end(first, failed)
		for n := range 3 {
			left, _ := l.so()
			assert.Len(t, left, n, "it is not time yet")
			time.Sleep(time.Second)
			synctest.Wait()
			left, _ = l.so()
			if assert.Len(t, left, n+1) {
				l.end(l.ticket(n), failed)
			}
		}
	})
}
