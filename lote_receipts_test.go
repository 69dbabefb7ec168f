package fiscope_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope"
)

// receipts are n different ones.
func receipts(n int) iter.Seq[fiscope.Comprobante] {
	return func(yield func(fiscope.Comprobante) bool) {
		c := factura
		for range n {
			if c.Numero++; !yield(c) {
				return
			}
		}
	}
}

// allReceipts takes the lines of a batch, each as its position and error, and how it stopped.
func allReceipts(seq iter.Seq2[fiscope.DeLote[fiscope.Comprobante, fiscope.ResultadoCPE], error]) (lines map[int]error, stopped *fiscope.LoteDetenido) {
	lines = map[int]error{}
	for l, err := range seq {
		if !errors.As(err, &stopped) {
			lines[l.Posicion] = err
		}
	}
	return lines, stopped
}

// A Store takes 2 seconds to say whether a query may be sent, and the deadline leaves it no more than half of what
// is left: the third query has 3 seconds.
func TestWhatADeadlineLeavesToAStoreIsNotDelivered(t *testing.T) {
	takes := func(context.Context) { time.Sleep(2 * time.Second) }
	for name, opts := range map[string][]fiscope.Option{
		"alone": nil, "coalesced": {fiscope.WithCoalescing()}, "cached": {fiscope.WithCache(fiscope.CachePolicy{})},
	} {
		t.Run("taxpayers, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &exact{troubled: newTroubled(map[string]func(context.Context){"Reserve": takes})}
				client := newClient(t, newPadron(t), append(opts, fiscope.WithStore(store))...)
				ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
				defer cancel()
				lines, stopped := all(client.Contribuyentes.ConsultarLote(ctx, rucs(9), fiscope.LotePolicy{Concurrency: 1}))
				assert.Equal(t, upTo(0, 2), positions(lines))
				require.ErrorIs(t, stopped, context.DeadlineExceeded)
				require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
				assert.Equal(t, 2, stopped.Posicion)
			})
		})
	}
	t.Run("receipts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := newClient(t, roundTripper(raw(200, verdict)), fiscope.WithStore(newTroubled(map[string]func(context.Context){"Claim": takes})), fiscope.WithSOLStoreRequired())
			ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
			defer cancel()
			lines, stopped := allReceipts(client.CPE.ValidarLote(ctx, receipts(9), credenciales, fiscope.LotePolicy{Concurrency: 1}))
			assert.Equal(t, map[int]error{0: nil, 1: nil}, lines)
			require.ErrorIs(t, stopped, context.DeadlineExceeded)
			require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
			assert.Equal(t, 2, stopped.Posicion)
		})
	})
	t.Run("but where it is away it is a failure", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newSharedGuard()
			store.goAway(true)
			client := newClient(t, roundTripper(raw(200, verdict)), fiscope.WithStore(store), fiscope.WithSOLStoreRequired())
			ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
			defer cancel()
			lines, stopped := allReceipts(client.CPE.ValidarLote(ctx, receipts(9), credenciales, fiscope.LotePolicy{MaxFailures: 3}))
			assert.Len(t, lines, 3)
			require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
			require.NotErrorIs(t, stopped, context.DeadlineExceeded)
			assert.Zero(t, stopped.Posicion)
		})
	})
}

// Who shares a query and has more time than the one who began it waits on for the Store.
func TestTheDeadlineOfOneCallerEndsNoOthersWaitForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &exact{troubled: newTroubled(map[string]func(context.Context){"Reserve": func(context.Context) { time.Sleep(2 * time.Second) }})}
		p := newPadron(t)
		client := newClient(t, p, fiscope.WithStore(store), fiscope.WithCoalescing())
		var wg sync.WaitGroup
		for deadline, want := range map[time.Duration]error{3 * time.Second: context.DeadlineExceeded, time.Minute: nil} {
			wg.Go(func() {
				time.Sleep(deadline / 1000) // the shorter one begins
				ctx, cancel := context.WithTimeout(t.Context(), deadline)
				defer cancel()
				_, err := client.Contribuyentes.Consultar(ctx, rucSUNAT)
				assert.ErrorIs(t, err, want)
			})
		}
		wg.Wait()
		assert.Equal(t, 1, p.sent())
	})
}

