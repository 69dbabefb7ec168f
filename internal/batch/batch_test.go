package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/internal/batch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errMissing = errors.New("missing") // an answer of the service
	errBad     = errors.New("bad input")
	errWrong   = errors.New("wrong") // no answer, and no outage
	errDown    = errors.New("down")
	errUnknown = errors.New("down, and it may have received it")
	errSlower  = errors.New("slower")
	errPaced   = errors.New("slower, for three seconds")
	errOthers  = errors.New("others go first")
	errEnd     = errors.New("the end")
	errDoubt   = errors.New("the end, or this one's alone")
	errLost    = errors.New("lost")
)

// fallback is an answer instead of the service's.
const fallback = -1

var verdicts = map[error]batch.Verdict{
	nil:        {Outcome: batch.Answered, Final: true},
	errMissing: {Outcome: batch.Answered, Final: true},
	errBad:     {Outcome: batch.Aside},
	errDown:    {Outcome: batch.Away},
	errUnknown: {Outcome: batch.Away, Once: true},
	errSlower:  {Outcome: batch.TooFast, After: 20 * time.Second},
	errPaced:   {Outcome: batch.TooFast, Pause: 3 * time.Second},
	errOthers:  {Outcome: batch.Again},
	errEnd:     {Outcome: batch.Stop},
	errDoubt:   {Outcome: batch.StopFirst},
}

// service is what a batch asks.
type service struct {
	batch.Batch[int, int]
	start time.Time

	mu       sync.Mutex
	asked    []string // inputs, each with the second in which it was asked
	times    map[int]int
	underWay int
	most     int
}

// answering is a service whose f gets the input, how often it was asked, and for how long the batch goes on. Its answer
// is the square of the input.
func answering(f func(in, times int, since time.Duration) error) *service {
	return taking(func(int) time.Duration { return 0 }, f)
}

func taking(takes func(in int) time.Duration, f func(in, times int, since time.Duration) error) *service {
	s := &service{start: time.Now(), times: map[int]int{}}
	s.Batch = batch.Batch[int, int]{
		Ask: func(ctx context.Context, in int) (answer int, err error) {
			s.mu.Lock()
			since := time.Since(s.start)
			s.asked = append(s.asked, fmt.Sprintf("%d@%.0f", in, since.Seconds()))
			s.times[in]++
			times := s.times[in]
			s.underWay++
			s.most = max(s.most, s.underWay)
			s.mu.Unlock()
			defer func() {
				s.mu.Lock()
				s.underWay--
				s.mu.Unlock()
			}()
			select {
			case <-time.After(takes(in)):
			case <-ctx.Done():
				return 0, ctx.Err()
			}
			if err := f(in, times, since); err != nil {
				return 0, err
			}
			return in * in, nil
		},
		Panicked: func(panicked any) error { return fmt.Errorf("%w: %v", errLost, panicked) },
		Key: func(in int) (string, error) {
			if in == 0 {
				return "", errBad
			}
			return strconv.Itoa(in), nil
		},
		Judge: func(answer int, err error) batch.Verdict {
			if answer == fallback {
				return batch.Verdict{Outcome: batch.Away, Fallback: errDown}
			}
			return verdicts[err]
		},
		Copy: func(answer int) int { return answer },
	}
	return s
}

// lines are those of a run: the input of each with its error's text or nothing, in their order.
func (s *service) lines(ctx context.Context, p batch.Policy, inputs ...int) (lines []string, next int, stopped error) {
	last := p.From
	next, stopped = s.Over(ctx, p, slices.Values(inputs), func(l batch.Line[int, int]) bool {
		text := strconv.Itoa(l.Position)
		if l.Repeated {
			text += " again"
		}
		if l.Err != nil {
			text += " " + l.Err.Error()
		}
		lines, last = append(lines, text), l.Next
		return true
	})
	if stopped != nil && len(lines) > 0 && next != last {
		lines = append(lines, fmt.Sprintf("the last line says %d, the end %d", last, next))
	}
	return lines, next, stopped
}

func upTo(n int) []int {
	var all []int
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

func answered(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, strconv.Itoa(i))
	}
	return all
}

