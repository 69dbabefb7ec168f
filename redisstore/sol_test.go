package redisstore_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const credential = "ffeeddccbbaa99887766554433221100"

func (b *bed) claim(s *redisstore.Store) fiscope.Claim {
	b.t.Helper()
	c, err := s.Claim(context.Background(), credential, 10*time.Second)
	require.NoError(b.t, err)
	return c
}

func (b *bed) conclude(s *redisstore.Store, c fiscope.Claim, v fiscope.Verdict) {
	b.t.Helper()
	require.NoError(b.t, s.Conclude(context.Background(), credential, c, v, time.Hour))
}

func TestOneTriesACredentialWhileTheOthersWait(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		mine := b.claim(one)
		require.Equal(t, fiscope.ClaimGranted, mine.State)
		assert.Equal(t, fiscope.ClaimBusy, b.claim(one).State)
		assert.Equal(t, fiscope.ClaimBusy, b.claim(other).State)
		b.conclude(other, fiscope.Claim{Token: "another's"}, fiscope.VerdictNone)
		assert.Equal(t, fiscope.ClaimBusy, b.claim(other).State, "only the holder gives a claim up")
		b.conclude(one, mine, fiscope.VerdictNone)
		assert.Equal(t, fiscope.ClaimGranted, b.claim(other).State)
	})
}

func TestAClaimSurvivesACrashedHolder(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		died := b.claim(one)
		time.Sleep(9 * time.Second)
		assert.Equal(t, fiscope.ClaimBusy, b.claim(other).State)
		time.Sleep(2 * time.Second)
		assert.Equal(t, fiscope.ClaimGranted, b.claim(other).State)
		b.conclude(one, died, fiscope.VerdictNone) // it was only slow
		assert.Equal(t, fiscope.ClaimBusy, b.claim(one).State)
	})
}

func TestVerdictsAreRemembered(t *testing.T) {
	for verdict, state := range map[fiscope.Verdict]fiscope.ClaimState{
		fiscope.VerdictProven: fiscope.ClaimProven, fiscope.VerdictRefused: fiscope.ClaimRefused,
	} {
		onBed(t, func(b *bed) {
			one, other := b.store(), b.store()
			now := time.Now()
			b.conclude(one, b.claim(one), verdict)
			time.Sleep(59 * time.Minute)
			c := b.claim(other)
			assert.Equal(t, state, c.State)
			assert.Equal(t, now.UTC(), c.Since)
			if state == fiscope.ClaimRefused {
				assert.WithinDuration(t, now.Add(time.Hour), c.Until, time.Second)
			}
			time.Sleep(2 * time.Minute)
			assert.Equal(t, fiscope.ClaimGranted, b.claim(other).State)
		})
	}
}

func TestALateProofDoesNotUndoARefusal(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		c := b.claim(s)
		b.conclude(s, c, fiscope.VerdictProven)
		b.conclude(s, fiscope.Claim{State: fiscope.ClaimProven}, fiscope.VerdictRefused)
		assert.Equal(t, fiscope.ClaimRefused, b.claim(s).State, "a credential that was proven is refused later")
		b.conclude(s, c, fiscope.VerdictProven)
		b.conclude(s, c, fiscope.VerdictNone)
		assert.Equal(t, fiscope.ClaimRefused, b.claim(s).State)
		require.NoError(t, s.Forget(context.Background(), credential))
		assert.Equal(t, fiscope.ClaimGranted, b.claim(s).State)
	})
}

func TestARefusalWithoutRedisIsToldLater(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		c := b.claim(one)
		b.fail.Store(true)
		require.Error(t, one.Conclude(context.Background(), credential, c, fiscope.VerdictRefused, time.Hour))
		time.Sleep(20 * time.Second)
		b.fail.Store(false)
		assert.Equal(t, fiscope.ClaimRefused, b.claim(one).State)
		assert.Equal(t, fiscope.ClaimRefused, b.claim(other).State)
	})
}

