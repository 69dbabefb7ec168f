package redisstore_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// authority answers validations after a second, and counts its refusals.
type authority struct {
	mu      sync.Mutex
	clave   string // that is right
	refused int
}

func (a *authority) change(clave string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clave = clave
}

func (a *authority) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Second)
	a.mu.Lock()
	defer a.mu.Unlock()
	status, answer := 200, `{"codigo":"0","mensaje":"x","estado":"Aceptado","esValido":true}`
	if !strings.Contains(string(body), `"`+a.clave+`"`) {
		a.refused++
		status, answer = 401, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r,
	}, nil
}

// process returns a client of a fleet whose validations this authority answers.
func (a *authority) process(b *bed, opts ...fiscope.Option) *fiscope.Client {
	b.t.Helper()
	opts = append(opts, fiscope.WithHTTPClient(&http.Client{Transport: a}), fiscope.WithStore(b.store(redisstore.WithDailyQuota(1000))))
	client, err := fiscope.NewClient("https://example.test", "key", opts...)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

func validar(client *fiscope.Client, clave string) error {
	_, err := client.CPE.Validar(context.Background(), fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
		fiscope.CredencialesSOL{RUC: "20131312955", Usuario: "MIUSER01", Clave: fiscope.NewSecreto(clave)})
	return err
}

// blip makes Redis fail so long, from that moment on.
func (b *bed) blip(from, d time.Duration) {
	time.AfterFunc(from, func() { b.fail.Store(true) })
	time.AfterFunc(from+d, func() { b.fail.Store(false) })
}

// A Redis that is well, and farther away than the time of one question.
func TestAWrongClaveIsRefusedOnceThoughRedisIsSlow(t *testing.T) {
	for _, slow := range []time.Duration{0, 200 * time.Millisecond, 260 * time.Millisecond, 500 * time.Millisecond} {
		t.Run(slow.String(), func(t *testing.T) {
			onBed(t, func(b *bed) {
				a := &authority{clave: "good"}
				var processes []*fiscope.Client
				for range 20 {
					processes = append(processes, a.process(b))
				}
				if slow >= 500*time.Millisecond { // where the scripts are not loaded, each is asked for twice
					require.NoError(t, validar(processes[0], "good"))
				}
				b.hang.Store(int64(slow))
				var wg sync.WaitGroup
				for _, p := range processes {
					wg.Go(func() { assert.ErrorIs(t, validar(p, "wrong"), fiscope.ErrInvalidSOLCredentials) })
				}
				wg.Wait()
				assert.Equal(t, 1, a.refused)
				b.hang.Store(0)
			})
		})
	}
}

func TestARefusalThatMeetsABlipIsKnownToTheFleet(t *testing.T) {
	for name, opts := range map[string][]fiscope.Option{"by default": nil, "with WithSOLStoreRequired": {fiscope.WithSOLStoreRequired()}} {
		for _, proven := range []bool{true, false} {
			for _, blip := range []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond, 3 * time.Second, time.Minute} {
				t.Run(fmt.Sprintf("%s, proven %v, %v", name, proven, blip), func(t *testing.T) {
					onBed(t, func(b *bed) {
						a := &authority{clave: "good"}
						one, other := a.process(b, opts...), a.process(b, opts...)
						if proven {
							require.NoError(t, validar(one, "good"))
							require.NoError(t, validar(other, "good"))
						}
						a.change("new")
						b.blip(990*time.Millisecond, blip)
						require.ErrorIs(t, validar(one, "good"), fiscope.ErrInvalidSOLCredentials)
						time.Sleep(blip + 6*time.Second) // this process makes no other call
						assert.ErrorIs(t, validar(other, "good"), fiscope.ErrSOLCredentialsBlocked)
						assert.Equal(t, 1, a.refused)
					})
				})
			}
		}
	}
}

