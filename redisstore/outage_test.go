package redisstore_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counting is a service that grants a quota until reset, and counts.
type counting struct {
	mu       sync.Mutex
	quota    int
	reset    time.Time
	latency  time.Duration
	requests int
	answer   func(n int) (status int, remaining string) // nil for what the quota says
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.requests++
	n := c.requests
	c.mu.Unlock()
	time.Sleep(c.latency)
	h := http.Header{}
	status, remaining := 404, fmt.Sprint(max(0, c.quota-n))
	if n > c.quota {
		status = 429
	}
	if c.answer != nil {
		status, remaining = c.answer(n)
	}
	if remaining != "" {
		h.Set("X-Ratelimit-Remaining", remaining)
		h.Set("X-Ratelimit-Reset", c.reset.UTC().Format(time.RFC3339))
	}
	body := map[int]string{404: `{"error":"x","code":"NOT_FOUND"}`, 429: `{"error":"x","code":"QUOTA_EXCEEDED"}`}[status]
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (c *counting) client(t *testing.T, store *redisstore.Store, opts ...fiscope.Option) *fiscope.Client {
	t.Helper()
	client, err := fiscope.NewClient("https://api.example.com", "llave",
		append([]fiscope.Option{fiscope.WithHTTPClient(&http.Client{Transport: c}), fiscope.WithStore(store)}, opts...)...)
	require.NoError(t, err)
	return client
}

func TestAnOutageIsNotASpentQuota(t *testing.T) {
	for name, outage := range map[string]func(*bed){
		"it fails": func(b *bed) { b.fail.Store(true) },
		"it hangs": func(b *bed) { b.hang.Store(int64(time.Minute)) },
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store()
				service := &counting{quota: 1000, reset: in(time.Hour)}
				client := service.client(t, s)
				ctx := context.Background()
				_, err := client.Contribuyentes.Consultar(ctx, "20131312955")
				require.ErrorIs(t, err, fiscope.ErrNotFound)
				outage(b)
				for _, deadline := range []time.Duration{0, time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 30 * time.Second} {
					ctx, cancel := ctx, context.CancelFunc(func() {})
					if deadline > 0 {
						ctx, cancel = context.WithTimeout(ctx, deadline)
					}
					start := time.Now()
					_, err = client.Contribuyentes.Consultar(ctx, "20131312955")
					took := time.Since(start)
					cancel()
					assert.NotErrorIs(t, err, fiscope.ErrQuotaExceeded, deadline)
					assert.Equal(t, 1, service.requests, "nothing is sent without a reservation: %s", deadline)
					assert.GreaterOrEqual(t, took, time.Second, "it asks again for a second: %s", deadline)
					assert.Less(t, took, 1100*time.Millisecond, "and does not wait until its context ends: %s", deadline)
					if deadline != time.Second {
						assert.ErrorIs(t, err, fiscope.ErrUnavailable, deadline)
					}
				}
				b.fail.Store(false)
				b.hang.Store(0)
				time.Sleep(2 * time.Minute)
				_, err = client.Contribuyentes.Consultar(ctx, "20131312955")
				require.ErrorIs(t, err, fiscope.ErrNotFound)
			})
		})
	}
}

func TestABlipEndsNoBatch(t *testing.T) {
	onBed(t, func(b *bed) {
		service := &counting{quota: 10_000, reset: in(time.Hour), latency: 20 * time.Millisecond}
		client := service.client(t, b.store())
		time.AfterFunc(500*time.Millisecond, func() { b.fail.Store(true) })
		time.AfterFunc(time.Second, func() { b.fail.Store(false) })
		time.AfterFunc(2*time.Second, func() { b.hang.Store(int64(900 * time.Millisecond)) })
		time.AfterFunc(2500*time.Millisecond, func() { b.hang.Store(0) })
		rucs := iter.Seq[string](func(yield func(string) bool) {
			for i := range 2000 {
				if !yield(validRUC(i)) {
					return
				}
			}
		})
		n := 0
		for l, err := range client.Contribuyentes.ConsultarLote(context.Background(), rucs, fiscope.LotePolicy{}) {
			require.ErrorIs(t, err, fiscope.ErrNotFound, "%d: %+v", n, l)
			n++
		}
		assert.Equal(t, 2000, n)
	})
}