func TestABlipOfRedisCostsNoClaim(t *testing.T) {
	for name, trouble := range map[string]func(*bed){
		"it fails": func(b *bed) {
			b.fail.Store(true)
			time.AfterFunc(800*time.Millisecond, func() { b.fail.Store(false) })
		},
		"it is slow": func(b *bed) {
			b.hang.Store(int64(400 * time.Millisecond))
			time.AfterFunc(500*time.Millisecond, func() { b.hang.Store(0) })
		},
		"its first answer comes last": func(b *bed) {
			b.hang.Store(int64(2 * time.Second))
			time.AfterFunc(100*time.Millisecond, func() { b.hang.Store(0) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				one, other := b.store(), b.store()
				_, err := one.Claim(context.Background(), "0123", time.Second) // the script is loaded
				require.NoError(t, err)
				trouble(b)
				start := time.Now()
				assert.Equal(t, fiscope.ClaimGranted, b.claim(one).State)
				assert.Less(t, time.Since(start), 2*time.Second)
				time.Sleep(2 * time.Second)
				assert.Equal(t, fiscope.ClaimBusy, b.claim(other).State, "it is held, whatever came late")
			})
		})
	}
	onBed(t, func(b *bed) {
		s := b.store()
		b.fail.Store(true)
		start := time.Now()
		_, err := s.Claim(context.Background(), credential, 10*time.Second)
		require.Error(t, err)
		assert.GreaterOrEqual(t, time.Since(start), time.Second)
		assert.Less(t, time.Since(start), 2*time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		start = time.Now()
		_, err = s.Claim(ctx, credential, 10*time.Second)
		require.Error(t, err)
		assert.LessOrEqual(t, time.Since(start), 100*time.Millisecond)
	})
}

func TestAClaimThatComesTooLateIsGivenBack(t *testing.T) {
	for name, patience := range map[string]time.Duration{"its caller has left": 100 * time.Millisecond, "it was asked for again": time.Minute} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				one, other := b.store(), b.store()
				_, err := one.Claim(context.Background(), "0123", time.Second) // the script is loaded
				require.NoError(t, err)
				b.hang.Store(int64(2 * time.Second))
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				_, err = one.Claim(ctx, credential, time.Minute)
				require.Error(t, err)
				b.hang.Store(0)
				time.Sleep(10 * time.Second)
				assert.Equal(t, fiscope.ClaimGranted, b.claim(other).State)
			})
		})
	}
}

func TestAForeignKeyOfACredentialIsNothing(t *testing.T) {
	key := "fiscope:{" + credential + "}:sol"
	for name, spoil := range map[string]func(*bed){
		"a list":          func(b *bed) { _, _ = b.mini.Push(key, "x") },
		"a hash":          func(b *bed) { b.mini.HSet(key, "refused", "1") },
		"a text":          func(b *bed) { _ = b.mini.Set(key, "\x00garbage") },
		"an empty text":   func(b *bed) { _ = b.mini.Set(key, "") },
		"another verdict": func(b *bed) { _ = b.mini.Set(key, "perhaps 1") },
		"no time":         func(b *bed) { _ = b.mini.Set(key, "refused soon") },
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				one, other := b.store(), b.store()
				spoil(b)
				mine := b.claim(one)
				require.Equal(t, fiscope.ClaimGranted, mine.State)
				assert.Equal(t, fiscope.ClaimBusy, b.claim(other).State)
				assert.Equal(t, 10*time.Second, b.mini.TTL(key))
				b.conclude(one, mine, fiscope.VerdictRefused)
				assert.Equal(t, fiscope.ClaimRefused, b.claim(other).State)
			})
			onBed(t, func(b *bed) {
				s := b.store()
				spoil(b)
				b.conclude(s, fiscope.Claim{State: fiscope.ClaimProven}, fiscope.VerdictRefused)
				assert.Equal(t, fiscope.ClaimRefused, b.claim(s).State)
			})
		})
	}
}

// How long ago something was is measured by the clock of Redis alone.
func TestTheClocksOfCredentials(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"ahead": 26 * time.Hour, "behind": -26 * time.Hour} {
		for _, verdict := range []fiscope.Verdict{fiscope.VerdictProven, fiscope.VerdictRefused} {
			onBed(t, func(b *bed) {
				s := b.store()
				b.mini.SetTime(time.Now().Add(ahead))
				b.conclude(s, b.claim(s), verdict)
				before := time.Now()
				b.mini.SetTime(time.Now().Add(ahead + 10*time.Minute))
				time.Sleep(10 * time.Minute)
				assert.WithinDuration(t, before, b.claim(s).Since, time.Second, "its clock is %s", name)
			})
		}
	}
}

// docs/fleet.md says how often Redis is asked.
func TestTheRoundTripsOfAValidation(t *testing.T) {
	onBed(t, func(b *bed) {
		service := mockserver.New(b.t, mockserver.WithoutSocket())
		client := service.Client(fiscope.WithStore(b.store(redisstore.WithDailyQuota(1000), redisstore.WithLease(100))))
		validar := func(clave string) int {
			return b.trips(func() {
				_, _ = client.CPE.Validar(context.Background(), fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
					fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(clave)})
				time.Sleep(time.Second)
			})
		}
		validar("one") // the scripts are loaded, and the quota is leased
		validar("two")
		assert.Equal(t, 2, validar("three"), "of which nothing is known: a claim, and what came of it")
		assert.Zero(t, validar("three"), "refused here")
		require.NoError(t, service.UnblockSOL(mockserver.RUCSolicitante, mockserver.UsuarioSOL))
		assert.Equal(t, 2, validar(mockserver.ClaveSOL))
		for range 10 {
			assert.Equal(t, 1, validar(mockserver.ClaveSOL), "accepted within the last minutes: has it been refused since?")
		}
		require.NoError(t, client.Close(context.Background()))
	})
}