// alone asks one input at a time: all is in order.
var alone = batch.Policy{Concurrency: 1, MaxFailures: 20}

// A test of how a batch goes on, or stops: what the service answers to input n, which is at position n-1.
func TestABatch(t *testing.T) {
	from := func(in int, err error) func(int, int, time.Duration) error {
		return func(n, _ int, _ time.Duration) error {
			if n >= in {
				return err
			}
			return nil
		}
	}
	until := func(in int, end time.Duration, err error) func(int, int, time.Duration) error {
		return func(n, _ int, since time.Duration) error {
			if n >= in && since < end {
				return err
			}
			return nil
		}
	}
	of := func(answers map[int]error) func(int, int, time.Duration) error {
		return func(n, _ int, _ time.Duration) error { return answers[n] }
	}
	for name, test := range map[string]struct {
		answer  func(in, times int, since time.Duration) error
		policy  batch.Policy
		lines   []string
		next    int
		stopped error
		takes   time.Duration
		asked   []string // nil for once each
	}{
		"nothing fails":             {of(nil), alone, answered(0, 9), 9, nil, 0, nil},
		"some are missing":          {of(map[int]error{4: errMissing}), alone, []string{"0", "1", "2", "3 missing", "4", "5", "6", "7", "8"}, 9, nil, 0, nil},
		"one fails between others":  {of(map[int]error{4: errDown}), alone, []string{"0", "1", "2", "4", "3 down", "5", "6", "7", "8"}, 9, nil, 0, nil},
		"two do":                    {of(map[int]error{4: errDown, 5: errDown}), alone, []string{"0", "1", "2", "5", "3 down", "4 down", "6", "7", "8"}, 9, nil, 0, nil},
		"the last fails":            {of(map[int]error{9: errDown}), alone, append(answered(0, 8), "8 down"), 9, nil, 0, nil},
		"bad ones":                  {of(map[int]error{1: errBad, 4: errBad}), alone, []string{"0 bad input", "1", "2", "3 bad input", "4", "5", "6", "7", "8"}, 9, nil, 0, nil},
		"what all others would get": {from(5, errEnd), alone, answered(0, 4), 4, errEnd, 0, answered(1, 6)},
		"... after failures":        {of(map[int]error{4: errDown, 5: errEnd}), alone, answered(0, 3), 3, errEnd, 0, answered(1, 6)},
		"... in doubt, at first":    {from(1, errDoubt), alone, nil, 0, errDoubt, 0, answered(1, 2)},
		"... in doubt, after one":   {of(map[int]error{4: errDoubt}), alone, []string{"0", "1", "2", "3 the end, or this one's alone", "4", "5", "6", "7", "8"}, 9, nil, 0, nil},
		"an outage of ten seconds": {
			until(5, 10*time.Second, errDown), alone, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"}, 9, nil, 15 * time.Second,
			[]string{"@0", "@0", "@0", "@0", "@0", "@0", "@0", "@0", "@0", "@1", "@3", "@7", "@15", "@15", "@15", "@15", "@15"},
		},
		"... of the last few": {
			until(6, 10*time.Second, errDown), alone, []string{"0", "1", "2", "3", "4", "5 down", "6 down", "7 down", "8 down"}, 9, nil, 0, nil,
		},
		"... that nobody waits for": {
			until(7, 10*time.Second, errDown), batch.Policy{Concurrency: 1, MaxFailures: -1}, append(answered(0, 6), "6 down", "7 down", "8 down"), 6, nil, 0, nil,
		},
		"one failure is too many": {
			until(7, time.Second, errDown), batch.Policy{Concurrency: 1, MaxFailures: 1}, []string{"0", "1", "2", "3", "4", "5", "7", "6", "8"}, 9, nil, time.Second,
			[]string{"1@0", "2@0", "3@0", "4@0", "5@0", "6@0", "7@0", "8@1", "7@1", "9@1"},
		},
		"an outage without end":  {from(5, errDown), alone, append(answered(0, 4), "4 down", "5 down", "6 down", "7 down", "8 down"), 4, nil, 123 * time.Second, []string{}},
		"... from the beginning": {from(1, errDown), alone, nil, 0, errDown, 10 * time.Minute, []string{}},
		"... whose answers are unknown": {
			from(5, errUnknown), alone,
			append(answered(0, 4), "4 down, and it may have received it", "5 down, and it may have received it", "6 down, and it may have received it",
				"7 down, and it may have received it", "8 down, and it may have received it"), 9, nil, time.Second, nil,
		},
		"other failures in a row": {
			from(5, errWrong), batch.Policy{Concurrency: 1, MaxFailures: 4}, append(answered(0, 4), "4 wrong", "5 wrong", "6 wrong", "7 wrong"), 4, errWrong, 0, answered(1, 9),
		},
		"... of which one stops": {from(5, errWrong), batch.Policy{Concurrency: 1, MaxFailures: 1}, append(answered(0, 4), "4 wrong"), 4, errWrong, 0, answered(1, 6)},
		"... and one answer": {
			of(map[int]error{1: errWrong, 2: errWrong, 4: errWrong, 5: errWrong, 7: errWrong}), batch.Policy{Concurrency: 1, MaxFailures: 3},
			[]string{"0 wrong", "1 wrong", "2", "3 wrong", "4 wrong", "5", "6 wrong", "7", "8"}, 9, nil, 0, nil,
		},
		"... that stop nobody": {
			from(5, errWrong), batch.Policy{Concurrency: 1, MaxFailures: -1}, append(answered(0, 4), "4 wrong", "5 wrong", "6 wrong", "7 wrong", "8 wrong"), 4, nil, 0, nil,
		},
		"too fast": {
			func(in, times int, _ time.Duration) error {
				return map[bool]error{true: errSlower}[in == 5 && times < 3]
			},
			alone, []string{"0", "1", "2", "3", "5", "4", "6", "7", "8"}, 9, nil, 40 * time.Second,
			[]string{"1@0", "2@0", "3@0", "4@0", "5@0", "5@20", "6@40", "5@40", "7@40", "8@40", "9@40"},
		},
		"too fast, with the pause given": {
			func(in, times int, _ time.Duration) error {
				return map[bool]error{true: errPaced}[in == 5 && times < 6]
			},
			alone, []string{"0", "1", "2", "3", "5", "6", "4", "7", "8"}, 9, nil, 15 * time.Second,
			[]string{"1@0", "2@0", "3@0", "4@0", "5@0", "5@3", "6@6", "5@6", "5@9", "7@12", "5@12", "5@15", "8@15", "9@15"},
		},
		"too fast, one input":   {of(map[int]error{5: errSlower}), alone, []string{"0", "1", "2", "3", "4 slower", "5", "6", "7", "8"}, 4, nil, 200 * time.Second, []string{}},
		"too fast, every input": {from(5, errSlower), batch.Policy{Concurrency: 1, MaxFailures: -1}, answered(0, 4), 4, errSlower, 10 * time.Minute, []string{}},
		"others go first": {
			func(in, times int, _ time.Duration) error {
				return map[bool]error{true: errOthers}[in == 5 && times < 30]
			},
			alone, answered(0, 9), 9, nil, 0, []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answering(test.answer)
				lines, next, stopped := s.lines(t.Context(), test.policy, upTo(9)...)
				require.ErrorIs(t, stopped, test.stopped)
				if test.takes > time.Minute || strings.HasPrefix(strings.Join(test.asked, ""), "@") {
					slices.Sort(lines) // each once, in whatever order
					slices.Sort(test.lines)
				}
				assert.Equal(t, test.lines, lines)
				assert.Equal(t, test.next, next)
				if test.takes > 0 {
					assert.Equal(t, test.takes, time.Since(s.start))
				}
				switch {
				case test.asked == nil:
					for in, times := range s.times {
						assert.Equal(t, 1, times, in)
					}
				case len(test.asked) > 0 && len(test.asked[0]) == 1: // at whatever time
					assert.Len(t, s.times, len(test.asked))
				case len(test.asked) > 0:
					for i, at := range test.asked {
						assert.True(t, i < len(s.asked) && strings.HasSuffix(s.asked[i], at), s.asked)
					}
					assert.Len(t, s.asked, len(test.asked))
				}
			})
		})
	}
}

