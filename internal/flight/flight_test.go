package flight_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/flight"
)

func newGroup() *flight.Group[string, *int] {
	return &flight.Group[string, *int]{Runner: &flight.Runner{Panicked: func(string, []byte) {}}}
}

// sets is work that takes a second, unless its context ends, and then sets the value.
func sets(value int) func() (*int, func(context.Context)) {
	return func() (*int, func(context.Context)) {
		v := new(int)
		return v, func(ctx context.Context) {
			select {
			case <-time.After(time.Second):
				*v = value
			case <-ctx.Done():
			}
		}
	}
}

func TestCallersOfAKeyShareAFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup()
		var joining atomic.Int64
		var wg sync.WaitGroup
		start := time.Now()
		for i := range 10 {
			wg.Go(func() {
				v, joined, abandoned, err := g.Join(t.Context(), []string{"a", "b"}[i%2], sets(1+i%2))
				assert.NoError(t, err)
				assert.False(t, abandoned)
				assert.Equal(t, 1+i%2, *v)
				if joined {
					joining.Add(1)
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 8, joining.Load())
		assert.Equal(t, time.Second, time.Since(start))
		var work context.Context
		_, joined, _, _ := g.Join(t.Context(), "a", func() (*int, func(context.Context)) { return nil, func(ctx context.Context) { work = ctx } })
		assert.False(t, joined, "a flight that is over is not joined")
		synctest.Wait()
		require.ErrorIs(t, work.Err(), context.Canceled, "its context ends with it")
	})
}

func TestTheWorkEndsWithItsLastCaller(t *testing.T) {
	why := errors.New("the shop is closing")
	synctest.Test(t, func(t *testing.T) {
		g := newGroup()
		var cause error
		done := make(chan struct{})
		begin := func() (*int, func(context.Context)) {
			return new(int), func(ctx context.Context) {
				defer close(done)
				<-ctx.Done()
				cause = context.Cause(ctx)
				time.Sleep(time.Second) // it takes its time to notice
			}
		}
		ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), "k", "v")) //nolint:staticcheck // a test's key
		time.AfterFunc(time.Second/2, func() { cancel(why) })
		_, _, _, err := g.Join(ctx, "a", begin)
		require.ErrorIs(t, err, context.Canceled)
		_, joined, abandoned, err := g.Join(t.Context(), "a", sets(1))
		require.NoError(t, err)
		assert.True(t, joined)
		assert.True(t, abandoned, "a caller that joins now knows")
		<-done
		assert.ErrorIs(t, cause, context.Canceled)
	})
}

func TestTheDeadlineIsTheLatestOfTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup()
		start := time.Now()
		var seen []time.Duration // 0 for no deadline
		begin := func() (*int, func(context.Context)) {
			return new(int), func(ctx context.Context) {
				child, cancel := context.WithCancel(context.WithValue(ctx, "k", "v")) //nolint:staticcheck // a test's key
				defer cancel()
				for range 3 {
					synctest.Wait()
					deadline, bounded := child.Deadline()
					assert.Equal(t, bounded, !deadline.IsZero() && bounded)
					if !bounded {
						deadline = start
					}
					seen = append(seen, deadline.Sub(start))
					time.Sleep(time.Second)
				}
			}
		}
		var wg sync.WaitGroup
		join := func(patience time.Duration) {
			wg.Go(func() {
				ctx, cancel := t.Context(), func() {}
				if patience > 0 {
					ctx, cancel = context.WithDeadline(ctx, start.Add(patience))
				}
				defer cancel()
				_, _, _, _ = g.Join(ctx, "a", begin)
			})
		}
		join(2 * time.Second)
		time.Sleep(time.Second / 2)
		join(5 * time.Second)
		time.Sleep(time.Second)
		join(0)
		wg.Wait()
		assert.Equal(t, []time.Duration{2 * time.Second, 5 * time.Second, 0}, seen)
	})
}

// What detached work returns goes to its caller, or to late if the caller left, and never to both.
func TestDetachedWork(t *testing.T) {
	apart, reported := newGroup().Runner, ""
	apart.Panicked = func(text string, _ []byte) { reported = text }
	for i := range 200 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			late := 0
			reported = ""
			takes := []time.Duration{time.Second / 2, time.Second, 2 * time.Second}[i%3]
			got, err := flight.Detached(ctx, apart, func(context.Context) (int, error) {
				time.Sleep(takes)
				return 1, nil
			}, func(value int) { late = value; panic("late") })
			time.Sleep(2 * time.Second)
			synctest.Wait()
			assert.Equal(t, 1, got+late)
			assert.Equal(t, late == 1, reported == "late")
			assert.Equal(t, got == 0, errors.Is(err, context.DeadlineExceeded))
			assert.False(t, takes < time.Second && got == 0 || takes > time.Second && late == 0)
		})
	}
	fails := errors.New("it fails")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		work func(context.Context) (int, error)
		want error
	}{
		"an error": {func(context.Context) (int, error) { return 0, fails }, fails},
		"a panic":  {func(context.Context) (int, error) { panic("boom") }, &flight.Panic{Text: "boom"}},
		"its end":  {func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }, &flight.Panic{Text: "runtime.Goexit was called"}},
	} {
		_, err := flight.Detached(t.Context(), apart, test.work, func(int) { t.Error("late got a value") })
		assert.Equal(t, test.want, err, name)
		_, _ = flight.Detached(ended, apart, test.work, func(int) { t.Error("late got a value") })
	}
	_, _ = flight.Detached(ended, apart, func(context.Context) (int, error) { return 1, nil }, nil)
	require.NoError(t, apart.Wait(t.Context()))
	assert.Equal(t, "boom", reported, "no late, no panic")
	assert.Zero(t, reflect.ValueOf(apart).Elem().FieldByName("running").Len(), "nothing is kept")
}

// A query in the background ends with a write in the background.
func TestWaitWaitsForWhatTheWorkBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r flight.Runner
		r.Go(func() {
			time.Sleep(time.Second)
			r.Go(func() { time.Sleep(time.Second) })
		})
		start := time.Now()
		require.NoError(t, r.Wait(t.Context()))
		assert.Equal(t, 2*time.Second, time.Since(start))
	})
}

func TestWorkThatBreaksOffIsAnError(t *testing.T) {
	for how, leave := range map[string]func(){"boom": func() { panic("boom") }, "runtime.Goexit was called": runtime.Goexit} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup()
				var reported []string
				g.Panicked = func(text string, stack []byte) {
					reported = append(reported, text)
					assert.Contains(t, string(stack), "flight_test.go")
				}
				begin := func() (*int, func(context.Context)) {
					return new(int), func(context.Context) {
						time.Sleep(time.Second)
						leave()
					}
				}
				var wg sync.WaitGroup
				for range 5 {
					wg.Go(func() {
						_, _, _, err := g.Join(t.Context(), "a", begin)
						var p *flight.Panic
						assert.ErrorAs(t, err, &p)
						assert.EqualError(t, err, "the call broke off: "+how)
					})
				}
				wg.Wait()
				if how == "boom" {
					assert.Equal(t, []string{"boom"}, reported)
				} else {
					assert.Empty(t, reported)
				}
				v, _, _, err := g.Join(t.Context(), "a", sets(1))
				require.NoError(t, err)
				assert.Equal(t, 1, *v)
			})
		})
	}
}