// A validation that waited in vain for another one with the same credential was not sent.
func TestAReceiptThatWaitsForAnotherIsAskedInItsTurn(t *testing.T) {
	unproven := after(20*time.Second, verdicts(t, "error")[0])
	for name, test := range map[string]struct {
		answers []func(*http.Request) (*http.Response, error) // the last for good
		busy    time.Duration                                 // for which another process tries the credential
		failed  int
	}{
		"the credential is not proven": {[]func(*http.Request) (*http.Response, error){unproven}, 0, 0},
		"the first gets no answer":     {[]func(*http.Request) (*http.Response, error){after(time.Hour, nil), unproven}, 0, 1},
		"one gets none later":          {[]func(*http.Request) (*http.Response, error){raw(200, verdict), after(time.Hour, nil), unproven}, 0, 1},
		"another process tries it":     {[]func(*http.Request) (*http.Response, error){raw(200, verdict)}, 10 * time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFleetStore()
				if test.busy > 0 {
					store.claims = []fiscope.Claim{{State: fiscope.ClaimBusy}}
					time.AfterFunc(test.busy, func() {
						store.mu.Lock()
						defer store.mu.Unlock()
						store.claims = nil
					})
				}
				s := &service{answers: test.answers}
				client := newClient(t, s, fiscope.WithStore(store), fiscope.WithRetry(noRetries()))
				lines, stopped := allReceipts(client.CPE.ValidarLote(t.Context(), receipts(20), credenciales, fiscope.LotePolicy{}))
				require.Nil(t, stopped)
				assert.Len(t, lines, 20)
				assert.Len(t, s.seen(), 20, "each is sent")
				for _, err := range lines {
					if err != nil {
						test.failed--
						require.ErrorContains(t, err, "may have received it")
					}
				}
				assert.Zero(t, test.failed)
			})
		})
	}
	t.Run("an outage stops it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, verdict), after(time.Hour, nil)}}
			lines, stopped := allReceipts(newClient(t, s).CPE.ValidarLote(t.Context(), receipts(90), credenciales, fiscope.LotePolicy{MaxFailures: 10}))
			require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
			assert.Equal(t, 1, stopped.Posicion)
			assert.Len(t, lines, len(s.seen()), "what waited is not delivered")
			for _, err := range lines {
				if err != nil {
					require.ErrorContains(t, err, "may have received it")
				}
			}
		})
	})
}

// patientGuard is a sharedGuard that takes its time.
type patientGuard struct {
	*sharedGuard
	wait func()
}

func (s *patientGuard) Claim(ctx context.Context, name string, hold time.Duration) (fiscope.Claim, error) {
	s.wait()
	return s.sharedGuard.Claim(ctx, name, hold)
}

func (s *patientGuard) Reserve(ctx context.Context, account string, keep int) (fiscope.Reservation, error) {
	s.wait()
	return s.sharedGuard.Reserve(ctx, account, keep)
}

// unsteadySUNAT is an authority that takes its time, and sometimes says nothing, until it is made steady.
type unsteadySUNAT struct {
	mu     sync.Mutex
	random *rand.Rand
	slow   int // milliseconds that it takes at most
	silent int // requests of a hundred that it does not answer
	steady bool
	paid   map[string]int // answers by receipt
}

// draw returns a random number below n, and whether there is trouble.
func (u *unsteadySUNAT) draw(n int) (random int, trouble bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.random.IntN(n), !u.steady
}

func (u *unsteadySUNAT) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked fiscope.Comprobante
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	wait, _ := u.draw(u.slow)
	if n, trouble := u.draw(100); trouble && n < u.silent {
		wait = int(time.Hour / time.Millisecond)
	}
	return after(time.Duration(wait)*time.Millisecond, func(r *http.Request) (*http.Response, error) {
		n, trouble := u.draw(20)
		switch {
		case trouble && n == 0:
			return raw(500, "")(r)
		case trouble && n == 1:
			return raw(403, "\ufeff<html>blocked")(r)
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.paid[asked.String()]++; n == 2 {
			return raw(200, `{"codigo":"99","mensaje":"x","estado":"Error","esValido":false}`)(r)
		}
		return raw(200, verdict)(r)
	})(r)
}

// again returns how many answers were paid more than once, but for those to who validates beside the batch.
func (u *unsteadySUNAT) again() (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for receipt, times := range u.paid {
		if receipt != factura.String() {
			n += times - 1
		}
	}
	return n
}

