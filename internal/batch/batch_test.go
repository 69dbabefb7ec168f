package batch_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/internal/batch"
	"github.com/fiscope/fiscope/internal/broken"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errMissing = errors.New("missing")
	errBad     = errors.New("bad input")
	errDown    = errors.New("down")
	errEnd     = errors.New("the end")
	errSlower  = errors.New("slower")
	errKept    = errors.New("known before") // an answer that is not the service's
	errDoubt   = errors.New("the end, or this one's alone")
	errOthers  = errors.New("others go first")
)

func judge(_ int, err error) batch.Verdict {
	answered := err == nil || errors.Is(err, errMissing)
	return batch.Verdict{
		Keep:      answered || errors.Is(err, errKept),
		Record:    answered,
		Works:     answered,
		Local:     errors.Is(err, errBad),
		Stop:      errors.Is(err, errEnd),
		StopAlone: errors.Is(err, errDoubt),
		Slower:    errors.Is(err, errSlower),
		Waits:     errors.Is(err, errOthers),
		After:     10 * time.Second,
	}
}

var policy = batch.Policy{Concurrency: 4, Window: 1000, Memory: 100, MaxFailures: 3}

// answers is a batch that asks with f.
func answers(f func(ctx context.Context, in int) error) batch.Batch[int, int, int] {
	return batch.Batch[int, int, int]{
		Ask: func(ctx context.Context, in int) (int, error) {
			if err := f(ctx, in); err != nil {
				return 0, err
			}
			return in * in, nil
		},
		Key:    func(in int) (int, bool) { return in, true },
		Judge:  judge,
		Pack:   strconv.Itoa,
		Unpack: func(text string) int { square, _ := strconv.Atoi(text); return square },
	}
}

func upTo(n int) []int {
	var all []int
	for i := range n {
		all = append(all, i)
	}
	return all
}

func TestEveryInputOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var underWay, most atomic.Int64
		b := answers(func(context.Context, int) error {
			most.Store(max(most.Load(), underWay.Add(1)))
			time.Sleep(time.Second)
			underWay.Add(-1)
			return nil
		})
		var positions []int
		low, err := b.Over(t.Context(), policy, slices.Values(upTo(50)), func(l batch.Line[int, int]) bool {
			positions = append(positions, l.Position)
			assert.Equal(t, l.Position, l.Input)
			assert.Equal(t, l.Input*l.Input, l.Answer)
			return true
		})
		require.NoError(t, err)
		assert.Equal(t, 50, low)
		slices.Sort(positions)
		assert.Equal(t, upTo(50), positions)
		assert.EqualValues(t, policy.Concurrency, most.Load())
	})
}

func TestADuplicateIsAskedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		memory  int
		answer  error
		queries int64
	}{
		"an answer":                 {100, nil, 2},
		"an answer that is missing": {100, errMissing, 2},
		"a failure is not kept":     {100, errDown, 4},
		"without a memory":          {0, nil, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var queries atomic.Int64
				b := answers(func(context.Context, int) error { queries.Add(1); return test.answer })
				p := policy
				p.Memory, p.MaxFailures, p.Concurrency = test.memory, 0, 1
				repeated := 0
				_, err := b.Over(t.Context(), p, slices.Values([]int{7, 8, 7, 8}), func(l batch.Line[int, int]) bool {
					if l.Repeated {
						repeated++
					}
					return true
				})
				require.NoError(t, err)
				assert.Equal(t, test.queries, queries.Load())
				assert.EqualValues(t, 4-test.queries, repeated)
			})
		})
	}
}

