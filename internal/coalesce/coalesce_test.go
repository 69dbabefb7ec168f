package coalesce_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/internal/coalesce"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func inBackground(f func()) { go f() }

// slow answers after a second, or not at all where its context ends first.
func slow(answer string) func(context.Context, coalesce.Tell[string]) string {
	return func(ctx context.Context, _ coalesce.Tell[string]) string { return slowly(ctx, answer) }
}

// sent is slow, and tells that it is sent.
func sent(answer string) func(context.Context, coalesce.Tell[string]) string {
	return func(ctx context.Context, tell coalesce.Tell[string]) string {
		tell("sent", time.Time{}, true)
		return slowly(ctx, answer)
	}
}

// leaves is slow, and tells that it is about to be sent.
func leaves(answer string) func(context.Context, coalesce.Tell[string]) string {
	return func(ctx context.Context, tell coalesce.Tell[string]) string {
		tell("leaves", time.Time{}, false)
		return slowly(ctx, answer)
	}
}

// waits tells that it waits for a second.
func waits(answer string) func(context.Context, coalesce.Tell[string]) string {
	return func(ctx context.Context, tell coalesce.Tell[string]) string {
		tell("too late", time.Now().Add(time.Second), false)
		return slowly(ctx, answer)
	}
}

func slowly(ctx context.Context, answer string) string {
	select {
	case <-time.After(time.Second):
		return answer
	case <-ctx.Done():
		return "cancelled"
	}
}

func TestCallsAtTheSameTimeShareAQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := coalesce.Group[string, string]{Go: inBackground}
		var queries, begun atomic.Int64
		var wg sync.WaitGroup
		for i := range 100 {
			key := fmt.Sprint(i % 2)
			wg.Go(func() {
				answer, first, err := g.Join(t.Context(), key, func(ctx context.Context, tell coalesce.Tell[string]) string {
					queries.Add(1)
					return slow(key)(ctx, tell)
				})
				assert.NoError(t, err)
				assert.Equal(t, key, answer)
				if first {
					begun.Add(1)
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 2, queries.Load(), "one for each key")
		assert.EqualValues(t, 2, begun.Load())

		_, first, err := g.Join(t.Context(), "0", slow("later"))
		require.NoError(t, err)
		assert.True(t, first, "a query that has ended serves nobody")
	})
}

func TestACallerThatLeaves(t *testing.T) {
	for name, test := range map[string]struct {
		keep   bool
		ask    func(context.Context, coalesce.Tell[string]) string
		others int    // callers that stay
		soFar  string // what the caller that leaves gets
		want   string // what the query brings
	}{
		"others stay":                                      {false, sent("answer"), 1, "sent", "answer"},
		"the last one":                                     {false, sent("answer"), 0, "sent", "cancelled"},
		"the last one, sent and kept":                      {true, sent("answer"), 0, "sent", "answer"},
		"the last one, kept but not sent":                  {true, slow("answer"), 0, "", "cancelled"},
		"the last one, kept, while it waits":               {true, waits("answer"), 0, "too late", "cancelled"},
		"the last one, kept, while it is about to be sent": {true, leaves("answer"), 0, "leaves", "cancelled"},
		"others stay, sent and kept":                       {true, sent("answer"), 3, "sent", "answer"},
		"others stay, and it is not sent yet":              {true, slow("answer"), 3, "", "answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := coalesce.Group[int, string]{Go: inBackground, Keep: test.keep}
				brought := make(chan string, 1)
				ask := func(ctx context.Context, tell coalesce.Tell[string]) string {
					answer := test.ask(ctx, tell)
					brought <- answer
					return answer
				}
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					soFar, first, err := g.Join(ctx, 1, ask)
					assert.True(t, first)
					assert.ErrorIs(t, err, context.Canceled)
					assert.Equal(t, test.soFar, soFar)
				}()
				synctest.Wait()
				for range test.others {
					go func() {
						answer, first, err := g.Join(t.Context(), 1, ask)
						assert.NoError(t, err)
						assert.False(t, first)
						assert.Equal(t, "answer", answer)
					}()
				}
				synctest.Wait()
				start := time.Now()
				cancel()
				synctest.Wait()
				assert.Zero(t, time.Since(start), "whoever leaves waits for nothing")
				assert.Equal(t, test.want, <-brought)
			})
		})
	}
}

