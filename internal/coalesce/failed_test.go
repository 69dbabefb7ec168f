package coalesce_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/broken"
	"github.com/fiscope/fiscope/internal/coalesce"
)

// thatPanics stands in the stack of a panic.
func thatPanics(value any) func(context.Context, coalesce.Tell[string]) string {
	return func(_ context.Context, tell coalesce.Tell[string]) string {
		tell("so far", time.Time{}, true)
		time.Sleep(time.Second)
		panic(value)
	}
}

func TestAQueryThatPanics(t *testing.T) {
	boom := errors.New("boom")
	for name, value := range map[string]any{"a text": "boom", "an error": boom, "nil": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := coalesce.Group[int, string]{Go: inBackground, Lost: func(*broken.Panic) { t.Error("it is raised: it is not lost") }}
				var wg sync.WaitGroup
				wg.Go(func() { // the one whose query it is
					defer func() {
						p, ok := recover().(*broken.Panic)
						require.True(t, ok)
						if value != nil {
							assert.Equal(t, value, p.Value)
						}
						assert.Contains(t, p.Error(), fmt.Sprint(p.Value))
						assert.Contains(t, p.Error(), "thatPanics", "the stack is of who panicked")
						assert.Equal(t, value == any(boom), errors.Is(p, boom))
					}()
					_, _, _ = g.Join(t.Context(), 1, thatPanics(value))
					t.Error("it returned")
				})
				synctest.Wait()
				for range 3 {
					wg.Go(func() {
						soFar, first, err := g.Join(t.Context(), 1, thatPanics(value))
						assert.False(t, first)
						assert.Equal(t, "so far", soFar)
						var failed *coalesce.Failed
						assert.ErrorAs(t, err, &failed)
						assert.Equal(t, value == any(boom), errors.Is(err, boom))
						assert.NotContains(t, err.Error(), "goroutine")
					})
				}
				wg.Wait()
				answer, _, err := g.Join(t.Context(), 1, slow("next"))
				require.NoError(t, err)
				assert.Equal(t, "next", answer)
			})
		})
	}
}

func TestAQueryWhoseGoroutineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := coalesce.Group[int, string]{Go: inBackground}
		exits := func(context.Context, coalesce.Tell[string]) string {
			time.Sleep(time.Second)
			runtime.Goexit()
			return ""
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _, _ = g.Join(t.Context(), 1, exits)
			t.Error("it returned: its goroutine should have ended")
		})
		synctest.Wait()
		wg.Go(func() {
			_, _, err := g.Join(t.Context(), 1, exits)
			assert.ErrorContains(t, err, "runtime.Goexit")
		})
		wg.Wait()
		answer, _, err := g.Join(t.Context(), 1, slow("next"))
		require.NoError(t, err)
		assert.Equal(t, "next", answer)
	})
}

func TestAPanicWhoseCallerHasLeftIsTold(t *testing.T) {
	for name, others := range map[string]int{"nobody is there": 0, "others are": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lost []*broken.Panic
				g := coalesce.Group[int, string]{Go: inBackground, Lost: func(p *broken.Panic) { lost = append(lost, p) }}
				ctx, cancel := context.WithCancel(t.Context())
				go func() { _, _, _ = g.Join(ctx, 1, thatPanics("boom")) }()
				synctest.Wait()
				for range others {
					go func() {
						_, _, err := g.Join(t.Context(), 1, thatPanics("boom"))
						assert.ErrorContains(t, err, "boom")
					}()
				}
				synctest.Wait()
				cancel()
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Len(t, lost, 1)
				assert.Equal(t, "boom", lost[0].Value)
			})
		})
	}
}