// validRUC returns a RUC with its check digit.
func validRUC(i int) string {
	digits := fmt.Sprintf("20%08d", i)
	sum := 0
	for j, weight := range []int{5, 4, 3, 2, 7, 6, 5, 4, 3, 2} {
		sum += int(digits[j]-'0') * weight
	}
	return digits + fmt.Sprint((11-sum%11)%10)
}

func TestASlowRedisIsWaitedFor(t *testing.T) {
	for name, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases": {redisstore.WithLease(5)}} {
		for _, roundTrip := range []time.Duration{200 * time.Millisecond, 400 * time.Millisecond} {
			t.Run(fmt.Sprint(name, ", ", roundTrip), func(t *testing.T) {
				onBed(t, func(b *bed) {
					s := b.store(opts...)
					b.open(s, 1000, in(time.Hour))
					b.hang.Store(int64(roundTrip))
					var callers sync.WaitGroup
					var granted atomic.Int64
					for range 20 {
						callers.Go(func() {
							for range 5 {
								r := b.reserve(s, 0)
								if roundTrip > 250*time.Millisecond && r.Grant == fiscope.QuotaAway {
									continue // WithTimeout is too short for this one
								}
								if !assert.Equal(t, fiscope.QuotaGranted, r.Grant) {
									continue
								}
								b.settle(s, r, silent)
								granted.Add(1)
							}
						})
					}
					callers.Wait()
					time.Sleep(time.Minute)
					b.hang.Store(0)
					time.Sleep(time.Second)
					assert.Positive(t, granted.Load())
					assert.EqualValues(t, 1000, granted.Load()+int64(b.drain(s)), "nothing is lost")
				})
			})
		}
	}
}

func TestAFirstConnectionIsCompletedThoughItsCallerHasGone(t *testing.T) {
	onBed(t, func(b *bed) {
		client := redis.NewClient(&redis.Options{
			Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
				select {
				case <-time.After(2 * time.Second):
					return b.mini.Dial()
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			},
			ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		defer client.Close()
		s, err := redisstore.New(client, redisstore.WithTimeout(100*time.Millisecond), redisstore.WithShare(0))
		require.NoError(t, err)
		assert.Equal(t, fiscope.QuotaAway, b.reserve(s, 0).Grant)
		time.Sleep(2 * time.Second)
		b.open(s, 10, in(time.Hour))
		assert.Equal(t, 10, b.drain(s))
	})
}

func TestAColdStartRefusesNobody(t *testing.T) {
	client := startServer(t).client(t)
	s, err := redisstore.New(client, redisstore.WithDailyQuota(100_000), redisstore.WithShare(0))
	require.NoError(t, err)
	var callers sync.WaitGroup
	for range 1000 {
		callers.Go(func() {
			r, err := s.Reserve(context.Background(), account, 0)
			assert.NoError(t, err)
			assert.Equal(t, fiscope.QuotaGranted, r.Grant)
		})
	}
	callers.Wait()
	require.NoError(t, s.Release(context.Background()))
}

func TestReleaseUnderTraffic(t *testing.T) {
	client := startServer(t).client(t)
	s, err := redisstore.New(client, redisstore.WithDailyQuota(1<<30), redisstore.WithLease(3), redisstore.WithTimeout(time.Minute))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for ctx.Err() == nil {
				r, _ := s.Reserve(context.Background(), account, 0)
				_ = s.Settle(context.Background(), account, r, silent)
			}
		})
	}
	for range 200 {
		short, cancel := context.WithTimeout(ctx, 2*time.Millisecond)
		_ = s.Release(short)
		cancel()
	}
	cancel()
	all.Wait()
	require.NoError(t, s.Release(context.Background()))
}