func TestAWaitBeyondACallersDeadline(t *testing.T) {
	for name, test := range map[string]struct {
		patience time.Duration
		after    time.Duration // of the query's beginning
		want     string
		took     time.Duration
	}{
		"comes first":                   {999 * time.Millisecond, 0, "too late", 0},
		"at its end":                    {time.Second, 0, "too late", 0},
		"comes later":                   {2 * time.Second, 0, "answer", time.Second},
		"of one who joins in the wait":  {100 * time.Millisecond, 500 * time.Millisecond, "too late", 0},
		"of one who joins and can stay": {time.Second, 500 * time.Millisecond, "answer", 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := coalesce.Group[int, string]{Go: inBackground}
				if test.after > 0 {
					go func() { _, _, _ = g.Join(t.Context(), 1, waits("answer")) }()
					time.Sleep(test.after)
				}
				ctx, cancel := context.WithTimeout(t.Context(), test.patience)
				defer cancel()
				start := time.Now()
				answer, _, err := g.Join(ctx, 1, waits("answer"))
				require.NoError(t, err)
				assert.Equal(t, test.want, answer)
				assert.Equal(t, test.took, time.Since(start))
			})
		})
	}
}

// What a query that everybody has left has sent is brought home; it waits for no other try.
func TestAQueryWithoutCallersBeginsNothing(t *testing.T) {
	for name, next := range map[string]func() time.Time{
		"another wait":    func() time.Time { return time.Now().Add(time.Minute) },
		"another attempt": func() time.Time { return time.Time{} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := coalesce.Group[int, string]{Go: inBackground, Keep: true}
				var ended error
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					_, _, _ = g.Join(ctx, 1, func(ctx context.Context, tell coalesce.Tell[string]) string {
						answer := sent("answer")(ctx, tell)
						assert.NoError(t, ctx.Err())
						tell("", next(), true)
						ended = ctx.Err()
						return answer
					})
				}()
				synctest.Wait()
				cancel()
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.ErrorIs(t, ended, context.Canceled)
			})
		})
	}
}

// Whoever asks after the last caller left must not be given the query that was cancelled, and the end of
// that one must not hide the new one from a third.
func TestAnAbandonedQueryAndANewOneDoNotMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := coalesce.Group[int, string]{Go: inBackground}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, _, _ = g.Join(ctx, 1, func(ctx context.Context, _ coalesce.Tell[string]) string {
				<-ctx.Done()
				time.Sleep(500 * time.Millisecond) // it takes its time to notice
				return "first"
			})
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		go func() {
			answer, first, err := g.Join(t.Context(), 1, slow("second"))
			assert.NoError(t, err)
			assert.True(t, first)
			assert.Equal(t, "second", answer)
		}()
		time.Sleep(700 * time.Millisecond)
		answer, first, err := g.Join(t.Context(), 1, slow("third"))
		require.NoError(t, err)
		assert.False(t, first)
		assert.Equal(t, "second", answer)
	})
}

func TestAQueryHasTheValuesOfItsFirstCallerAndNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		g := coalesce.Group[int, string]{Go: inBackground}
		value, _, err := g.Join(context.WithValue(t.Context(), key{}, "trace"), 1, func(ctx context.Context, _ coalesce.Tell[string]) string {
			time.Sleep(1000 * time.Hour)
			_, bounded := ctx.Deadline()
			return fmt.Sprintf("%v %v %v", ctx.Value(key{}), ctx.Err(), bounded)
		})
		require.NoError(t, err)
		assert.Equal(t, "trace <nil> false", value)
	})
}