func TestGoroutinesShareAQuestion(t *testing.T) {
	ask := func(s *redisstore.Store, n int) (states map[fiscope.ClaimState]int) {
		states = map[fiscope.ClaimState]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				c, err := s.Claim(context.Background(), credential, time.Minute)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					c.State = -1
				}
				states[c.State]++
			})
		}
		wg.Wait()
		return states
	}
	prepared := func(b *bed) *redisstore.Store {
		s := b.store()
		c, err := s.Claim(context.Background(), "0123", time.Second) // the scripts are loaded
		require.NoError(b.t, err)
		require.NoError(b.t, s.Conclude(context.Background(), "0123", c, fiscope.VerdictNone, time.Second))
		b.hang.Store(int64(100 * time.Millisecond))
		return s
	}
	t.Run("what is granted is granted to one", func(t *testing.T) {
		onBed(t, func(b *bed) {
			s := prepared(b)
			assert.LessOrEqual(t, b.trips(func() {
				assert.Equal(t, map[fiscope.ClaimState]int{fiscope.ClaimGranted: 1, fiscope.ClaimBusy: 499}, ask(s, 500))
			}), 2)
		})
	})
	t.Run("what is granted after a wait is granted to one", func(t *testing.T) {
		onBed(t, func(b *bed) {
			other := b.store()
			theirs := b.claim(other)
			s := prepared(b)
			var wg sync.WaitGroup
			wg.Go(func() { assert.Equal(t, fiscope.ClaimBusy, b.claim(s).State) })
			time.Sleep(50 * time.Millisecond)
			wg.Go(func() {
				assert.Equal(t, map[fiscope.ClaimState]int{fiscope.ClaimGranted: 1, fiscope.ClaimBusy: 99}, ask(s, 100))
			})
			b.conclude(other, theirs, fiscope.VerdictNone)
			wg.Wait()
		})
	})
	t.Run("what is known is for all", func(t *testing.T) {
		onBed(t, func(b *bed) {
			b.conclude(b.store(), fiscope.Claim{}, fiscope.VerdictProven)
			s := prepared(b)
			assert.LessOrEqual(t, b.trips(func() {
				assert.Equal(t, map[fiscope.ClaimState]int{fiscope.ClaimProven: 500}, ask(s, 500))
			}), 2)
		})
	})
	t.Run("that it is away is for all", func(t *testing.T) {
		onBed(t, func(b *bed) {
			s := prepared(b)
			b.fail.Store(true)
			start := time.Now()
			assert.Equal(t, map[fiscope.ClaimState]int{-1: 500}, ask(s, 500))
			assert.Less(t, time.Since(start), 4*time.Second)
		})
	})
	t.Run("nobody takes an older answer", func(t *testing.T) {
		onBed(t, func(b *bed) {
			other := b.store()
			b.conclude(other, fiscope.Claim{}, fiscope.VerdictProven)
			s := prepared(b)
			var wg sync.WaitGroup
			wg.Go(func() { assert.Equal(t, fiscope.ClaimProven, b.claim(s).State) })
			time.Sleep(50 * time.Millisecond)
			b.hang.Store(0)
			b.conclude(other, fiscope.Claim{State: fiscope.ClaimProven}, fiscope.VerdictRefused)
			assert.Equal(t, fiscope.ClaimRefused, b.claim(s).State)
			wg.Wait()
		})
	})
	t.Run("one who leaves takes nobody along", func(t *testing.T) {
		onBed(t, func(b *bed) {
			s := prepared(b)
			var wg sync.WaitGroup
			for _, patience := range []time.Duration{10 * time.Millisecond, 60 * time.Millisecond} {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), patience)
					defer cancel()
					_, err := s.Claim(ctx, credential, time.Minute)
					assert.ErrorIs(t, err, context.DeadlineExceeded)
				})
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Millisecond)
			start := time.Now()
			states := ask(s, 10)
			assert.Equal(t, 10, states[fiscope.ClaimGranted]+states[fiscope.ClaimBusy])
			assert.Less(t, time.Since(start), 500*time.Millisecond)
			wg.Wait()
		})
	})
}

