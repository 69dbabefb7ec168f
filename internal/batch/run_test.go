package batch_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/batch"
)

var wide = batch.Policy{Concurrency: 4, MaxFailures: 20}

func always(err error) func(int, int, time.Duration) error {
	return func(int, int, time.Duration) error { return err }
}

func aSecond(int) time.Duration { return time.Second }

// In an outage one goes alone, however many were under way, and then a few at a time again.
func TestAnOutageOfManyAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := taking(aSecond, func(in, _ int, since time.Duration) error {
			if since >= 5*time.Second && since < 15*time.Second {
				return errDown
			}
			return nil
		})
		lines, _, err := s.lines(t.Context(), wide, upTo(200)...)
		require.NoError(t, err)
		assert.Len(t, lines, 200)
		for _, line := range lines {
			assert.NotContains(t, line, "down")
		}
		assert.LessOrEqual(t, len(s.asked), 200+8+3, "eight were asked before, and three were asked alone in vain")
	})
}

// Each pause is waited for once, whatever is delivered meanwhile, and ten minutes in all.
func TestAnswersThatStandInForFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := answering(always(nil))
		ask, recorded := s.Ask, 0
		s.Ask = func(ctx context.Context, in int) (int, error) {
			answer, err := ask(ctx, in)
			if in > 5 {
				answer = fallback
			}
			return answer, err
		}
		s.Record = func(_ string, _ int, _ error, final bool) error {
			if final {
				recorded++
			}
			return nil
		}
		lines, next, err := s.lines(t.Context(), alone, upTo(100)...)
		require.ErrorIs(t, err, errDown)
		assert.Equal(t, 10*time.Minute, time.Since(s.start))
		assert.Equal(t, answered(0, 11), lines[:11])
		assert.Greater(t, len(lines), 15)
		assert.Equal(t, 5, next, "they are asked again, with a From alone too")
		assert.Equal(t, 5, recorded)

		s.start = time.Now()
		lines, _, err = s.lines(t.Context(), batch.Policy{Concurrency: 1, MaxFailures: -1}, upTo(100)...)
		require.NoError(t, err)
		assert.Len(t, lines, 100)
		assert.Zero(t, time.Since(s.start))
	})
}

func TestDuplicates(t *testing.T) {
	for name, test := range map[string]struct {
		answer error
		takes  time.Duration
		inputs []int
		lines  []string
		asked  int
	}{
		"later":                        {nil, 0, []int{7, 8, 7, 8}, []string{"0", "1", "2 again", "3 again"}, 2},
		"while the first is asked":     {nil, time.Second, []int{1, 7, 7, 8, 7}, []string{"0", "1", "2 again", "4 again", "3"}, 3},
		"of what is missing":           {errMissing, 0, []int{7, 7}, []string{"0 missing", "1 again missing"}, 1},
		"of what failed":               {errWrong, 0, []int{7, 7}, []string{"0 wrong", "1 wrong"}, 2},
		"of what may not be repeated":  {errUnknown, 0, []int{7, 7}, []string{"0 down, and it may have received it", "1 again down, and it may have received it"}, 1},
		"of what may have none of its": {nil, 0, []int{0, 0}, []string{"0", "1"}, 2},
		"of what waits for an outage":  {errDown, 0, []int{7, 7}, []string{"0 down", "1 again down"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := taking(func(in int) time.Duration { return test.takes * time.Duration(in) }, always(test.answer))
				copies := 0
				s.Copy = func(answer int) int { copies++; return answer }
				lines, _, err := s.lines(t.Context(), wide, test.inputs...)
				require.NoError(t, err)
				assert.ElementsMatch(t, test.lines, lines)
				assert.Len(t, s.asked, test.asked)
				assert.GreaterOrEqual(t, copies, len(test.inputs))
			})
		})
	}
	t.Run("of what is forgotten", func(t *testing.T) {
		s := answering(always(nil))
		_, _, err := s.lines(t.Context(), wide, slices.Concat(upTo(10_001), []int{10_001, 2, 1})...)
		require.NoError(t, err)
		assert.Len(t, s.asked, 10_002)
		assert.Equal(t, 2, s.times[1], "10 001 others came in between")
	})
}

// One slow input must not let the others run away from it.
func TestTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := taking(func(in int) time.Duration { return map[int]time.Duration{2: time.Hour}[in] }, always(nil))
		farthest := 0
		_, err := s.Over(t.Context(), batch.Policy{Concurrency: math.MaxInt, MaxFailures: 20}, slices.Values(upTo(3000)), func(l batch.Line[int, int]) bool {
			if l.Next <= 1 {
				farthest = max(farthest, l.Position)
			}
			return true
		})
		require.NoError(t, err)
		assert.Equal(t, 1000, farthest)
	})
}