// Batches of receipts beside other validations, behind a Store that takes its time, are resumed until they end. None
// is lost, none that was not sent is delivered, and what is paid again is bounded as for taxpayers.
func TestRandomBatchesOfReceipts(t *testing.T) {
	for seed := range uint64(*randomBatches) {
		synctest.Test(t, func(t *testing.T) { randomBatchOfReceipts(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomBatchOfReceipts(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 17))
	one := func(of ...int) int { return of[random.IntN(len(of))] }
	u := &unsteadySUNAT{random: rand.New(rand.NewPCG(seed, 18)), slow: one(1000, 5000, 20_000), silent: one(0, 0, 10, 50), paid: map[string]int{}}
	storeTakes := one(1, 500, 900) // at most 3 of these in one question: less than a Store may take
	store := &patientGuard{newSharedGuard(), func() {
		wait, _ := u.draw(storeTakes)
		time.Sleep(time.Duration(wait) * time.Millisecond)
	}}
	opts := []fiscope.Option{fiscope.WithRetry(noRetries())}
	if random.IntN(4) > 0 {
		opts = append(opts, fiscope.WithStore(store))
		if random.IntN(2) == 0 {
			opts = append(opts, fiscope.WithSOLStoreRequired())
		}
	}
	if random.IntN(2) == 0 {
		opts = append(opts, fiscope.WithRateLimit(rate.Limit(1+random.IntN(5)), 1))
	}
	client := newClient(t, u, opts...)
	if others := random.IntN(3); others > 0 {
		defer validatingBeside(t, []*fiscope.Client{client, newClient(t, u, opts...)}[others-1], u)()
	}
	policy := fiscope.LotePolicy{Concurrency: 1 + random.IntN(10), Window: one(0, 1, 5), MaxFailures: one(0, 2, 5)}
	window := policy.Window
	if window == 0 {
		window = 1000
	}
	n := &notes{}
	progress := random.IntN(2) == 0
	if progress {
		policy.Progress = n
	}
	inputs := 1 + random.IntN(40)
	said := fmt.Sprintf("seed %d: %+v, %d inputs, slow %d, silent %d, the Store takes %d", seed, policy, inputs, u.slow, u.silent, storeTakes)
	answered, failed := map[int]bool{}, map[int]bool{}
	for run := 0; ; run++ {
		require.Less(t, run, 500, said)
		if run == 15 { // in the end all is well
			u.mu.Lock()
			u.steady = true
			u.mu.Unlock()
		}
		ctx, cancel := context.WithCancel(t.Context())
		if run <= 15 {
			limit, _ := u.draw(60_000)
			ctx, cancel = context.WithTimeout(t.Context(), time.Duration(1+limit)*time.Millisecond)
		}
		leaves, _ := u.draw(40)
		before := u.again()
		var stopped *fiscope.LoteDetenido
		ended := true
		for l, err := range client.CPE.ValidarLote(ctx, receipts(inputs), credenciales, policy) {
			if errors.As(err, &stopped) {
				ended, policy.From = false, stopped.Posicion
				break
			}
			var e *fiscope.Error
			if errors.As(err, &e) {
				require.NotEqual(t, fiscope.DeliveryNotSent, e.Delivery, "%s: %d: %v", said, l.Posicion, err)
				failed[l.Posicion] = true
			} else {
				answered[l.Posicion] = true
			}
			policy.From = l.Siguiente
			if ended = l.Siguiente == inputs || leaves > 0 || run > 15; !ended {
				break
			}
			leaves--
		}
		cancel()
		require.NoError(t, client.Close(t.Context())) // for the validation that goes on when the loop ends
		if progress {
			policy.From = 0
			require.LessOrEqual(t, u.again(), policy.Concurrency*run, "%s: run %d", said, run)
		} else {
			require.LessOrEqual(t, u.again()-before, policy.Concurrency+window, "%s: run %d", said, run)
		}
		if ended && (run > 15 || !progress) {
			break
		}
		time.Sleep(time.Hour)
	}
	for position := range inputs {
		require.True(t, answered[position] || !progress && failed[position], "%s: %d is lost", said, position)
	}
}

// validatingBeside validates another receipt again and again with the same credential, until the function that it
// returns is called.
func validatingBeside(t *testing.T, client *fiscope.Client, u *unsteadySUNAT) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			_ = validar(ctx, client, clave)
			pause, _ := u.draw(60_000)
			select {
			case <-time.After(time.Duration(pause) * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}