func TestWhatStopsABatch(t *testing.T) {
	for name, test := range map[string]struct {
		answer  func(in int) error
		stopped error
		low     int
	}{
		"nothing":                               {func(int) error { return nil }, nil, 20},
		"failures that others come between":     {func(in int) error { return []error{errDown, errDown, nil}[in%3] }, nil, 18},
		"failures in a row":                     {func(in int) error { return []error{nil, errDown}[min(in/5, 1)] }, errDown, 5},
		"inputs that say nothing of it":         {func(int) error { return errBad }, nil, 20},
		"a local one between failures":          {func(in int) error { return []error{errDown, errBad}[in%2] }, errDown, 0},
		"one that is known between failures":    {func(in int) error { return []error{errDown, errKept}[in%2] }, errDown, 0},
		"one in doubt, before any answer":       {func(int) error { return errDoubt }, errDoubt, 0},
		"one in doubt, after an answer":         {func(in int) error { return []error{nil, errDoubt, nil}[in%3] }, nil, 19},
		"... and then no other":                 {func(in int) error { return []error{nil, errDoubt}[min(in/5, 1)] }, errDoubt, 5},
		"an answer that all others would get":   {func(in int) error { return []error{nil, errEnd}[min(in/5, 1)] }, errEnd, 5},
		"missing ones show that it is answered": {func(in int) error { return []error{errDown, errDown, errMissing}[in%3] }, nil, 18},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := policy
				p.Concurrency = 1
				last := 0
				low, err := answers(func(_ context.Context, in int) error { return test.answer(in) }).
					Over(t.Context(), p, slices.Values(upTo(20)), func(l batch.Line[int, int]) bool {
						last = l.Next
						return true
					})
				assert.ErrorIs(t, err, test.stopped)
				assert.Equal(t, test.low, low)
				assert.Equal(t, low, last, "the last line says where to go on")
			})
		})
	}
}

// It is delivered, and stops the batch as the failure does in whose place it is.
func TestAnAnswerThatStandsInForAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := answers(func(context.Context, int) error { return nil })
		b.Judge = func(square int, err error) batch.Verdict {
			if square >= 25 {
				return batch.Verdict{Failure: errDown}
			}
			return judge(square, err)
		}
		p := policy
		p.Concurrency = 1
		last := batch.Line[int, int]{}
		low, err := b.Over(t.Context(), p, slices.Values(upTo(20)), func(l batch.Line[int, int]) bool {
			last = l
			return true
		})
		require.ErrorIs(t, err, errDown)
		assert.Equal(t, 5, low)
		assert.Equal(t, batch.Line[int, int]{Position: 7, Input: 7, Answer: 49, Next: 5}, last)
	})
}

func TestTheFirstQueryGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		low, err := answers(func(context.Context, int) error {
			asked.Add(1)
			time.Sleep(time.Second)
			return errEnd
		}).Over(t.Context(), policy, slices.Values(upTo(20)), func(batch.Line[int, int]) bool { return true })
		require.ErrorIs(t, err, errEnd)
		assert.Zero(t, low)
		assert.EqualValues(t, 1, asked.Load())
	})
}

func TestAllWaitForWhatOneIsAskedToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var early atomic.Int64
		tries := map[int]int{}
		b := answers(func(_ context.Context, in int) error {
			if since := time.Since(start); in > 4 && since < 10*time.Second {
				early.Add(1)
			}
			if in == 3 && tries[in] == 0 {
				tries[in]++
				return errSlower
			}
			return nil
		})
		p := policy
		p.Concurrency = 1
		_, err := b.Over(t.Context(), p, slices.Values(upTo(10)), func(l batch.Line[int, int]) bool {
			assert.NoError(t, l.Err)
			return true
		})
		require.NoError(t, err)
		assert.Zero(t, early.Load())
		assert.GreaterOrEqual(t, time.Since(start), 10*time.Second)
	})
}

func TestThrottlingWithoutEndIsTheInputsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		_, err := answers(func(context.Context, int) error { tries.Add(1); return errSlower }).
			Over(t.Context(), policy, slices.Values(upTo(1)), func(l batch.Line[int, int]) bool {
				assert.ErrorIs(t, l.Err, errSlower)
				return true
			})
		require.NoError(t, err)
		assert.EqualValues(t, 5, tries.Load())
	})
}

func TestToBreakOutCancelsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := answers(func(ctx context.Context, in int) error {
			if in == 0 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}).Over(t.Context(), policy, slices.Values(upTo(20)), func(batch.Line[int, int]) bool { return false })
		require.NoError(t, err)
		assert.Zero(t, time.Since(start))
	})
}

func TestAContextThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		low, err := answers(func(ctx context.Context, in int) error {
			if in == 10 {
				cancel()
				return ctx.Err()
			}
			return nil
		}).Over(ctx, batch.Policy{Concurrency: 1, Window: 1000, MaxFailures: 3}, slices.Values(upTo(20)), func(batch.Line[int, int]) bool { return true })
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 10, low)
	})
}

// The context's end is the reason, also where the last answer would have been one.
func TestAContextThatEndsWithTheLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := answers(func(context.Context, int) error {
			cancel()
			return errEnd
		}).Over(ctx, policy, slices.Values(upTo(20)), func(batch.Line[int, int]) bool { return true })
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, errEnd)
	})
}

// One slow input must not let the others run away from it.
func TestTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		farthest := 0
		_, err := answers(func(_ context.Context, in int) error {
			if in == 1 {
				time.Sleep(time.Hour)
			}
			return nil
		}).Over(t.Context(), policy, slices.Values(upTo(3*policy.Window)), func(l batch.Line[int, int]) bool {
			if l.Next <= 1 {
				farthest = max(farthest, l.Position)
			}
			return true
		})
		require.NoError(t, err)
		assert.Equal(t, policy.Window, farthest)
	})
}

func TestFromPassesWithoutAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy
		p.From = 15
		var asked []int
		p.Concurrency = 1
		low, err := answers(func(_ context.Context, in int) error { asked = append(asked, in); return nil }).
			Over(t.Context(), p, slices.Values(upTo(20)), func(batch.Line[int, int]) bool { return true })
		require.NoError(t, err)
		assert.Equal(t, 20, low)
		assert.Equal(t, []int{15, 16, 17, 18, 19}, asked)
	})
}

func TestAResultIsKeptPackedForLaterDuplicates(t *testing.T) {
	packed := 0
	b := answers(func(_ context.Context, in int) error {
		if in == 3 {
			return errMissing
		}
		return nil
	})
	b.Pack = func(square int) string {
		packed++
		return strconv.Itoa(square)
	}
	b.Unpack = func(text string) int {
		square, _ := strconv.Atoi(text)
		return -square // to be told apart
	}
	p := policy
	p.Concurrency = 1
	var got []string
	_, err := b.Over(t.Context(), p, slices.Values([]int{2, 3, 2, 3, 2}), func(l batch.Line[int, int]) bool {
		if l.Err != nil {
			got = append(got, l.Err.Error())
			return true
		}
		got = append(got, strconv.Itoa(l.Answer))
		return true
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"4", "missing", "-4", "missing", "-4"}, got)
	assert.Equal(t, 2, packed)
}

func TestWhatBreaksOffAQueryBreaksOffTheBatch(t *testing.T) {
	for name, leave := range map[string]func(){"a panic": func() { panic("boom") }, "a Goexit": runtime.Goexit} {
		for at := range 5 {
			t.Run(name+" at "+strconv.Itoa(at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var under, ended atomic.Int64
					over := make(chan any)
					go func() {
						defer func() { over <- recover() }()
						_, _ = answers(func(ctx context.Context, in int) error {
							under.Add(1)
							defer ended.Add(1)
							switch {
							case in == at:
								time.Sleep(time.Second)
								leave()
							case in > at:
								<-ctx.Done()
							}
							return nil
						}).Over(t.Context(), policy, slices.Values(upTo(20)), func(l batch.Line[int, int]) bool { return assert.NoError(t, l.Err) })
						t.Error("it returned")
					}()
					recovered := <-over
					assert.Equal(t, under.Load(), ended.Load(), "no goroutine is left")
					if name == "a Goexit" {
						assert.Nil(t, recovered)
						return
					}
					p, ok := recovered.(*broken.Panic)
					require.True(t, ok, "%T", recovered)
					assert.Equal(t, "boom", p.Value)
					assert.Contains(t, string(p.Stack), "batch_test.go")
				})
			})
		}
	}
}

