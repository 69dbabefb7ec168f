package remote_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/broken"
	"github.com/fiscope/fiscope/internal/remote"
)

const patience = 3 * time.Second

func newPeer() *remote.Peer { return &remote.Peer{Go: func(f func()) { go f() }} }

func hang(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }

func answer(context.Context) (string, error) { return "yes", nil }

func ask(ctx context.Context, p *remote.Peer, question func(context.Context) (string, error)) (string, error) {
	return remote.Ask(ctx, p, patience, question, nil)
}

func TestAsk(t *testing.T) {
	away := errors.New("away")
	for name, test := range map[string]struct {
		question func(context.Context) (string, error)
		answer   string
		err      error
		took     time.Duration
	}{
		"an answer":                       {answer, "yes", nil, 0},
		"an error":                        {func(context.Context) (string, error) { return "", away }, "", away, 0},
		"one that takes its time":         {func(context.Context) (string, error) { time.Sleep(2 * time.Second); return "yes", nil }, "yes", nil, 2 * time.Second},
		"one that ends with its context":  {func(ctx context.Context) (string, error) { <-ctx.Done(); time.Sleep(time.Nanosecond); return "", nil }, "", remote.ErrHangs, patience},
		"one that is deaf to its context": {func(context.Context) (string, error) { time.Sleep(time.Minute); return "yes", nil }, "", remote.ErrHangs, patience},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got, err := ask(t.Context(), newPeer(), test.question)
				assert.Equal(t, test.answer, got)
				assert.Equal(t, test.err, err)
				assert.Equal(t, test.took, time.Since(start))
				time.Sleep(time.Minute)
			})
		})
	}
}

func TestAQuestionDoesNotEndWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), time.Second)
		defer cancel()
		start := time.Now()
		var ended time.Time
		_, err := ask(ctx, newPeer(), func(ctx context.Context) (string, error) {
			assert.Equal(t, "value", ctx.Value(key{}))
			<-ctx.Done()
			ended = time.Now()
			return "", ctx.Err()
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, patience, ended.Sub(start))

		_, err = ask(ctx, newPeer(), func(context.Context) (string, error) { panic("it is not asked") })
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestOneThatHangsIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer()
		_, err := ask(t.Context(), p, hang)
		require.ErrorIs(t, err, remote.ErrHangs)
		start := time.Now()
		for time.Since(start) < remote.LeftAlone {
			_, err = ask(t.Context(), p, func(context.Context) (string, error) { panic("it is not asked") })
			require.ErrorIs(t, err, remote.ErrHangs)
			time.Sleep(time.Second)
		}
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { _, _ = ask(t.Context(), p, hang) }) // goes to see
		synctest.Wait()
		_, err = ask(t.Context(), p, answer)
		require.ErrorIs(t, err, remote.ErrHangs, "the others do not")
		time.Sleep(patience + remote.LeftAlone)
		for range 10 {
			got, err := ask(t.Context(), p, answer)
			require.NoError(t, err)
			assert.Equal(t, "yes", got)
		}
	})
}

// Nobody of these waits for as long as a question may take, and yet it is noticed.
func TestTheImpatientNoticeThatItHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer()
		start := time.Now()
		for {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			_, err := ask(ctx, p, hang)
			cancel()
			if errors.Is(err, remote.ErrHangs) {
				break
			}
		}
		assert.LessOrEqual(t, time.Since(start), patience+100*time.Millisecond)
		time.Sleep(time.Minute)
	})
}

func TestALateAnswerGoesToLate(t *testing.T) {
	for name, test := range map[string]struct {
		takes time.Duration
		err   error
		late  int
	}{
		"after its time":            {4 * time.Second, nil, 1},
		"after its caller has left": {2 * time.Second, nil, 1},
		"in time":                   {500 * time.Millisecond, nil, 0},
		"an error":                  {4 * time.Second, errors.New("away"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				late := 0
				_, _ = remote.Ask(ctx, newPeer(), patience, func(context.Context) (string, error) {
					time.Sleep(test.takes)
					return "yes", test.err
				}, func(ctx context.Context, answer string) {
					late++
					assert.Equal(t, "yes", answer)
					assert.NoError(t, ctx.Err())
				})
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Equal(t, test.late, late)
			})
		})
	}
}