func TestFromSkips(t *testing.T) {
	for from, want := range map[int][]string{15: answered(15, 20), 20: nil, 30: nil} {
		p := alone
		p.From = from
		s := answering(always(nil))
		lines, next, err := s.lines(t.Context(), p, upTo(20)...)
		require.NoError(t, err)
		assert.Equal(t, want, lines)
		assert.Equal(t, max(20, from), next)
		assert.Len(t, s.asked, len(want))
	}
}

func TestAContextThatEnds(t *testing.T) {
	why := errors.New("the operator went home")
	for name, test := range map[string]struct {
		at     int // the input at whose answer it ends
		answer error
		inputs int
		lines  []string
		next   int
	}{
		"within":             {11, context.Canceled, 20, answered(0, 10), 10},
		"with an answer":     {11, nil, 20, answered(0, 11), 11},
		"with a failure":     {11, errDown, 20, answered(0, 10), 10},
		"with a last reason": {20, errEnd, 20, answered(0, 19), 19},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			lines, next, err := answering(func(in, _ int, _ time.Duration) error {
				if in == test.at {
					cancel(why)
					return test.answer
				}
				return nil
			}).lines(ctx, alone, upTo(test.inputs)...)
			require.Equal(t, context.Canceled, err, "the first reason counts")
			assert.Equal(t, test.lines, lines)
			assert.Equal(t, test.next, next)
		})
	}
	t.Run("when all was delivered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			lines := 0
			next, err := taking(aSecond, always(nil)).Over(ctx, wide, slices.Values(upTo(9)), func(batch.Line[int, int]) bool {
				if lines++; lines == 9 {
					cancel()
				}
				return true
			})
			require.NoError(t, err)
			assert.Equal(t, 9, next)
		})
	})
	t.Run("and a consumer that leaves then", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s, lines := answering(always(nil)), 0
			s.Ask = func(context.Context, int) (int, error) { time.Sleep(time.Second); return 1, nil }
			_, err := s.Over(ctx, wide, slices.Values(upTo(9)), func(batch.Line[int, int]) bool {
				if lines++; lines == 2 {
					cancel()
				}
				return lines < 3
			})
			require.NoError(t, err, "no error is yielded to who has left")
			assert.Equal(t, 3, lines)
		})
	})
	t.Run("while it waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			s := answering(always(errDown))
			lines, next, err := s.lines(ctx, wide, upTo(20)...)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, 20*time.Second, time.Since(s.start))
			assert.Empty(t, lines)
			assert.Zero(t, next)
		})
	})
}

func TestToBreakOutCancelsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := taking(func(in int) time.Duration { return time.Duration(in-1) * time.Hour }, always(nil))
		closed := false
		inputs := func(yield func(int) bool) {
			defer func() { closed = true }()
			slices.Values(upTo(20))(yield)
		}
		next, err := s.Over(t.Context(), wide, inputs, func(l batch.Line[int, int]) bool { return l.Position == 0 })
		require.NoError(t, err)
		assert.Equal(t, 2, next)
		assert.Equal(t, time.Hour, time.Since(s.start))
		assert.Zero(t, s.underWay)
		assert.True(t, closed)
	})
}

func TestAQueryThatPanicsIsAFailureOfItsInput(t *testing.T) {
	for name, leave := range map[string]func(){"a panic": func() { panic("boom") }, "a Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lost := 0
				s := taking(aSecond, func(in, _ int, _ time.Duration) error {
					if in%3 == 0 {
						leave()
					}
					return nil
				})
				_, err := s.Over(t.Context(), wide, slices.Values(upTo(30)), func(l batch.Line[int, int]) bool {
					assert.Equal(t, l.Input%3 == 0, errors.Is(l.Err, errLost))
					if l.Err != nil {
						lost++
						assert.Equal(t, map[string]string{"a panic": "lost: boom", "a Goexit": "lost: <nil>"}[name], l.Err.Error())
					}
					return true
				})
				require.NoError(t, err)
				assert.Equal(t, 10, lost)
			})
		})
	}
}

