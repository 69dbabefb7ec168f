package exchange_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/exchange"
)

var policy = exchange.Policy{MaxRetries: 2, Base: time.Second, Cap: 4 * time.Second, MaxRetryAfter: 10 * time.Second}

var (
	unavailable = exchange.Answer{Status: http.StatusServiceUnavailable}
	unsent      = exchange.Answer{Err: errors.New("no connection"), Unsent: true}
	lost        = exchange.Answer{Err: errors.New("connection lost")}
	whole       = exchange.Answer{Status: http.StatusOK}
)

// loop runs attempts that are answered one after the other, the last for good.
func loop(ctx context.Context, t *testing.T, p exchange.Policy, b *exchange.Budget, post bool, answers ...exchange.Answer) (exchange.Result, error) {
	t.Helper()
	l := exchange.Loop{Policy: p, Budget: b, Post: post, Attempt: func(_ context.Context, number int) (exchange.Answer, error) {
		return answers[min(number, len(answers))-1], nil
	}}
	return l.Run(ctx)
}

func TestLoop(t *testing.T) {
	repeats := policy
	repeats.RetryUnsentPOST = true
	for name, test := range map[string]struct {
		policy    exchange.Policy
		post      bool
		answers   []exchange.Answer
		attempts  int
		mayBeSent bool
		fails     bool
	}{
		"answered at once":               {policy, false, []exchange.Answer{whole}, 1, true, false},
		"answered the second time":       {policy, false, []exchange.Answer{unavailable, whole}, 2, true, false},
		"never answered well":            {policy, false, []exchange.Answer{unavailable}, 3, true, false},
		"never sent":                     {policy, false, []exchange.Answer{unsent}, 3, false, true},
		"lost, then never sent":          {policy, false, []exchange.Answer{lost, unsent}, 3, true, true},
		"a POST":                         {policy, true, []exchange.Answer{unsent, whole}, 1, false, true},
		"a POST that may be repeated":    {repeats, true, []exchange.Answer{unsent, whole}, 2, true, false},
		"a POST that may have been sent": {repeats, true, []exchange.Answer{lost, whole}, 1, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				result, err := loop(t.Context(), t, test.policy, new(exchange.Budget), test.post, test.answers...)
				assert.Equal(t, exchange.Result{Attempts: test.attempts, MayBeSent: test.mayBeSent}, result)
				assert.Equal(t, test.fails, err != nil)
			})
		})
	}
}

func TestAnAttemptThatIsNotMadeIsNotPaid(t *testing.T) {
	kept := errors.New("kept")
	for name, run := range map[string]func(t *testing.T, b *exchange.Budget){
		"the wait is cancelled": func(t *testing.T, b *exchange.Budget) {
			ctx, cancel := context.WithCancel(t.Context())
			cancelling := unavailable
			cancelling.Header = http.Header{"Retry-After": {"5"}}
			time.AfterFunc(time.Second, cancel)
			_, err := loop(ctx, t, policy, b, false, cancelling)
			require.ErrorIs(t, err, context.Canceled)
		},
		"a guard keeps it": func(t *testing.T, b *exchange.Budget) {
			l := exchange.Loop{Policy: policy, Budget: b, Attempt: func(_ context.Context, number int) (exchange.Answer, error) {
				if number > 1 {
					return exchange.Answer{}, kept
				}
				return unavailable, nil
			}}
			result, err := l.Run(t.Context())
			require.ErrorIs(t, err, kept)
			assert.Equal(t, 1, result.Attempts)
		},
		"it panics": func(t *testing.T, b *exchange.Budget) {
			l := exchange.Loop{Policy: policy, Budget: b, Attempt: func(_ context.Context, number int) (exchange.Answer, error) {
				if number > 1 {
					panic("boom")
				}
				return unavailable, nil
			}}
			assert.PanicsWithValue(t, "boom", func() { _, _ = l.Run(t.Context()) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b exchange.Budget
				for range 30 {
					run(t, &b)
				}
				left := 0
				for b.Take() {
					left++
				}
				assert.Equal(t, 10, left)
			})
		})
	}
}