// fill makes a real Redis say that it has no room.
func fill(t *testing.T, s *server) {
	t.Helper()
	rdb := s.client(t)
	ctx := context.Background()
	require.NoError(t, rdb.ConfigSet(ctx, "maxmemory", "8mb").Err())
	for size := 1 << 16; size >= 16; size /= 2 {
		for i := 0; rdb.Append(ctx, "filler", string(make([]byte, size))).Err() == nil && i < 10000; i++ {
		}
	}
	require.NoError(t, rdb.ConfigSet(ctx, "maxmemory", "2mb").Err(), "nor is room made by what it frees itself")
	require.ErrorContains(t, rdb.Set(ctx, "more", "x", 0).Err(), "OOM")
}

func TestTheSOLGuardGoesOnWhereRedisIsFull(t *testing.T) {
	r := startServer(t)
	if r.mini != nil {
		t.Skip("install redis-server to run this test: miniredis is never full")
	}
	fill(t, r)
	b := &bed{t: t, client: r.client(t)}
	one, other := b.store(redisstore.WithTimeout(5*time.Second)), b.store(redisstore.WithTimeout(5*time.Second))
	mine := b.claim(one)
	require.Equal(t, fiscope.ClaimGranted, mine.State)
	assert.Equal(t, fiscope.ClaimBusy, b.claim(other).State)
	b.conclude(one, mine, fiscope.VerdictProven)
	assert.Equal(t, fiscope.ClaimProven, b.claim(other).State)
	b.conclude(other, fiscope.Claim{State: fiscope.ClaimProven}, fiscope.VerdictRefused)
	assert.Equal(t, fiscope.ClaimRefused, b.claim(one).State)
	require.NoError(t, one.Forget(context.Background(), credential))
	assert.Equal(t, fiscope.ClaimGranted, b.claim(other).State)
}

// A process that proved a clave learns from Redis that another was refused with it.
func TestAClaveThatWasChangedIsRefusedOnceInTheWholeFleet(t *testing.T) {
	processes, goroutines, quota := sizes()
	r, s := startServer(t), startService(t, quota)
	j := s.job(r, goroutines)
	j.Clave, j.Proves = mockserver.ClaveSOL, true
	f := startFleet(t, processes, j)
	j.Goroutines = 1
	first := startFleet(t, 1, j)
	s.delay = func(int64, *http.Request) { time.Sleep(50 * time.Millisecond) }
	require.NoError(t, s.mock.PutUsuarioSOL(mockserver.SOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: "la-nueva"}))
	first.begin()
	assert.Equal(t, 1, first.end().Rejected)
	f.begin()
	sum := f.end()
	assert.Equal(t, processes*goroutines, sum.Blocked, "%q", sum.Errors)
	state, ok := s.mock.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL)
	require.True(t, ok)
	assert.Equal(t, 1, state.Attempts, "refusals of the tax authority")
}

// A process that is stopped (its machine sleeps, or is moved) goes on as if no time had passed: its claim is
// another's by then.
func TestAProcessThatWasStoppedSendsNothingByAClaimThatIsOver(t *testing.T) {
	r, s := startServer(t), startService(t, 1000)
	if r.mini != nil {
		t.Skip("install redis-server to run this test")
	}
	j := s.job(r, 1)
	j.Clave, j.Attempt = "equivocada", 500*time.Millisecond
	other := startFleet(t, 1, j)
	stopped := make(chan *process, 1)
	reply := &delayed{t: t, to: r.addr}
	var p *process
	reply.before = func() {
		p = <-stopped
		stopProcess(t, p.cmd.Process)
		rdb := r.client(t)
		eventually(t, "the claim is over", func() bool { return len(rdb.Keys(context.Background(), "*:sol").Val()) == 0 })
		other.begin()
		assert.Equal(t, 1, other.end().Rejected)
	}
	reply.after = func() { goOn(t, p.cmd.Process) }
	j.Redis = reply.listen()
	f := startFleet(t, 1, j)
	stopped <- f.processes[0]
	f.begin()
	sum := f.end()
	assert.Zero(t, sum.Rejected)
	s.mock.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 1)
}

// delayed stands before a Redis, and does something before and after it forwards that a claim is granted.
type delayed struct {
	t             *testing.T
	to            string
	before, after func()
	once          sync.Once
}

func (d *delayed) listen() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(d.t, err)
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { d.forward(from) })
		}
	})
	d.t.Cleanup(func() {
		_ = listener.Close()
		connections.Wait()
	})
	return listener.Addr().String()
}

func (d *delayed) forward(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", d.to)
	if err != nil {
		return
	}
	go func() {
		defer to.Close()
		_, _ = io.Copy(to, from)
	}()
	buffer := make([]byte, 1<<16)
	for {
		n, err := to.Read(buffer)
		after := func() {}
		if bytes.Contains(buffer[:n], []byte("granted")) {
			d.once.Do(func() {
				d.before()
				after = d.after
			})
		}
		if _, wrong := from.Write(buffer[:n]); wrong != nil || err != nil {
			return
		}
		after()
	}
}
