package coalesce_test

import (
	"context"
	"errors"
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

// slow answers after a second, or not at all where its context ends first.
func slow(answer string) func(context.Context) string {
	return func(ctx context.Context) string {
		select {
		case <-time.After(time.Second):
			return answer
		case <-ctx.Done():
			return "cancelled: " + context.Cause(ctx).Error()
		}
	}
}

func TestCallsAtTheSameTimeShareAQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := coalesce.Group[string, string]{Go: func(f func()) { go f() }, Limit: time.Minute}
		var queries, begun atomic.Int64
		var wg sync.WaitGroup
		for i := range 100 {
			key := fmt.Sprint(i % 2)
			wg.Go(func() {
				answer, first, err := g.Join(t.Context(), key, func(ctx context.Context) string {
					queries.Add(1)
					return slow(key)(ctx)
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
		others int    // callers that stay
		want   string // what the query brings
	}{
		"others stay":                 {false, 1, "answer"},
		"the last one":                {false, 0, "cancelled: context canceled"},
		"the last one, kept":          {true, 0, "answer"},
		"others stay, and it is kept": {true, 3, "answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := coalesce.Group[int, string]{Go: func(f func()) { go f() }, Keep: test.keep, Limit: time.Minute}
				brought := make(chan string, 1)
				ask := func(ctx context.Context) string {
					answer := slow("answer")(ctx)
					brought <- answer
					return answer
				}
				reason := errors.New("the till is closing")
				ctx, cancel := context.WithCancelCause(t.Context())
				go func() {
					_, first, err := g.Join(ctx, 1, ask)
					assert.True(t, first)
					assert.ErrorIs(t, err, reason)
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
				cancel(reason)
				synctest.Wait()
				assert.Zero(t, time.Since(start), "whoever leaves waits for nothing")
				assert.Equal(t, test.want, <-brought)
			})
		})
	}
}

// Whoever asks after the last caller left must not be given the query that was cancelled.
func TestAnAbandonedQueryIsNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := coalesce.Group[int, string]{Go: func(f func()) { go f() }, Limit: time.Minute}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _, _ = g.Join(ctx, 1, slow("first")) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		answer, first, err := g.Join(t.Context(), 1, slow("second"))
		require.NoError(t, err)
		assert.True(t, first)
		assert.Equal(t, "second", answer)
	})
}

func TestAQueryHasValuesOfItsFirstCallerAndALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		g := coalesce.Group[int, string]{Go: func(f func()) { go f() }, Limit: 30 * time.Second}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "trace"), time.Hour)
		defer cancel()
		start := time.Now()
		value, _, err := g.Join(ctx, 1, func(ctx context.Context) string {
			<-ctx.Done()
			return fmt.Sprint(ctx.Value(key{}), ctx.Err())
		})
		require.NoError(t, err)
		assert.Equal(t, "tracecontext deadline exceeded", value)
		assert.Equal(t, 30*time.Second, time.Since(start))
	})
}
