package fiscope_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/store"
)

// authority accepts one clave, and counts what reaches it.
type authority struct {
	mu       sync.Mutex
	right    string        // the clave that is accepted
	takes    time.Duration // an answer
	refused  int
	underWay int
	together int // at most
}

func (a *authority) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked struct{ ClaveSol string }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.underWay++
	a.together = max(a.together, a.underWay)
	accepted := asked.ClaveSol == a.right
	if !accepted {
		a.refused++
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.underWay--
		a.mu.Unlock()
	}()
	if accepted {
		return after(a.takes, raw(200, verdict))(r)
	}
	return after(a.takes, raw(401, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`))(r)
}

func (a *authority) change(right string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.right = right
}

func withAuthority(t *testing.T, opts ...fiscope.Option) (*fiscope.Client, *authority) {
	a := &authority{right: clave, takes: time.Second}
	return newClient(t, a, opts...), a
}

// processes returns clients that share a Store and an authority.
func processes(t *testing.T, n int, opts ...fiscope.Option) ([]*fiscope.Client, *memoryStore, *authority) {
	s, a := newMemoryStore(), &authority{right: clave, takes: time.Second}
	clients := make([]*fiscope.Client, n)
	for i := range clients {
		clients[i] = withStore(t, s, a, opts...)
	}
	return clients, s, a
}

func away(s *memoryStore)  { s.fails = errServerAway }
func sound(s *memoryStore) { s.fails, s.hangs, s.deaf, s.slow, s.late = nil, false, false, 0, 0 }

// A Store that is away, or lost what it knew, stops no clave that this process saw accepted within a day.
func TestAProvenClaveNeedsNoStore(t *testing.T) {
	for name, change := range map[string]func(*memoryStore){
		"away": away, "hangs": func(s *memoryStore) { s.hangs = true },
		"forgot, and another tries": func(s *memoryStore) {
			for credential := range s.known {
				delete(s.known, credential)
				s.held[credential] = store.Claim{Until: time.Now().Add(time.Hour)}
			}
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			clients, s, _ := processes(t, 2)
			require.NoError(t, validar(t.Context(), clients[0], clave))
			s.set(change)
			start := time.Now()
			for range 3 {
				require.NoError(t, validar(t.Context(), clients[0], clave))
			}
			assert.LessOrEqual(t, time.Since(start), 4*time.Second, "the first waits a second, the next ones nothing")
			if s.hangs || s.fails != nil {
				require.ErrorIs(t, validar(t.Context(), clients[1], clave), fiscope.ErrUnavailable, "another process did not see it")
				time.Sleep(24 * time.Hour)
				require.ErrorIs(t, validar(t.Context(), clients[0], clave), fiscope.ErrUnavailable)
			}
		})
	}
}

// After 15 minutes one process tries a clave first. What it learns counts for all, also that the authority does not say.
func TestOneProcessGoesFirst(t *testing.T) {
	inBubble(t, "a clave that was changed", func(t *testing.T) {
		clients, _, a := processes(t, 3)
		for range 4 { // each time it is renewed
			time.Sleep(4 * time.Minute)
			together(9, func(i int) { assert.NoError(t, validar(t.Context(), clients[i%3], clave)) })
		}
		a.change("nueva")
		time.Sleep(15 * time.Minute)
		together(30, func(i int) {
			assert.ErrorIs(t, validar(t.Context(), clients[i%3], clave), fiscope.ErrInvalidSOLCredentials)
		})
		assert.Equal(t, 1, a.refused)
	})
	inBubble(t, "a clave that is right", func(t *testing.T) {
		clients, s, a := processes(t, 3)
		for range 4 { // the Store's proof is renewed
			require.NoError(t, validar(t.Context(), clients[0], clave))
			time.Sleep(4 * time.Minute)
		}
		start := time.Now()
		together(9, func(int) { assert.NoError(t, validar(t.Context(), clients[1], clave)) })
		assert.Equal(t, time.Second, time.Since(start))
		time.Sleep(time.Hour)
		start, a.together = time.Now(), 0
		together(30, func(i int) { assert.NoError(t, validar(t.Context(), clients[i%3], clave)) })
		assert.Less(t, time.Since(start), 4*time.Second, "one goes first, and then all together")
		assert.GreaterOrEqual(t, a.together, 20)
		assert.Empty(t, s.held)
		time.Sleep(time.Hour)
		for credential := range s.known {
			s.held[credential] = store.Claim{Until: time.Now().Add(time.Hour)} // of a process that died
		}
		a.together = 0
		require.ErrorContains(t, validar(t.Context(), clients[0], clave), "another call is trying this SOL user")
		assert.Zero(t, a.together)
	})
	inBubble(t, "bad hours", func(t *testing.T) {
		s, service := newMemoryStore(), newChanging(raw(200, verdict))
		clients := []*fiscope.Client{withStore(t, s, service), withStore(t, s, service)}
		require.NoError(t, validar(t.Context(), clients[0], clave))
		service.become(slowly(verdicts(t, "error")[0]))
		time.Sleep(time.Hour)
		clients = append(clients, withStore(t, s, service)) // it has seen nothing
		began := time.Now()
		for round := 0; time.Since(began) < 22*time.Hour; round++ { // by turns
			start := time.Now()
			together(12, func(i int) { assert.NoError(t, validar(t.Context(), clients[(round+i%2)%3], clave)) })
			require.Less(t, time.Since(start), 4*time.Second, round)
			time.Sleep(14 * time.Minute)
		}
		time.Sleep(time.Hour)
		for round := range 3 {
			start := time.Now()
			together(12, func(i int) { _ = validar(t.Context(), clients[round], clave) })
			assert.GreaterOrEqual(t, time.Since(start), 12*time.Second, "a day after it was accepted they go one by one")
		}
	})
	inBubble(t, "while the Store is away, one of each process", func(t *testing.T) {
		clients, s, a := processes(t, 3)
		for _, client := range clients[:2] {
			require.NoError(t, validar(t.Context(), client, clave))
		}
		s.set(away)
		time.Sleep(23 * time.Hour)
		together(30, func(i int) {
			err := validar(t.Context(), clients[i%3], clave)
			assert.Equal(t, i%3 == 2, errors.Is(err, fiscope.ErrUnavailable), err)
		})
		a.change("nueva")
		time.Sleep(time.Hour)
		together(30, func(i int) { assert.Error(t, validar(t.Context(), clients[i%3], clave)) })
		assert.Equal(t, 2, a.refused)
	})
}

func TestTheFleetKnowsWhatOneLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clients, _, a := processes(t, 12)
		start := time.Now()
		together(120, func(i int) { assert.NoError(t, validar(t.Context(), clients[i%12], clave)) })
		assert.LessOrEqual(t, time.Since(start), 3*time.Second, "one goes first, and then all together")

		a.change("nueva")
		require.ErrorIs(t, validar(t.Context(), clients[0], clave), fiscope.ErrInvalidSOLCredentials)
		for _, client := range clients {
			err := validar(t.Context(), client, clave)
			require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked, "also where it is proven")
			assert.Contains(t, fiscope.TextoParaUsuario(err), "El usuario o la clave SOL fueron rechazados", "the answer said so, wherever it came")
		}
		assert.Equal(t, 1, a.refused)

		a.change(clave)
		require.NoError(t, clients[3].CPE.Olvidar(t.Context(), credenciales))
		for _, client := range clients {
			require.NoError(t, validar(t.Context(), client, clave), "what one forgets, all do")
		}
		assert.Equal(t, 1, a.refused)
	})
	inBubble(t, "while it is away, Olvidar says so", func(t *testing.T) {
		clients, s, _ := processes(t, 1)
		s.set(away)
		require.ErrorIs(t, clients[0].CPE.Olvidar(t.Context(), credenciales), errServerAway)
	})
}

// The wait after an unexplained refusal doubles also if each validation has a process of its own, until an acceptance.
func TestShortProcessesAndAnUnexplained401(t *testing.T) {
	refused := raw(401, `{"error":"No autorizado","code":"SOL_AUTH_FAILED"}`)
	for name, test := range map[string]struct {
		between func(t *testing.T, client *fiscope.Client, s *changing)
		next    time.Duration // the wait after the third refusal
	}{
		"again": {func(*testing.T, *fiscope.Client, *changing) {}, 20 * time.Minute},
		"after an acceptance": {func(t *testing.T, client *fiscope.Client, s *changing) {
			s.become(raw(200, verdict))
			require.NoError(t, validar(t.Context(), client, clave))
			s.become(refused)
		}, 5 * time.Minute},
		"a while after an acceptance": {func(t *testing.T, client *fiscope.Client, s *changing) {
			s.become(raw(200, verdict))
			require.NoError(t, validar(t.Context(), client, clave))
			time.Sleep(time.Hour)
			s.become(refused)
		}, 5 * time.Minute},
		"after Olvidar": {func(t *testing.T, client *fiscope.Client, _ *changing) {
			require.NoError(t, client.CPE.Olvidar(t.Context(), credenciales))
		}, 5 * time.Minute},
		"another clave": {func(t *testing.T, client *fiscope.Client, _ *changing) {
			require.ErrorIs(t, validar(t.Context(), client, "otra"), fiscope.ErrUnauthorized)
		}, 20 * time.Minute},
	} {
		inBubble(t, name, func(t *testing.T) {
			kept, s := newMemoryStore(), newChanging(refused)
			process := func() *fiscope.Client { return withStore(t, kept, s) }
			blocked := func() time.Duration {
				require.ErrorIs(t, validar(t.Context(), process(), clave), fiscope.ErrUnauthorized)
				var e *fiscope.Error
				require.ErrorAs(t, validar(t.Context(), process(), clave), &e)
				return e.RetryAfter
			}
			for _, wait := range []time.Duration{5 * time.Minute, 10 * time.Minute} {
				require.Equal(t, wait, blocked())
				time.Sleep(wait)
			}
			test.between(t, process(), s)
			require.Equal(t, test.next, blocked())
		})
	}
	inBubble(t, "one a minute", func(t *testing.T) {
		kept, s := newMemoryStore(), newChanging(refused)
		for range 24 * 60 {
			require.Error(t, validar(t.Context(), withStore(t, kept, s), clave))
			time.Sleep(time.Minute)
		}
		assert.EqualValues(t, 9, s.asked.Load(), "as of one process")
	})
	inBubble(t, "who come together are one refusal", func(t *testing.T) {
		kept, s := newMemoryStore(), newChanging(raw(200, verdict))
		clients := []*fiscope.Client{withStore(t, kept, s), withStore(t, kept, s), withStore(t, kept, s)}
		for _, client := range clients {
			require.NoError(t, validar(t.Context(), client, clave))
		}
		s.become(slowly(refused))
		together(30, func(i int) { assert.ErrorIs(t, validar(t.Context(), clients[i%3], clave), fiscope.ErrUnauthorized) })
		time.Sleep(5 * time.Minute)
		require.ErrorIs(t, validar(t.Context(), withStore(t, kept, s), clave), fiscope.ErrUnauthorized)
		var e *fiscope.Error
		require.ErrorAs(t, validar(t.Context(), withStore(t, kept, s), clave), &e)
		assert.Equal(t, 10*time.Minute, e.RetryAfter)
	})
}

func TestTheFleetIgnoresTheCaseOfAUser(t *testing.T) {
	s, other := newMemoryStore(), credenciales
	other.Usuario = "miUser01"
	require.ErrorIs(t, validar(t.Context(), withStore(t, s, &service{answers: []handler{raw(401, contract(t, "validar_401.json"))}}), clave), fiscope.ErrInvalidSOLCredentials)
	client := withStore(t, s, &service{answers: []handler{raw(200, verdict)}})
	require.ErrorIs(t, second(client.CPE.Validar(t.Context(), factura, other)), fiscope.ErrSOLCredentialsBlocked)
}

// A caller that leaves, reaches nobody or dies holds no claim for long.
func TestAClaimIsGivenBack(t *testing.T) {
	inBubble(t, "by an attempt that reached nobody", func(t *testing.T) {
		s := newMemoryStore()
		require.Error(t, validar(t.Context(), withStore(t, s, refusesToDial), clave))
		start := time.Now()
		require.NoError(t, validar(t.Context(), withStore(t, s, raw(200, verdict)), clave))
		assert.Zero(t, time.Since(start))
	})
	t.Run("by one that reached nobody, to the next attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, start := &service{answers: []handler{refusesToDial, raw(200, verdict)}}, time.Now()
			client := withStore(t, newMemoryStore(), s, fiscope.WithMaxRetries(1), fiscope.WithRetry(fiscope.RetryPolicy{Base: -1, RetryUnsentPOST: true}))
			require.NoError(t, validar(t.Context(), client, clave))
			assert.Zero(t, time.Since(start))
		})
	})
	t.Run("by an answer that says nothing of the clave", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, start := newMemoryStore(), time.Now()
			expired := raw(401, `{"error":"La clave venció.","code":"KEY_EXPIRED"}`)
			require.ErrorIs(t, validar(t.Context(), withStore(t, s, &service{answers: []handler{expired}}), clave), fiscope.ErrUnauthorized)
			require.NoError(t, validar(t.Context(), withStore(t, s, &service{answers: []handler{raw(200, verdict)}}), clave))
			assert.Zero(t, time.Since(start))
		})
	})
	for _, slow := range []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, 999 * time.Millisecond} {
		inBubble(t, "by a caller who leaves as it is granted after "+slow.String(), func(t *testing.T) {
			s := newMemoryStore()
			s.slow = slow
			client := withStore(t, s, raw(200, verdict))
			for step := time.Duration(0); step < 4*slow; step += slow / 2 {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(step, cancel)
				_ = validar(ctx, client, clave)
				cancel()
			}
			require.NoError(t, client.Close(t.Context()))
			s.set(sound)
			start := time.Now()
			require.NoError(t, validar(t.Context(), withStore(t, s, raw(200, verdict)), clave))
			assert.Zero(t, time.Since(start))
		})
	}
	inBubble(t, "when it was granted too late", func(t *testing.T) {
		s := newMemoryStore()
		s.enters = func(method string) {
			s.set(func(s *memoryStore) { s.late = map[string]time.Duration{"Claim": 1500 * time.Millisecond}[method] })
		}
		client := withStore(t, s, raw(200, verdict))
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrUnavailable)
		require.NoError(t, client.Close(t.Context()))
		assert.Empty(t, s.held)
		assert.Equal(t, 1, s.token)
	})
	inBubble(t, "by a process that died", func(t *testing.T) {
		s := newMemoryStore()
		dead := withStore(t, s, handler(hangs), fiscope.WithTimeout(time.Second), fiscope.WithCPETimeout(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		go func() { _ = validar(ctx, dead, clave) }()
		synctest.Wait()
		living := withStore(t, s, raw(200, verdict))
		start := time.Now()
		err := validar(t.Context(), living, clave)
		require.ErrorContains(t, err, "another call is trying this SOL user")
		assert.Equal(t, 30*time.Second, time.Since(start))
		time.Sleep(time.Hour)
		require.NoError(t, validar(t.Context(), living, clave))
		cancel()
	})
}
