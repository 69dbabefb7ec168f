package quota_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/quota"
)

// said is an answer whose headers tell what is left, and when the day ends, counted from midnight.
func said(left int, end time.Duration) quota.Outcome {
	return quota.Outcome{Written: 1, Answer: quota.Answered, Headers: &quota.Headers{Remaining: left, Reset: midnight.Add(end)}}
}

var (
	answered = quota.Outcome{Written: 1, Answer: quota.Answered}
	served   = quota.Outcome{Written: 1, Answer: quota.Served}
	failed   = quota.Outcome{Written: 1}
	unsent   = quota.Outcome{}
	held     = quota.Outcome{Answer: quota.Refused} // by a store
	refused  = quota.Outcome{Written: 1, Answer: quota.Refused}
)

// enter takes a ticket that must be had at once.
func enter(t *testing.T, g *quota.Gate) quota.Ticket {
	t.Helper()
	start := time.Now()
	ticket, err := g.Enter(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, start, time.Now(), "it did not wait")
	return ticket
}

func pass(t *testing.T, g *quota.Gate, o quota.Outcome) {
	t.Helper()
	g.Leave(enter(t, g), o)
}

func refuses(t *testing.T, g *quota.Gate, reserve int) *quota.Spent {
	t.Helper()
	_, err := g.Enter(t.Context(), reserve)
	var spent *quota.Spent
	require.ErrorAs(t, err, &spent)
	return spent
}

func TestANilGateLetsAllPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *quota.Gate
		for range 3 {
			pass(t, g, said(0, time.Hour))
		}
	})
}

func TestARefusalSaysWhatIsLeftAndUntilWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(quota.Gate)
		pass(t, g, said(7, time.Hour))
		pass(t, g, answered)
		end := midnight.Add(time.Hour)
		assert.Empty(t, cmp.Diff(&quota.Spent{Left: 6, Reserve: 6, Until: end}, refuses(t, g, 6)))
		assert.EqualError(t, refuses(t, g, 9), "6 queries are left, and 9 are kept in reserve until 2000-01-01T01:00:00Z")
		pass(t, g, said(0, time.Hour))
		assert.EqualError(t, refuses(t, g, 0), "no queries are left until 2000-01-01T01:00:00Z")
		time.Sleep(time.Hour)
		pass(t, g, refused)
		assert.Empty(t, cmp.Diff(&quota.Spent{Until: end.Add(time.Second), Overdue: true}, refuses(t, g, 0)))
	})
}

func TestWhatIsUnderWayCounts(t *testing.T) {
	for name, test := range map[string]struct {
		outcome quota.Outcome // of the last that is left
		next    bool          // another may leave then
	}{
		"it was answered with a header":    {said(0, time.Hour), false},
		"it was answered without":          {answered, true}, // an estimate refuses nobody
		"it failed":                        {failed, true},
		"it was not sent":                  {unsent, true},
		"its header is of another day":     {said(0, -time.Hour), true},
		"a store refused it":               {held, true},
		"its header tells of no remaining": {quota.Outcome{Written: 1, Headers: &quota.Headers{Remaining: quota.Unknown}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := new(quota.Gate)
				pass(t, g, said(1, time.Hour))
				last := enter(t, g)
				entered := make(chan error)
				go func() {
					_, err := g.Enter(t.Context(), 0)
					entered <- err
				}()
				synctest.Wait()
				select {
				case <-entered:
					t.Fatal("one query is left, and two leave")
				default:
				}
				g.Leave(last, test.outcome)
				if err := <-entered; test.next {
					require.NoError(t, err)
				} else {
					require.Error(t, err)
				}
			})
		})
	}
}

func TestOneThatWaitsCanLeave(t *testing.T) {
	for name, o := range map[string]quota.Outcome{"for the last query": said(1, time.Hour), "for the one that looks": said(0, time.Nanosecond)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := new(quota.Gate)
				pass(t, g, o)
				time.Sleep(time.Nanosecond)
				last := enter(t, g)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := g.Enter(ctx, 0)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				g.Leave(last, answered)
				pass(t, g, answered)
			})
		})
	}
}