// What a question may still bring that takes longer than others is not refused meanwhile.
func TestARefusalWaitsForWhatAnEarlierQuestionBrings(t *testing.T) {
	for name, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases": {redisstore.WithLease(20)}} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s, other := b.store(opts...), b.store()
				b.open(s, 1, in(time.Hour))
				b.hang.Store(int64(600 * time.Millisecond)) // of the first question, which takes the last query
				time.AfterFunc(100*time.Millisecond, func() { b.hang.Store(0) })
				start := time.Now()
				r := b.granted(s)
				assert.Equal(t, 600*time.Millisecond, time.Since(start))
				assert.Equal(t, fiscope.QuotaSpent, b.reserve(other, 0).Grant)
				b.settle(s, r, silent)
				assert.Equal(t, fiscope.QuotaSpent, b.reserve(s, 0).Grant)
			})
		})
	}
}

// A caller who leaves takes nothing with him, and neither does one whose answer came too late.
func TestWhatNobodyWaitsForGoesBack(t *testing.T) {
	for name, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases": {redisstore.WithLease(20)}} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s, other := b.store(opts...), b.store()
				b.open(s, 50, in(time.Hour))
				b.hang.Store(int64(100 * time.Millisecond))
				var callers sync.WaitGroup
				for range 20 {
					callers.Go(func() {
						ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
						defer cancel()
						_, err := s.Reserve(ctx, account, 0)
						assert.ErrorIs(t, err, context.DeadlineExceeded)
					})
				}
				callers.Wait()
				b.hang.Store(0)
				time.Sleep(time.Second)
				if opts != nil {
					time.Sleep(30 * time.Second) // so long a lease is kept
				}
				assert.Equal(t, 50, b.drain(other))
			})
		})
	}
}

// Once the callers have gone, Redis is not asked for them.
func TestNobodyAsksForThoseWhoLeft(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 50, in(time.Hour))
		b.granted(s)
		b.fail.Store(true)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		asked := func() int {
			return b.trips(func() {
				_, err := s.Reserve(ctx, account, 0)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				time.Sleep(time.Second)
			})
		}
		assert.Equal(t, 1, asked(), "he leaves")
		b.fail.Store(false)
		assert.Zero(t, asked(), "he has left")
	})
}

// An answer of a day that is over by now brings nothing.
func TestALateAnswerOfTheDayBefore(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store(redisstore.WithTimeout(3 * time.Second))
		b.open(s, 200, in(2*time.Hour))
		held := b.granted(s)
		b.hang.Store(int64(time.Second))
		var late fiscope.Reservation
		var caller sync.WaitGroup
		caller.Go(func() { late = b.reserve(s, 0) })
		time.Sleep(10 * time.Millisecond)
		b.hang.Store(0)
		b.settle(s, held, header(50, in(26*time.Hour)))
		caller.Wait()
		require.Equal(t, fiscope.QuotaGranted, late.Grant)
		assert.Equal(t, 49, b.drain(s), "it is of the next day")
	})
}

func TestManyCallersShareAQuestion(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 100, in(time.Hour))
		b.granted(s)
		b.hang.Store(int64(10 * time.Millisecond))
		var granted, spent atomic.Int64
		trips := b.trips(func() {
			var callers sync.WaitGroup
			for range 150 {
				callers.Go(func() {
					switch b.reserve(s, 0).Grant {
					case fiscope.QuotaGranted:
						granted.Add(1)
					case fiscope.QuotaSpent:
						spent.Add(1)
					}
				})
			}
			callers.Wait()
		})
		assert.EqualValues(t, 99, granted.Load())
		assert.EqualValues(t, 51, spent.Load())
		assert.LessOrEqual(t, trips, 3, "one for the first, one for all who came meanwhile, and one that is refused")
	})
}