func TestAPanicOfAQuestionIsItsCallers(t *testing.T) {
	boom := func(context.Context) (string, error) { panic("boom") }
	synctest.Test(t, func(t *testing.T) {
		func() {
			defer func() {
				p, ok := recover().(*broken.Panic)
				require.True(t, ok)
				assert.Equal(t, "boom", p.Value)
				assert.Contains(t, string(p.Stack), "remote_test.go", "the stack is of who panicked")
			}()
			_, _ = ask(t.Context(), newPeer(), boom)
		}()
		over, returned := make(chan struct{}), false
		go func() {
			defer close(over)
			_, _ = ask(t.Context(), newPeer(), func(context.Context) (string, error) { runtime.Goexit(); return "", nil })
			returned = true
		}()
		<-over
		assert.False(t, returned, "nor does one return that ended its goroutine")
	})
	synctest.Test(t, func(t *testing.T) {
		p := newPeer()
		var lost []any
		p.Lost = func(p *broken.Panic) {
			lost = append(lost, p.Value)
			assert.Contains(t, string(p.Stack), "remote_test.go")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := ask(ctx, p, func(context.Context) (string, error) { time.Sleep(2 * time.Second); panic("boom") })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []any{"boom"}, lost, "one whose caller has left is raised nowhere")
	})
}

func TestTell(t *testing.T) {
	for name, test := range map[string]struct {
		what   func(context.Context)
		told   time.Duration
		moment time.Duration
	}{
		"at once":        {func(context.Context) {}, 0, 0},
		"in a moment":    {func(context.Context) { time.Sleep(20 * time.Millisecond) }, 20 * time.Millisecond, 20 * time.Millisecond},
		"in a second":    {func(context.Context) { time.Sleep(time.Second) }, time.Second, remote.Moment},
		"never":          {func(ctx context.Context) { <-ctx.Done() }, patience, remote.Moment},
		"with a panic":   {func(context.Context) { panic("boom") }, 0, 0},
		"without an end": {func(context.Context) { runtime.Goexit() }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, p := time.Now(), newPeer()
				told := p.Tell(t.Context(), "", patience, test.what)
				assert.Zero(t, time.Since(start))
				remote.Await(t.Context(), told)
				assert.Equal(t, test.moment, time.Since(start))
				<-told
				assert.Equal(t, test.told, time.Since(start))
				_, err := ask(t.Context(), p, answer)
				require.NoError(t, err, "it is asked all the same")
			})
		})
	}
	t.Run("one who has left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			start, told := time.Now(), false
			done := newPeer().Tell(ctx, "", patience, func(ctx context.Context) {
				time.Sleep(time.Millisecond)
				told = ctx.Err() == nil
			})
			remote.Await(ctx, done)
			assert.Zero(t, time.Since(start), "waits for nothing")
			<-done
			assert.True(t, told)
		})
	})
}

func TestOneThatFailsLateHangs(t *testing.T) {
	away := errors.New("away")
	for name, test := range map[string]struct {
		takes time.Duration
		err   error
		next  error
	}{
		"an error, late":   {patience - 1, away, remote.ErrHangs},
		"an error, soon":   {patience / 3, away, nil},
		"an answer, late":  {patience - 1, nil, nil},
		"an answer, later": {patience + 1, nil, remote.ErrHangs},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer()
				_, _ = ask(t.Context(), p, func(context.Context) (string, error) { time.Sleep(test.takes); return "", test.err })
				_, err := ask(t.Context(), p, answer)
				assert.Equal(t, test.next, err)
				time.Sleep(remote.LeftAlone + 1)
				_, err = ask(t.Context(), p, answer)
				assert.NoError(t, err)
			})
		})
	}
}

func TestWhatIsAboutTheSameIsToldInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer()
		var mu sync.Mutex
		var order []int
		tell := func(about string, n int, takes time.Duration) <-chan struct{} {
			return p.Tell(t.Context(), about, patience, func(context.Context) {
				time.Sleep(takes)
				mu.Lock()
				defer mu.Unlock()
				order = append(order, n)
			})
		}
		tell("a", 1, time.Second)
		tell("a", 2, 0)
		tell("b", 3, 0)
		<-tell("a", 4, 0)
		assert.Equal(t, []int{3, 1, 2, 4}, order, "one about something else waits for nobody")

		start := time.Now()
		tell("a", 5, time.Minute)
		<-tell("a", 6, 0)
		assert.Equal(t, patience, time.Since(start), "one whose time is over is dropped")
		time.Sleep(time.Minute)
		<-tell("a", 7, 0)
		assert.Equal(t, []int{3, 1, 2, 4, 5, 7}, order)
	})
}