// waits reports that an attempt has to wait.
func waits(t *testing.T, g *quota.Gate) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := g.Enter(ctx, 0)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestOneLooksAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(quota.Gate)
		pass(t, g, said(0, 20*time.Minute))
		time.Sleep(15 * time.Minute)
		early := enter(t, g)
		time.Sleep(5 * time.Minute) // the day ends
		late := enter(t, g)
		time.Sleep(10 * time.Second)
		waits(t, g)
		g.Leave(early, refused) // by the old day
		waits(t, g)
		g.Leave(late, answered)
		pass(t, g, answered)
	})
}

func TestALookThatFailsRefusesNobodyAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(quota.Gate)
		pass(t, g, said(0, time.Minute))
		time.Sleep(time.Minute)
		pass(t, g, refused)
		refuses(t, g, 0)
		time.Sleep(time.Second)
		pass(t, g, failed)
		waits(t, g)
	})
}

func TestADayThatEndedWithSomeLeft(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration
		o     quota.Outcome
		opens bool
	}{
		"the service refuses":            {time.Minute, refused, false},
		"it refuses long after":          {61 * time.Minute, refused, true},
		"a store refuses":                {time.Minute, held, true},
		"the service answers":            {time.Minute, answered, true},
		"it still shows the old day":     {time.Minute, said(0, time.Hour), true},
		"it does, and refuses":           {time.Minute, quota.Outcome{Written: 1, Answer: quota.Refused, Headers: &quota.Headers{Reset: midnight.Add(time.Hour)}}, false},
		"it says no more than \"spent\"": {time.Minute, quota.Outcome{Written: 1, Answer: quota.Refused, Headers: &quota.Headers{}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := new(quota.Gate)
				pass(t, g, said(9, time.Hour))
				old := enter(t, g)
				time.Sleep(time.Hour + test.after)
				g.Leave(old, refused) // by the old day
				pass(t, g, test.o)
				if test.opens {
					enter(t, g)
					enter(t, g)
				} else {
					assert.True(t, refuses(t, g, 0).Overdue)
				}
			})
		})
	}
}

func TestALateHeaderAfterARaisedQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(quota.Gate)
		pass(t, g, said(3, time.Hour))
		late, silent := enter(t, g), enter(t, g)
		pass(t, g, said(500, time.Hour))
		g.Leave(late, said(0, time.Hour)) // of before
		assert.Equal(t, 500, refuses(t, g, 500).Left)
		g.Leave(silent, answered) // of before or after: nobody knows
		assert.Equal(t, 499, refuses(t, g, 499).Left)
	})
}

func TestAHeaderCountsWhatEndedBeforeItsAttemptBegan(t *testing.T) {
	for name, before := range map[string]*quota.Outcome{"the first of the day": nil, "a later one": ptr(said(9, time.Hour)), "a raised one": ptr(said(5, time.Hour))} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := new(quota.Gate)
				if before != nil {
					pass(t, g, *before)
				}
				pass(t, g, answered)
				slow := enter(t, g)
				pass(t, g, answered)
				g.Leave(slow, said(6, time.Hour))
				assert.Equal(t, 5, refuses(t, g, 5).Left, "less the one that ended since")
			})
		})
	}
}

func ptr(o quota.Outcome) *quota.Outcome { return &o }

func TestTheDayEndsWithTheLatestOfItsResets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(quota.Gate)
		for i, minutes := range []int{120, 119, 150, 140} {
			pass(t, g, said(9-i, time.Duration(minutes)*time.Minute))
		}
		assert.Equal(t, midnight.Add(150*time.Minute), refuses(t, g, 6).Until)
	})
}

func TestALateHeaderAfterOneWasFoundWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(quota.Gate)
		pass(t, g, said(3, time.Hour))
		late := enter(t, g)
		pass(t, g, said(0, time.Hour))
		time.Sleep(15 * time.Minute)
		pass(t, g, served)
		g.Leave(late, said(0, time.Hour))
		enter(t, g)
	})
}

func TestARefusalClosesADayThatALookOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(quota.Gate)
		pass(t, g, said(0, 20*time.Hour))
		time.Sleep(15 * time.Minute)
		pass(t, g, served)
		late := enter(t, g)
		pass(t, g, failed)
		pass(t, g, refused)
		assert.Equal(t, midnight.Add(20*time.Hour), refuses(t, g, 0).Until)
		g.Leave(late, answered)
		time.Sleep(15*time.Minute - time.Nanosecond)
		refuses(t, g, 0)
		time.Sleep(time.Nanosecond)
		enter(t, g)
	})
}

// An odd header names a day that is longer than the real one.
func TestALaterAttemptCorrectsTheReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(quota.Gate)
		pass(t, g, said(3, 40*time.Hour))
		pass(t, g, said(2, 5*time.Hour))
		assert.Equal(t, midnight.Add(5*time.Hour), refuses(t, g, 2).Until)
	})
}

func TestLooks(t *testing.T) {
	const minute = time.Minute
	past := quota.Outcome{Written: 1, Answer: quota.Refused, Headers: &quota.Headers{Reset: midnight.Add(10 * minute)}}
	for name, test := range map[string]struct {
		end, at time.Duration // of the day, and when one may look, from midnight
		look    quota.Outcome
		opens   bool
		next    time.Duration // since the look: when another may, where it opens nothing
	}{
		"refused":                    {600 * minute, 15 * minute, refused, false, 30 * minute},
		"refused, with a header":     {600 * minute, 15 * minute, said(0, 600*minute), false, 30 * minute},
		"the last one was answered":  {600 * minute, 15 * minute, said(0, 615*minute), false, 30 * minute},
		"failed":                     {600 * minute, 15 * minute, failed, false, 15 * minute},
		"a store refused it":         {600 * minute, 15 * minute, held, false, 30 * minute},
		"not sent":                   {600 * minute, 15 * minute, unsent, false, time.Second},
		"served":                     {600 * minute, 15 * minute, served, true, 0},
		"answered by who knows whom": {600 * minute, 15 * minute, answered, false, 15 * minute},
		"answered, with some left":   {600 * minute, 15 * minute, said(9, 600*minute), true, 0},
		"overdue, refused":           {10 * minute, 10 * minute, refused, false, time.Second},
		"overdue, a past header":     {10 * minute, 10 * minute, past, false, time.Second},
		"overdue, failed":            {10 * minute, 10 * minute, failed, false, time.Second},
		"overdue, a store refused":   {10 * minute, 10 * minute, held, false, time.Second},
		"overdue, not sent":          {10 * minute, 10 * minute, unsent, false, 0},
		"overdue, answered":          {10 * minute, 10 * minute, answered, true, 0},
		"overdue, the next is spent": {10 * minute, 10 * minute, said(0, 1450*minute), false, 15 * minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := new(quota.Gate)
				pass(t, g, said(0, test.end))
				time.Sleep(test.at - time.Nanosecond)
				assert.Equal(t, midnight.Add(test.end), refuses(t, g, 0).Until.UTC())
				time.Sleep(time.Nanosecond)
				pass(t, g, test.look)
				if test.opens {
					enter(t, g)
					enter(t, g)
					return
				}
				if test.next > 0 {
					time.Sleep(test.next - time.Nanosecond)
					ctx, cancel := context.WithTimeout(t.Context(), 0)
					defer cancel()
					_, err := g.Enter(ctx, 0)
					require.Error(t, err)
					time.Sleep(time.Nanosecond)
				}
				enter(t, g)
			})
		})
	}
}