// Answers that come while failures stop a batch, or that were asked for before them, are no reason to pass these.
func TestWhereTheNextRunGoesOn(t *testing.T) {
	for name, test := range map[string]struct {
		fails   func(in int) bool
		seconds map[int]int // until it answers: 1 for the others
		next    int
	}{
		"in order":                            {func(in int) bool { return in >= 4 }, nil, 4},
		"one alone is passed":                 {func(in int) bool { return in == 2 || in >= 7 }, nil, 7},
		"an answer after the last":            {func(in int) bool { return in >= 4 && in != 7 }, map[int]int{7: 9}, 4},
		"a late answer from before the first": {func(in int) bool { return in >= 4 }, map[int]int{3: 3, 5: 5, 6: 5, 7: 5}, 4},
		"a failure that comes late":           {func(in int) bool { return in == 2 || in >= 8 }, map[int]int{2: 30}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				last := 0
				next, err := answers(func(_ context.Context, in int) error {
					time.Sleep(time.Duration(max(1, test.seconds[in]))*time.Second + time.Duration(in)*time.Millisecond) // in order
					if test.fails(in) {
						return errDown
					}
					return nil
				}).Over(t.Context(), policy, slices.Values(upTo(40)), func(l batch.Line[int, int]) bool {
					last = l.Next
					return true
				})
				require.ErrorIs(t, err, errDown)
				assert.Equal(t, test.next, next)
				assert.Equal(t, next, last)
			})
		})
	}
}

func TestWhatIsDoneIsPassed(t *testing.T) {
	errFull := errors.New("full")
	for name, test := range map[string]struct {
		inputs   []int
		fails    int // the input that cannot be recorded
		lines    []int
		recorded []int
		stopped  error
		next     int
	}{
		"none":                         {upTo(4), -1, upTo(4), upTo(4), nil, 4},
		"some":                         {[]int{0, 10, 11, 1, 10}, -1, []int{0, 3}, []int{0, 1}, nil, 5},
		"all":                          {[]int{10, 10, 11}, -1, nil, nil, nil, 3},
		"a repeated one":               {[]int{1, 1, 2}, -1, upTo(3), []int{1, 2}, nil, 3},
		"one that cannot be recorded":  {upTo(9), 2, upTo(3), upTo(2), errFull, 3},
		"... and others after the end": {[]int{10, 1, 10}, -1, []int{1}, []int{1}, nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			b := answers(func(context.Context, int) error { return nil })
			var recorded, lines []int
			b.Done = func(key int) (bool, error) { return key >= 10, nil }
			b.Record = func(key int) error {
				if key == test.fails {
					return errFull
				}
				recorded = append(recorded, key)
				return nil
			}
			p := policy
			p.Concurrency = 1
			next, err := b.Over(t.Context(), p, slices.Values(test.inputs), func(l batch.Line[int, int]) bool {
				lines = append(lines, l.Position)
				return true
			})
			assert.Equal(t, test.stopped, err)
			assert.Equal(t, test.next, next)
			assert.Equal(t, test.lines, lines)
			assert.Equal(t, test.recorded, recorded)
		})
	}
}

func TestWhoWaitsForOthersIsAskedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		tries   int // in which others go first, for input 2
		answer  func(in int) error
		limit   time.Duration // of the context
		lines   int
		next    int
		stopped error
	}{
		"until it is its turn":   {50, func(int) error { return nil }, time.Hour, 6, 6, nil},
		"until the context ends": {50, func(int) error { return nil }, 10 * time.Second, 5, 2, context.DeadlineExceeded},
		"until the batch stops":  {50, func(in int) error { return []error{nil, errEnd}[in/3] }, time.Hour, 2, 2, errEnd},
		"until failures stop it": {50, func(in int) error { return []error{nil, errDown}[in/3] }, time.Hour, 5, 2, errDown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.limit)
				defer cancel()
				tries := 0
				b := answers(func(ctx context.Context, in int) error {
					wait := time.Second
					if in == 1 {
						wait /= 2
					}
					select {
					case <-time.After(wait):
					case <-ctx.Done():
						return ctx.Err()
					}
					if in == 2 && tries < test.tries {
						tries++
						return errOthers
					}
					return test.answer(in)
				})
				start, lines := time.Now(), 0
				next, err := b.Over(ctx, policy, slices.Values(upTo(6)), func(l batch.Line[int, int]) bool {
					lines++
					return assert.NotErrorIs(t, l.Err, errOthers)
				})
				require.ErrorIs(t, err, test.stopped)
				assert.Equal(t, test.lines, lines)
				assert.Equal(t, test.next, next)
				assert.LessOrEqual(t, time.Since(start), min(test.limit, time.Duration(test.tries+2)*time.Second))
				if errors.Is(test.stopped, errEnd) || errors.Is(test.stopped, errDown) {
					assert.LessOrEqual(t, tries, 4, "not after it stopped")
				}
			})
		})
	}
}