// endsWith is a context that ends when a query has ended.
type endsWith struct {
	context.Context
	ended chan struct{}
}

func (c endsWith) Done() <-chan struct{} { <-c.ended; return c.ended }
func (c endsWith) Err() error {
	select {
	case <-c.ended:
		return context.Canceled
	default:
		return nil
	}
}

func TestAnAnswerThatIsThereIsBetterThanAnEndedContext(t *testing.T) {
	for range 100 {
		ctx := endsWith{t.Context(), make(chan struct{})}
		g := coalesce.Group[int, string]{Go: func(f func()) {
			go func() {
				defer close(ctx.ended)
				f()
			}()
		}}
		answer, _, err := g.Join(ctx, 1, func(context.Context, coalesce.Tell[string]) string { return "answer" })
		require.NoError(t, err)
		assert.Equal(t, "answer", answer)
	}
}

// A query that would wait for longer than any of its callers is told so at once, and serves nobody who comes
// then.
func TestAQueryForWhichNobodyWaits(t *testing.T) {
	for name, test := range map[string]struct {
		patience []time.Duration // of the callers; 0 for those without a deadline
		leaves   int             // the first of them that give up before it tells
		stays    bool
	}{
		"one that cannot wait":          {[]time.Duration{time.Second}, 0, false},
		"many that cannot":              {[]time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, 0, false},
		"one that can":                  {[]time.Duration{time.Second, time.Hour}, 0, true},
		"one without a deadline":        {[]time.Duration{time.Second, 0}, 0, true},
		"the one that could has left":   {[]time.Duration{0, time.Second}, 1, false},
		"another that could has left":   {[]time.Duration{0, time.Second, 0}, 1, true},
		"nobody is there":               {[]time.Duration{0}, 1, false},
		"two of the same, one has left": {[]time.Duration{time.Hour, time.Hour}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := coalesce.Group[int, string]{Go: inBackground}
				left, leave := context.WithCancel(t.Context())
				proceed := make(chan struct{})
				var wg sync.WaitGroup
				ask := func(ctx context.Context, tell coalesce.Tell[string]) string {
					<-proceed
					assert.Equal(t, test.stays, tell("too late", time.Now().Add(time.Minute), false))
					assert.Equal(t, test.stays, ctx.Err() == nil)
					return slowly(ctx, "answer")
				}
				for i, patience := range test.patience {
					ctx, cancel := context.WithCancel(t.Context())
					if i < test.leaves {
						ctx = left
					}
					if patience > 0 {
						ctx, cancel = context.WithTimeout(ctx, patience)
					}
					wg.Go(func() {
						defer cancel()
						answer, _, err := g.Join(ctx, 1, ask)
						switch {
						case i < test.leaves:
							assert.ErrorIs(t, err, context.Canceled)
						case patience == 0 || patience == time.Hour:
							assert.Equal(t, "answer", answer)
						default:
							assert.NoError(t, err)
							assert.Equal(t, "too late", answer)
						}
					})
					synctest.Wait()
				}
				leave()
				synctest.Wait()
				close(proceed)
				synctest.Wait()
				if !test.stays {
					answer, first, err := g.Join(t.Context(), 1, slow("another"))
					require.NoError(t, err)
					assert.True(t, first)
					assert.Equal(t, "another", answer)
				}
				wg.Wait()
			})
		})
	}
}

func TestWhatAQueryTellsAfterItsEndIsNotHeard(t *testing.T) {
	var late coalesce.Tell[string]
	g := coalesce.Group[int, string]{Go: inBackground}
	answer, _, err := g.Join(t.Context(), 1, func(_ context.Context, tell coalesce.Tell[string]) string {
		late = tell
		return "answer"
	})
	require.NoError(t, err)
	assert.Equal(t, "answer", answer)
	late("later", time.Time{}, true)
}
