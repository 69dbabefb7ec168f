package batch_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/batch"
)

var batches = flag.Int("batches", 1000, "how many batches TestRandomBatches runs to their end")

// Batches of random inputs and policies, over a service with outages and inputs that fail by themselves, are resumed
// until they end, however each run did: by itself, its context, or a break. No input is lost or delivered twice by a
// run, what is recorded is not asked again, nor what a run may ask but once, and another run skips nothing.
func TestRandomBatches(t *testing.T) {
	for seed := range uint64(*batches) {
		synctest.Test(t, func(t *testing.T) { randomBatch(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomBatch(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 28))
	inputs := make([]int, 1+random.IntN(100))
	for i := range inputs {
		inputs[i] = random.IntN(200) // 0 is one without duplicates
	}
	down, length := time.Duration(random.IntN(30))*time.Second, time.Duration(random.IntN(100))*time.Second
	failure := []error{errDown, errDown, errUnknown, errWrong, errSlower, errOthers}[random.IntN(6)]
	own := []error{nil, nil, errMissing, errBad, errDown, errWrong, errUnknown}[random.IntN(7)]
	s := taking(func(in int) time.Duration { return time.Duration(in*7919%1000) * time.Millisecond }, func(int, int, time.Duration) error { return nil })
	ask := s.Ask
	standsIn := random.IntN(4) == 0 // where the service is away
	unknown := map[int]int{}        // how often a run asked for an input whose answer is unknown
	s.Ask = func(ctx context.Context, in int) (_ int, end error) {
		s.mu.Lock()
		if unknown[in] > 0 {
			unknown[in]++
		}
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if errors.Is(end, errUnknown) && unknown[in] == 0 {
				unknown[in] = 1
			}
		}()
		_, err := ask(ctx, in)
		since := time.Since(s.start)
		switch {
		case err != nil:
			return 0, err
		case since > down && since < down+length && standsIn:
			return fallback, nil
		case since > down && since < down+length:
			return 0, failure
		case in%10 == 7 && own != nil:
			return 0, own
		}
		return in * in, nil
	}
	done := map[string]bool{}
	recorded := random.IntN(2) == 0
	if recorded {
		s.Done = func(key string) (bool, error) { return done[key], nil }
		s.Record = func(key string, answer int, _ error, final bool) error {
			require.True(t, final == false || answer != fallback)
			done[key] = done[key] || final
			return nil
		}
	}
	p := batch.Policy{Concurrency: 1 + random.IntN(12), MaxFailures: []int{-1, 3, 20}[random.IntN(3)]}
	said := fmt.Sprintf("seed %d: %+v, %v for %s after %s, %v, %v", seed, p, failure, length, down, own, inputs)
	delivered := make([]bool, len(inputs))
	for run := 0; p.From < len(inputs); run++ {
		require.Less(t, run, 100, said)
		ctx, cancel := context.WithTimeout(t.Context(), []time.Duration{time.Hour, time.Duration(random.IntN(60)) * time.Second}[random.IntN(2)])
		leaves, lines, next := []int{1000, random.IntN(50)}[random.IntN(2)], map[int]bool{}, p.From
		clear(unknown)
		failures := 0
		end, stopped := s.Over(ctx, p, slices.Values(inputs), func(l batch.Line[int, int]) bool {
			require.False(t, lines[l.Position], "%s: %d twice", said, l.Position)
			require.Equal(t, inputs[l.Position], l.Input, said)
			require.True(t, l.Err != nil || l.Answer == fallback || l.Answer == l.Input*l.Input, "%s: %+v", said, l)
			require.NotErrorIs(t, l.Err, errOthers, said)
			lines[l.Position], delivered[l.Position], next = true, true, l.Next
			for position := range l.Next {
				require.True(t, delivered[position] || done[strconv.Itoa(inputs[position])], "%s: %d is skipped", said, position)
			}
			if errors.Is(l.Err, errDown) && !l.Repeated {
				failures++
			}
			leaves--
			return leaves >= 0
		})
		cancel()
		require.LessOrEqual(t, s.most, p.Concurrency, said)
		if own == nil && p.MaxFailures > 0 && !standsIn {
			require.LessOrEqual(t, failures, 4, "%s: an outage is waited for, unless it takes no more than four of the inputs", said)
		}
		for in, times := range unknown {
			require.True(t, times == 1 || in == 0, "%s: %d is asked again", said, in)
		}
		switch {
		case stopped == nil && leaves >= 0:
			for position := p.From; position < len(inputs); position++ {
				require.True(t, lines[position] || done[strconv.Itoa(inputs[position])], "%s: %d is lost", said, position)
			}
			p.From = len(inputs)
		case stopped == nil:
			p.From = next
		default:
			alike := own != nil && errors.Is(stopped, own) // the last few always fail: nothing distinguishes them from an outage
			require.True(t, alike || errors.Is(stopped, context.DeadlineExceeded) || errors.Is(stopped, errWrong), "%s: %v", said, stopped)
			if alike {
				p.MaxFailures = -1
			}
			p.From = end
			time.Sleep(10 * time.Second)
		}
	}
}
