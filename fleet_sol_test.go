package fiscope_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// provenFleet returns processes that all had the clave accepted a minute ago, and the store and the authority
// that they share. It ends the bubble's processes.
func provenFleet(t *testing.T, n int, opts ...fiscope.Option) ([]*fiscope.Client, *sharedGuard, *authority) {
	store, a := newSharedGuard(), &authority{right: clave, takes: time.Second, sent: map[string]int{}}
	processes := make([]*fiscope.Client, n)
	for i := range processes {
		processes[i] = store.process(t, a, opts...)
		require.NoError(t, validar(t.Context(), processes[i], clave))
	}
	time.Sleep(time.Minute)
	return processes, store, a
}

// A process that proved a clave learns from the store that it was changed, and not from a refusal of its own.
func TestARefusalThatTheStoreKnowsStopsThoseWhoProvedTheClaveToo(t *testing.T) {
	for name, opts := range map[string][]fiscope.Option{
		"at once":            nil,
		"behind the limiter": {fiscope.WithRateLimit(0.5, 1)},
		"beside a cache":     {fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithCoalescing()},
		"never gated":        {fiscope.WithoutQuotaGate()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				processes, _, a := provenFleet(t, 20, opts...)
				a.change("la-nueva")
				require.ErrorIs(t, validar(t.Context(), processes[0], clave), fiscope.ErrInvalidSOLCredentials)
				together(200, func(i int) {
					assert.ErrorIs(t, validar(t.Context(), processes[i%20], clave), fiscope.ErrSOLCredentialsBlocked)
				})
				assert.Equal(t, 1, a.refused)
				together(20, func(i int) { assert.NoError(t, validar(t.Context(), processes[i], "la-nueva")) })
			})
		})
	}
}

// What was asked before a wait does not count after it.
func TestTheStoreIsAskedOnceAValidationIsAboutToLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		processes, _, a := provenFleet(t, 2, fiscope.WithRateLimit(1.0/60, 1))
		var wg sync.WaitGroup
		time.Sleep(time.Minute)
		require.NoError(t, validar(t.Context(), processes[1], clave))
		wg.Go(func() {
			assert.ErrorIs(t, validar(t.Context(), processes[1], clave), fiscope.ErrSOLCredentialsBlocked, "it waited for the limiter meanwhile")
		})
		time.Sleep(10 * time.Second)
		a.change("la-nueva")
		require.ErrorIs(t, validar(t.Context(), processes[0], clave), fiscope.ErrInvalidSOLCredentials)
		wg.Wait()
		assert.Equal(t, 1, a.refused)
	})
}

// docs/fleet.md says how often the store is asked.
func TestAValidationAsksTheStoreOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, a := newSharedGuard(), &authority{right: clave, takes: time.Second, sent: map[string]int{}}
		client := store.process(t, a)
		asked := func(clave string, n int) (claims, conclusions int) {
			store.claimed, store.verdicts = 0, nil
			together(n, func(int) { _ = validar(t.Context(), client, clave) })
			synctest.Wait()
			return store.claimed, len(store.verdicts)
		}
		for _, test := range []struct {
			name                   string
			idle                   time.Duration
			clave                  string
			n, claims, conclusions int
		}{
			{"of which nothing is known", 0, clave, 1, 1, 1},
			{"that was accepted", time.Minute, clave, 1, 1, 0},
			{"that was accepted, side by side", time.Minute, clave, 100, 100, 0},
			{"that was accepted a while ago", time.Hour, clave, 1, 3, 2},
			{"that is wrong", 0, "equivocada", 1, 1, 1},
			{"that was refused", time.Hour, "equivocada", 1, 0, 0},
		} {
			time.Sleep(test.idle)
			claims, conclusions := asked(test.clave, test.n)
			assert.Equal(t, test.claims, claims, "claims for a clave %s", test.name)
			assert.Equal(t, test.conclusions, conclusions, "conclusions for a clave %s", test.name)
		}
	})
}

// Each process had it accepted within minutes, and the store knows nothing any more: one goes first.
func TestAStoreThatForgotIsToldAnew(t *testing.T) {
	forget := func(store *sharedGuard) {
		store.mu.Lock()
		defer store.mu.Unlock()
		clear(store.kept)
	}
	synctest.Test(t, func(t *testing.T) {
		processes, store, a := provenFleet(t, 10)
		forget(store)
		start := time.Now()
		together(100, func(i int) { assert.NoError(t, validar(t.Context(), processes[i%10], clave)) })
		assert.LessOrEqual(t, time.Since(start), 3*time.Second, "one, and then all")
		forget(store)
		a.change("la-nueva")
		together(100, func(i int) {
			assert.ErrorIs(t, validar(t.Context(), processes[i%10], clave), fiscope.ErrInvalidSOLCredentials)
		})
		assert.Equal(t, 1, a.refused)
	})
}