// Failures that would stop a batch are asked again, also where it was at its end.
func TestTooManyFailuresAtTheEndAsTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		next, err := answers(func(_ context.Context, in int) error {
			time.Sleep(time.Duration(in) * time.Second)
			switch in {
			case 0:
				return nil
			case 3:
				cancel()
			}
			return errDown
		}).Over(ctx, policy, slices.Values(upTo(4)), func(batch.Line[int, int]) bool { return true })
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 1, next)
	})
}

func TestEachDuplicateOfAFailureIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next, err := answers(func(_ context.Context, in int) error {
			time.Sleep(time.Duration(in) * time.Second)
			return map[int]error{1: errDown, 3: errEnd}[in]
		}).Over(t.Context(), policy, slices.Values([]int{0, 1, 2, 1, 3}), func(batch.Line[int, int]) bool { return true })
		require.ErrorIs(t, err, errEnd)
		assert.Equal(t, 3, next, "the failure at 1 was alone, its duplicate was not")
	})
}

// An input that is asked again since the memory was too short has a query of its own.
func TestAnEarlierQueryDoesNotUndoALaterOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		b := answers(func(_ context.Context, in int) error {
			switch in {
			case 7:
				if asked.Add(1) == 1 {
					time.Sleep(2 * time.Second)
					return errDown
				}
				time.Sleep(10 * time.Second)
			case 8:
				time.Sleep(3 * time.Second)
			}
			return nil
		})
		p := policy
		p.Memory, p.Concurrency = 1, 3
		inputs := func(yield func(int) bool) {
			for _, in := range []int{0, 7, 8, 7, 7} {
				if time.Sleep(time.Millisecond); !yield(in) { // so that they are asked in this order
					return
				}
			}
		}
		_, err := b.Over(t.Context(), p, inputs, func(batch.Line[int, int]) bool { return true })
		require.NoError(t, err)
		assert.EqualValues(t, 2, asked.Load(), "the last one waits for the second query")
	})
}

// A failure that comes when its input was forgotten is no answer to a duplicate.
func TestAForgottenFailureIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := answers(func(_ context.Context, in int) error {
			time.Sleep(time.Duration(10-in) * time.Second) // 7 ends while 6 is under way
			return map[int]error{7: errDown}[in]
		})
		p := policy
		p.Memory, p.Concurrency = 1, 2
		failures := 0
		_, err := b.Over(t.Context(), p, slices.Values([]int{9, 7, 6, 7}), func(l batch.Line[int, int]) bool {
			if l.Err != nil {
				failures++
			}
			return true
		})
		require.NoError(t, err)
		assert.Equal(t, 2, failures)
	})
}

func TestTheFirstReasonCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := errors.New("the second")
		b := answers(func(_ context.Context, in int) error {
			time.Sleep(time.Duration(in) * time.Second)
			return []error{nil, errEnd, second}[in]
		})
		b.Judge = func(square int, err error) batch.Verdict {
			v := judge(square, err)
			v.Stop = err != nil
			return v
		}
		_, err := b.Over(t.Context(), policy, slices.Values(upTo(3)), func(batch.Line[int, int]) bool { return true })
		assert.Equal(t, errEnd, err)
	})
}