func TestAnAcceptanceThatMeetsABlipKeepsNobodyWaiting(t *testing.T) {
	for name, before := range map[string]time.Duration{"of a clave that nobody knows": 0, "of one that was accepted an hour ago": time.Hour} {
		for _, blip := range []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, 700 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s, %v", name, blip), func(t *testing.T) {
				onBed(t, func(b *bed) {
					a := &authority{clave: "good"}
					one, other := a.process(b), a.process(b)
					if before > 0 {
						require.NoError(t, validar(one, "good"))
						time.Sleep(before)
					}
					b.blip(990*time.Millisecond, blip)
					require.NoError(t, validar(one, "good"))
					time.Sleep(blip)
					start := time.Now()
					require.NoError(t, validar(other, "good"))
					assert.Less(t, time.Since(start), 5*time.Second)
				})
			})
		}
	}
}

func TestTheLongerOfTwoRefusalsIsRemembered(t *testing.T) {
	for name, memories := range map[string][]time.Duration{"the longer last": {5 * time.Minute, 24 * time.Hour}, "the longer first": {24 * time.Hour, 5 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store()
				for _, memory := range memories {
					require.NoError(t, s.Conclude(context.Background(), credential, fiscope.Claim{State: fiscope.ClaimProven}, fiscope.VerdictRefused, memory))
				}
				time.Sleep(23 * time.Hour)
				c := b.claim(s)
				assert.Equal(t, fiscope.ClaimRefused, c.State)
				assert.WithinDuration(t, time.Now().Add(time.Hour), c.Until, time.Second)
				time.Sleep(time.Hour)
				assert.Equal(t, fiscope.ClaimGranted, b.claim(s).State)
			})
		})
	}
	t.Run("also while Redis is away", func(t *testing.T) {
		onBed(t, func(b *bed) {
			s := b.store()
			b.fail.Store(true)
			for _, memory := range []time.Duration{24 * time.Hour, 5 * time.Minute} {
				require.Error(t, s.Conclude(context.Background(), credential, fiscope.Claim{}, fiscope.VerdictRefused, memory))
			}
			b.fail.Store(false)
			time.Sleep(23 * time.Hour)
			assert.Equal(t, fiscope.ClaimRefused, b.claim(s).State)
			assert.Equal(t, fiscope.ClaimRefused, b.claim(b.store()).State)
		})
	})
}

func TestRefusalsThatAreOwedHoldUpNoOtherClaim(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.fail.Store(true)
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				assert.Error(t, s.Conclude(context.Background(), fmt.Sprint(i), fiscope.Claim{}, fiscope.VerdictRefused, time.Hour))
			})
		}
		wg.Wait()
		b.fail.Store(false)
		time.Sleep(time.Second)
		b.hang.Store(int64(20 * time.Millisecond))
		start := time.Now()
		assert.Equal(t, fiscope.ClaimGranted, b.claim(s).State)
		assert.Less(t, time.Since(start), 100*time.Millisecond)
		c, err := s.Claim(context.Background(), "299", time.Minute)
		require.NoError(t, err)
		assert.Equal(t, fiscope.ClaimRefused, c.State)
	})
}

// delaying brings the next script to Redis late.
type delaying struct {
	by   time.Duration
	done atomic.Bool
}

func (d *delaying) DialHook(next redis.DialHook) redis.DialHook { return next }
func (d *delaying) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (d *delaying) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" && d.done.CompareAndSwap(false, true) {
			time.Sleep(d.by)
		}
		return next(ctx, cmd)
	}
}

// The first question comes to Redis after the second was answered.
func TestAClaimThatArrivesLate(t *testing.T) {
	for name, given := range map[string]bool{"after it was given back, holds nobody": true, "while it is held, goes on": false} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				one, other := b.store(), b.store()
				b.claim(other) // the script is loaded
				require.NoError(t, other.Forget(context.Background(), credential))
				b.client.AddHook(&delaying{by: 900 * time.Millisecond})
				c, err := one.Claim(context.Background(), credential, 34*time.Second)
				require.NoError(t, err)
				require.Equal(t, fiscope.ClaimGranted, c.State)
				state := fiscope.ClaimBusy
				if given {
					b.conclude(one, c, fiscope.VerdictNone)
					state = fiscope.ClaimGranted
				}
				time.Sleep(2 * time.Second)
				assert.Equal(t, state, b.claim(other).State)
			})
		})
	}
}