// A few that always fail are no outage: each is delivered as failed, and the batch goes on.
func TestAFewThatAlwaysFail(t *testing.T) {
	for failure, most := range map[error]int{errDown: 8, errSlower: 2} {
		for few := 1; few <= most; few++ {
			synctest.Test(t, func(t *testing.T) {
				s := taking(func(in int) time.Duration { return time.Duration(in%3+1) * time.Second }, func(in, _ int, _ time.Duration) error {
					return map[bool]error{true: failure}[in > 20 && in <= 20+few]
				})
				lines, _, stopped := s.lines(t.Context(), wide, upTo(200)...)
				require.NoError(t, stopped, "%d of %v: %v", few, failure, s.asked)
				assert.Len(t, lines, 200)
				for in := range few {
					assert.Contains(t, lines, fmt.Sprint(20+in, " ", failure))
				}
			})
		}
	}
}

// An outage that returns while inputs wait since the first one is noticed as soon.
func TestAnOutageThatReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var again atomic.Int64
		s := taking(func(int) time.Duration { return 100 * time.Millisecond }, func(_, _ int, since time.Duration) error {
			if since > 17*time.Second {
				again.Add(1)
			}
			return map[bool]error{true: errDown}[since > time.Second && since < 16*time.Second || since > 17*time.Second]
		})
		_, _, stopped := s.lines(t.Context(), batch.Policy{Concurrency: 8, MaxFailures: 20}, upTo(1200)...)
		require.ErrorIs(t, stopped, errDown)
		assert.Less(t, again.Load(), int64(50))
	})
}