// A 401 that does not say what it refuses blocks for minutes. Then one goes first, also where the clave had been
// accepted moments before by those who only heard of the refusal.
func TestAfterAnUnexplainedRefusalOfTheFleetOneGoesFirst(t *testing.T) {
	for name, hear := range map[string]bool{"who heard of it": true, "who did not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newSharedGuard()
				far := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict), raw(200, verdict), slowly(raw(401, ""))}}
				one, other := store.process(t, far), store.process(t, far)
				require.NoError(t, validar(t.Context(), one, clave))
				require.NoError(t, validar(t.Context(), other, clave))
				require.ErrorIs(t, validar(t.Context(), one, clave), fiscope.ErrUnauthorized)
				if hear {
					require.ErrorIs(t, validar(t.Context(), other, clave), fiscope.ErrSOLCredentialsBlocked)
				}
				time.Sleep(5 * time.Minute)
				sent := len(far.seen())
				together(100, func(int) { assert.Error(t, validar(t.Context(), other, clave)) })
				assert.Len(t, far.seen(), sent+1)
			})
		})
	}
	t.Run("also where the store is away by then", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newSharedGuard()
			far := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict), raw(200, verdict), slowly(raw(401, ""))}}
			one, other := store.process(t, far), store.process(t, far)
			require.NoError(t, validar(t.Context(), one, clave))
			require.NoError(t, validar(t.Context(), other, clave))
			require.ErrorIs(t, validar(t.Context(), one, clave), fiscope.ErrUnauthorized)
			require.ErrorIs(t, validar(t.Context(), other, clave), fiscope.ErrSOLCredentialsBlocked)
			store.goAway(true)
			time.Sleep(5 * time.Minute)
			sent := len(far.seen())
			together(100, func(int) { assert.Error(t, validar(t.Context(), other, clave)) })
			assert.Len(t, far.seen(), sent+1)
			store.goAway(false)
		})
	})
}

// However long something holds the calls of a fleet, one process sends a clave that nobody knows.
func TestOneProcessSendsAClaveThatNobodyKnows(t *testing.T) {
	for name, test := range map[string]struct {
		opts    []fiscope.Option
		takes   time.Duration
		prepare func(*testing.T, *fiscope.Client)
		reserve func(int) fiscope.Reservation
	}{
		"at once":               {takes: time.Second},
		"a slow authority":      {takes: 29 * time.Second},
		"a slow limiter":        {takes: time.Second, opts: []fiscope.Option{fiscope.WithRateLimit(1.0/120, 1)}, prepare: func(t *testing.T, c *fiscope.Client) { assert.NoError(t, validar(t.Context(), c, clave)) }},
		"a quota that is found": {takes: 10 * time.Second, reserve: waitsFor(50 * time.Second)},
		"a short attempt":       {takes: 100 * time.Millisecond, opts: []fiscope.Option{fiscope.WithTimeout(time.Second, 200*time.Millisecond)}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, a := newSharedGuard(), &authority{right: clave, takes: test.takes, sent: map[string]int{}}
				store.reserve = test.reserve
				var processes []*fiscope.Client
				for range 20 {
					processes = append(processes, store.process(t, a, test.opts...))
				}
				if test.prepare != nil {
					together(20, func(i int) { test.prepare(t, processes[i]) })
				}
				together(200, func(i int) { assert.Error(t, validar(t.Context(), processes[i%20], "equivocada")) })
				assert.Equal(t, 1, a.refused)
			})
		})
	}
}

// waitsFor is a quota that another process finds out within a time.
func waitsFor(d time.Duration) func(int) fiscope.Reservation {
	var once sync.Once
	var until time.Time
	return func(int) fiscope.Reservation {
		once.Do(func() { until = time.Now().Add(d) })
		if time.Now().Before(until) {
			return fiscope.Reservation{Grant: fiscope.QuotaWait}
		}
		return fiscope.Reservation{Token: "t"}
	}
}

// docs/fleet.md says how many refusals a wrong clave costs while the store is away.
func TestWithoutTheStoreAWrongClaveCostsOneRefusalForEachProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, a := newSharedGuard(), &authority{right: clave, takes: time.Second, sent: map[string]int{}}
		store.goAway(true)
		var processes []*fiscope.Client
		for range 10 {
			processes = append(processes, store.process(t, a))
		}
		together(100, func(i int) { assert.Error(t, validar(t.Context(), processes[i%10], "equivocada")) })
		assert.Equal(t, 10, a.refused)
		store.goAway(false)
	})
}