// Redis carries out what all processes asked while it was stopped, and nobody waits any longer for most of it: what
// was taken comes back a moment later. Until then "spent" is not what it seems.
func TestARefusalOfARedisThatWasStoppedIsNotBelieved(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(), b.store()
		b.open(s, 1, in(time.Hour))
		taken := b.granted(other)
		stopped := func() {
			b.hang.Store(int64(3 * time.Second))
			time.AfterFunc(time.Second, func() { b.hang.Store(0) }) // what is asked by then is answered after 3 s
			start := time.Now()
			require.Equal(t, fiscope.QuotaAway, b.reserve(s, 0).Grant)
			time.Sleep(time.Until(start.Add(3*time.Second + 10*time.Millisecond)))
		}
		stopped()
		time.AfterFunc(500*time.Millisecond, func() { b.settle(other, taken, fiscope.Outcome{}) })
		start := time.Now()
		require.Equal(t, fiscope.QuotaGranted, b.reserve(s, 0).Grant)
		assert.WithinDuration(t, start.Add(500*time.Millisecond), time.Now(), 150*time.Millisecond)

		stopped()
		start = time.Now()
		for b.reserve(s, 0).Grant != fiscope.QuotaSpent {
			require.Less(t, time.Since(start), 3*time.Second, "a spent quota is refused soon")
		}
		assert.GreaterOrEqual(t, time.Since(start), 900*time.Millisecond)
	})
}

// One that takes longer for each answer than WithTimeout, but not longer than callers wait, is believed.
func TestARefusalOfASlowRedisIsBelieved(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		accounts := []string{account, strings.Repeat("a", 32), strings.Repeat("b", 32)} // a refusal of one is not remembered for another
		for _, name := range accounts {
			r, err := s.Reserve(context.Background(), name, 0)
			require.NoError(t, err)
			require.NoError(t, s.Settle(context.Background(), name, r, header(0, in(time.Hour))))
		}
		b.hang.Store(int64(400 * time.Millisecond))
		for _, name := range accounts {
			r, err := s.Reserve(context.Background(), name, 0)
			require.NoError(t, err)
			assert.Equal(t, fiscope.QuotaSpent, r.Grant)
		}
	})
}

// However long WithTimeout and whatever deadline a caller has: what Redis did not grant is not sent.
func TestNothingIsSentBeyondLeaseAndShareWhateverTheDeadline(t *testing.T) {
	for _, timeout := range []time.Duration{100 * time.Millisecond, 250 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second} {
		for _, deadline := range []time.Duration{0, time.Second, 1200 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second} {
			t.Run(fmt.Sprint("WithTimeout ", timeout, ", deadline ", deadline), func(t *testing.T) {
				onBed(t, func(b *bed) {
					service := &counting{quota: 1000, reset: in(10 * time.Hour)}
					client := service.client(t, b.store(redisstore.WithTimeout(timeout)))
					look := func(ctx context.Context) error {
						_, err := client.Contribuyentes.Consultar(ctx, "20131312955")
						return err
					}
					for range 2 {
						require.ErrorIs(t, look(context.Background()), fiscope.ErrNotFound)
					}
					b.hang.Store(int64(20 * time.Second))
					var callers sync.WaitGroup
					for i := range 20 {
						callers.Go(func() {
							time.Sleep(time.Duration(i) * 100 * time.Millisecond)
							ctx, cancel := context.WithCancel(context.Background())
							if deadline > 0 {
								ctx, cancel = context.WithTimeout(ctx, deadline)
							}
							defer cancel()
							assert.NotErrorIs(t, look(ctx), fiscope.ErrNotFound)
						})
					}
					callers.Wait()
					assert.Equal(t, 2, service.requests)
					b.hang.Store(0)
					time.Sleep(time.Minute)
				})
			})
		}
	}
}