// To read ahead does not mean to wait for inputs that are still to come.
func TestAPauseWhileInputsComeSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := answering(func(in, _ int, since time.Duration) error {
			if in > 100 && since < time.Minute {
				return errDown
			}
			return nil
		})
		slow := func(yield func(int) bool) {
			for in := range 130 {
				if in > 105 {
					time.Sleep(time.Minute)
				}
				if !yield(in + 1) {
					return
				}
			}
		}
		first := time.Duration(0)
		_, err := s.Over(t.Context(), alone, slow, func(l batch.Line[int, int]) bool {
			if l.Position >= 100 && first == 0 {
				first = time.Since(s.start)
			}
			return true
		})
		require.NoError(t, err)
		assert.Less(t, first, 3*time.Minute)
	})
}

// At the end of the inputs only what was refused is given up early: what may not be repeated waits for the outage's end.
func TestTheLastFew(t *testing.T) {
	for _, test := range []struct {
		failure error
		of      int
		lines   int
		stopped error
	}{
		{errDown, 8, 8, nil}, {errDown, 9, 0, errDown}, {errUnknown, 20, 18, errUnknown}, {errSlower, 8, 0, errSlower},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := taking(func(int) time.Duration { return 10 * time.Second }, always(test.failure))
			if test.stopped == test.failure && test.failure != errUnknown { //nolint:errorlint // it is the very one
				s = answering(always(test.failure))
			}
			lines, _, stopped := s.lines(t.Context(), wide, upTo(test.of)...)
			require.ErrorIs(t, stopped, test.stopped)
			assert.Len(t, lines, test.lines, test.failure)
			assert.LessOrEqual(t, len(s.asked), 20)
			if test.stopped == nil {
				assert.Less(t, time.Since(s.start), 5*time.Minute, "they go together")
			}
		})
	}
}

// With nothing left to read, probes find what is answered between two rows that fail.
func TestAPauseProbesWhatItSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := func(in int) bool { return in > 20 && in <= 40 || in > 90 && in <= 100 || in > 190 }
		s := answering(func(in, _ int, _ time.Duration) error {
			return map[bool]error{true: errDown}[fails(in)]
		})
		lines, _, _ := s.lines(t.Context(), alone, upTo(220)...)
		for in := range 220 {
			assert.True(t, fails(in+1) || slices.Contains(lines, strconv.Itoa(in)), in)
		}
	})
}