// A consumer or an input that panics ends its batch, which leaves no goroutine.
func TestALoopThatPanicsEndsItsBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := taking(aSecond, always(nil))
		over := func(inputs iter.Seq[int], yield func(batch.Line[int, int]) bool) func() {
			return func() { _, _ = s.Over(t.Context(), wide, inputs, yield) }
		}
		assert.PanicsWithValue(t, "consumer", over(slices.Values(upTo(20)), func(l batch.Line[int, int]) bool {
			if l.Position == 3 {
				panic("consumer")
			}
			return true
		}))
		assert.PanicsWithValue(t, "input", over(func(yield func(int) bool) {
			_ = yield(1) && yield(2)
			panic("input")
		}, func(batch.Line[int, int]) bool { return true }))
		assert.Zero(t, s.underWay)
	})
}

func TestWhatIsDoneIsSkipped(t *testing.T) {
	errFull := errors.New("full")
	for name, test := range map[string]struct {
		inputs   []int
		answer   error
		fails    string // the key that cannot be recorded
		blind    error
		lines    []string
		recorded []string
		stopped  error
		next     int
	}{
		"some":                         {[]int{1, 10, 11, 2, 10}, nil, "", nil, []string{"0", "3"}, []string{"1", "2"}, nil, 5},
		"all":                          {[]int{10, 10, 11}, nil, "", nil, nil, nil, nil, 3},
		"a repeated one":               {[]int{1, 1, 2}, nil, "", nil, []string{"0", "1 again", "2"}, []string{"1", "2"}, nil, 3},
		"what is no input":             {[]int{0, 1}, nil, "", nil, []string{"0", "1"}, []string{"1"}, nil, 2},
		"missing":                      {[]int{1, 2}, errMissing, "", nil, []string{"0 missing", "1 missing"}, []string{"1 missing", "2 missing"}, nil, 2},
		"failures are not final":       {[]int{1, 2}, errWrong, "", nil, []string{"0 wrong", "1 wrong"}, []string{"1 wrong again", "2 wrong again"}, nil, 0},
		"one that cannot be recorded":  {[]int{1, 2, 3, 4}, nil, "3", nil, answered(0, 3), []string{"1", "2"}, errFull, 3},
		"... the last":                 {[]int{1, 2, 3, 4}, nil, "4", nil, answered(0, 4), []string{"1", "2", "3"}, errFull, 4},
		"what is done cannot be known": {[]int{1, 2, 3, 4}, nil, "", errFull, nil, nil, errFull, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(always(test.answer))
			var recorded []string
			s.Done = func(key string) (bool, error) { return len(key) == 2, test.blind }
			s.Record = func(key string, answer int, err error, final bool) error {
				in, _ := strconv.Atoi(key)
				switch {
				case key == test.fails:
					return errFull
				case err == nil:
					assert.Equal(t, in*in, answer)
				default:
					key += " " + err.Error()
				}
				if !final {
					key += " again"
				}
				recorded = append(recorded, key)
				return nil
			}
			lines, next, err := s.lines(t.Context(), alone, test.inputs...)
			require.ErrorIs(t, err, test.stopped)
			assert.Equal(t, test.lines, lines)
			assert.Equal(t, test.next, next)
			assert.Equal(t, test.recorded, recorded)
		})
	}
	t.Run("an answer does not wait for what is done", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := taking(aSecond, always(nil))
			read := 0
			s.Done = func(key string) (bool, error) { read++; time.Sleep(time.Second); return len(key) == 2, nil }
			_, err := s.Over(t.Context(), wide, slices.Values(upTo(99)), func(l batch.Line[int, int]) bool {
				assert.Less(t, read, 12)
				return true
			})
			require.NoError(t, err)
		})
	})
	t.Run("an input is recorded when its line was taken", func(t *testing.T) {
		s := answering(always(nil))
		var recorded atomic.Int64
		s.Record = func(string, int, error, bool) error { recorded.Add(1); return nil }
		_, err := s.Over(t.Context(), alone, slices.Values(upTo(20)), func(l batch.Line[int, int]) bool {
			assert.EqualValues(t, l.Position, recorded.Load())
			return l.Position < 9
		})
		require.NoError(t, err)
		assert.EqualValues(t, 9, recorded.Load(), "the consumer left at the tenth")
	})
}

// The consumer's pace is that of the queries.
func TestASlowConsumerHoldsTheQueriesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := taking(aSecond, always(nil))
		taken := 0
		_, err := s.Over(t.Context(), wide, slices.Values(upTo(100)), func(batch.Line[int, int]) bool {
			taken++
			time.Sleep(time.Minute)
			s.mu.Lock()
			defer s.mu.Unlock()
			return assert.LessOrEqual(t, len(s.asked), taken+4)
		})
		require.NoError(t, err)
		assert.Equal(t, 100, taken)
	})
}