func TestWithSOLStoreRequired(t *testing.T) {
	for name, trouble := range map[string]func(context.Context, *sharedGuard) error{
		"away":    func(context.Context, *sharedGuard) error { return errors.New("redis is away") },
		"hanging": func(ctx context.Context, _ *sharedGuard) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &authority{right: clave, takes: time.Second, sent: map[string]int{}}
				store := &unsure{sharedGuard: newSharedGuard()}
				client := newClient(t, a, fiscope.WithStore(store), fiscope.WithSOLStoreRequired())
				require.NoError(t, validar(t.Context(), client, clave), "a store that is well changes nothing")
				store.trouble = trouble
				for _, of := range []string{clave, "equivocada", clave} {
					err := validar(t.Context(), client, of)
					require.ErrorIs(t, err, fiscope.ErrUnavailable)
					require.ErrorContains(t, err, "nothing was sent")
					require.ErrorContains(t, err, "WithSOLStoreRequired")
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					assert.Zero(t, e.Attempts)
				}
				assert.Equal(t, map[string]int{clave: 1}, a.sent)
				store.trouble = nil
				time.Sleep(time.Minute)
				require.NoError(t, validar(t.Context(), client, clave))
			})
		})
	}
	t.Run("a query needs no word of the store", func(t *testing.T) {
		store := newSharedGuard()
		store.goAway(true)
		client := newClient(t, roundTripper(raw(200, record)), fiscope.WithStore(store), fiscope.WithSOLStoreRequired())
		require.NoError(t, operations["consultar"](t.Context(), client))
	})
	t.Run("without a store", func(t *testing.T) {
		_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithSOLStoreRequired())
		require.ErrorContains(t, err, "WithStore")
	})
}

// unsure is a sharedGuard whose Claim may fail.
type unsure struct {
	*sharedGuard
	trouble func(context.Context, *sharedGuard) error
}

func (s *unsure) Claim(ctx context.Context, name string, hold time.Duration) (fiscope.Claim, error) {
	if s.trouble != nil {
		return fiscope.Claim{}, s.trouble(ctx, s.sharedGuard)
	}
	return s.sharedGuard.Claim(ctx, name, hold)
}

// farGuard is a sharedGuard behind a round trip.
type farGuard struct {
	*sharedGuard
	trip time.Duration
}

func (s *farGuard) Claim(ctx context.Context, name string, hold time.Duration) (fiscope.Claim, error) {
	time.Sleep(s.trip / 2)
	c, err := s.sharedGuard.Claim(ctx, name, hold)
	time.Sleep(s.trip / 2)
	return c, err
}

// What came of a clave that was accepted an hour ago may reach the store between two questions of another process.
func TestWhatIsLearnedBetweenTwoQuestionsToTheStoreCounts(t *testing.T) {
	for name, test := range map[string]struct {
		right   string
		refused int
	}{"a refusal": {"la-nueva", 1}, "an acceptance": {clave, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, a := newSharedGuard(), &authority{right: clave, takes: time.Second, sent: map[string]int{}}
				near := store.process(t, a)
				require.NoError(t, validar(t.Context(), near, clave))
				time.Sleep(time.Hour)
				a.change(test.right)
				processes := []*fiscope.Client{near}
				for i := range 40 { // one of them asks under the first name before, and under the second after
					processes = append(processes, newClient(t, a, fiscope.WithStore(&farGuard{store, time.Duration(i+1) * 10 * time.Millisecond}), fiscope.WithRetry(noRetries())))
				}
				start := time.Now()
				together(len(processes), func(i int) { _ = validar(t.Context(), processes[i], clave) })
				assert.Equal(t, test.refused, a.refused)
				assert.Less(t, time.Since(start), 5*time.Second, "nor is the second name held by one who does not send")
			})
		})
	}
}

// deafGuard is a sharedGuard that cannot be told of a refusal.
type deafGuard struct {
	*sharedGuard
	hears atomic.Bool
}

func (s *deafGuard) Conclude(ctx context.Context, name string, c fiscope.Claim, v fiscope.Verdict, memory time.Duration) error {
	if v == fiscope.VerdictRefused && !s.hears.Load() {
		return errors.New("redis is away")
	}
	return s.sharedGuard.Conclude(ctx, name, c, v, memory)
}

func TestTheSecondNameIsHeldUntilTheStoreKnowsOfTheRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, a := newSharedGuard(), &authority{right: clave, takes: time.Second, sent: map[string]int{}}
		deaf := &deafGuard{sharedGuard: store}
		one, other := newClient(t, a, fiscope.WithStore(deaf), fiscope.WithRetry(noRetries())), store.process(t, a)
		require.NoError(t, validar(t.Context(), one, clave))
		time.Sleep(time.Hour)
		a.change("la-nueva")
		require.ErrorIs(t, validar(t.Context(), one, clave), fiscope.ErrInvalidSOLCredentials)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		require.Error(t, validar(ctx, other, clave))
		assert.Equal(t, 1, a.refused)
		deaf.hears.Store(true)
	})
}
