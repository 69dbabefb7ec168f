package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var noRetry = fiscope.WithRetry(fiscope.RetryPolicy{Base: 1, Cap: 1})

// What comes back of yesterday says nothing of today.
func TestALateHeaderIsOfItsOwnDay(t *testing.T) {
	for name, late := range map[string]func(yesterday time.Time) time.Time{
		"without a reset": func(time.Time) time.Time { return time.Time{} },
		"with its own":    func(yesterday time.Time) time.Time { return yesterday },
	} {
		for who, same := range map[string]bool{"of the process that began the day": true, "of another process": false} {
			t.Run(name+", "+who, func(t *testing.T) {
				onBed(t, func(b *bed) {
					one, other := b.store(), b.store()
					yesterday := in(time.Minute)
					b.open(one, 10, yesterday)
					slow, slower := b.granted(one), b.granted(one)
					time.Sleep(61 * time.Second)
					opener := other
					if same {
						opener = one
					}
					b.settle(one, slow, header(9, late(yesterday))) // it opens nothing
					b.open(opener, 995, in(24*time.Hour))
					b.settle(one, slower, header(8, late(yesterday)))
					b.granted(one)
					assert.Equal(t, 994, b.drain(one)+b.drain(other))
				})
			})
		}
	}
}

// A header without a reset, that came just before the reset, says nothing of the day that a reset names then.
func TestAResetBeginsTheDayAnewThatHadNone(t *testing.T) {
	for name, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases": {redisstore.WithLease(20)}} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				one, other := b.store(opts...), b.store(opts...)
				early := allGoOn(b, one, 3)
				b.settle(one, early[0], header(80, time.Time{}))
				slow := b.granted(other)
				for range 5 {
					b.settle(other, b.granted(other), silent)
				}
				time.Sleep(time.Second)
				b.settle(one, b.granted(one), header(995, in(24*time.Hour)))
				time.Sleep(time.Second)
				b.settle(other, slow, silent)
				b.settle(one, early[1], silent)
				b.granted(other)
				assert.Equal(t, 995-2-1-1-1, b.drain(other)+b.drain(one), "less what was under way, and what ended in the same moment")
			})
		})
	}
}

func TestAHeaderThatIsPastSaysNothing(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(), b.store()
		b.settle(s, b.granted(s), header(0, in(-time.Minute)))
		b.granted(other)
		b.granted(s) // as without headers: all go on
	})
}

// The clock of the process may say what it likes: here that of Redis is another.
func TestOnlyTheClockOfRedisDecides(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"the process lags": 26 * time.Hour, "the process is ahead": -26 * time.Hour} {
		t.Run(name+", a configured quota", func(t *testing.T) {
			onBed(t, func(b *bed) {
				now := time.Now().Add(ahead)
				b.mini.SetTime(now)
				s := b.store(redisstore.WithDailyQuota(50))
				assert.Equal(t, 50, b.drain(s))
				time.Sleep(2 * time.Second)
				assert.Zero(t, b.drain(s))
				lima := now.In(fiscope.Lima)
				midnight := time.Date(lima.Year(), lima.Month(), lima.Day()+1, 0, 0, 0, 0, fiscope.Lima)
				assert.Equal(t, midnight.UTC(), b.reserve(s, 0).Until)
			})
		})
		t.Run(name+", leases", func(t *testing.T) {
			onBed(t, func(b *bed) {
				b.mini.SetTime(time.Now().Add(ahead))
				s := b.store(redisstore.WithLease(20))
				b.open(s, 2000, in(ahead+time.Hour))
				assert.Equal(t, 2000, b.drain(s))
				assert.Less(t, b.trips(func() { b.drain(s) }), 200)
			})
		})
	}
}

// While no day is known and the service fails, nobody queues for it.
func TestThoseWhoWaitForAnAttemptThatFailsFail(t *testing.T) {
	for name, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases": {redisstore.WithLease(20)}} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				service := &counting{latency: 100 * time.Millisecond, answer: func(int) (int, string) { return 503, "" }}
				start := time.Now()
				var callers sync.WaitGroup
				for range 4 {
					client := service.client(t, b.store(opts...), noRetry)
					for range 50 {
						callers.Go(func() {
							_, err := client.Contribuyentes.Consultar(context.Background(), "20131312955")
							assert.ErrorIs(t, err, fiscope.ErrUnavailable)
						})
					}
				}
				callers.Wait()
				assert.Less(t, time.Since(start), 2*time.Second)
			})
		})
	}
}

func TestWithoutHeadersLeasesCostNoTime(t *testing.T) {
	took := func(opts ...redisstore.Option) (d time.Duration) {
		onBed(t, func(b *bed) {
			service := &counting{latency: 50 * time.Millisecond, answer: func(int) (int, string) { return 404, "" }}
			client := service.client(t, b.store(opts...), noRetry)
			_, _ = client.Contribuyentes.Consultar(context.Background(), "20131312955")
			b.hang.Store(int64(10 * time.Millisecond))
			start := time.Now()
			var callers sync.WaitGroup
			for range 50 {
				callers.Go(func() {
					for range 10 {
						_, _ = client.Contribuyentes.Consultar(context.Background(), "20131312955")
					}
				})
			}
			callers.Wait()
			d = time.Since(start)
			b.hang.Store(0)
		})
		return d
	}
	assert.LessOrEqual(t, took(redisstore.WithLease(20)), took()*12/10)
}

func TestRefusalsWithoutHeadersInARowStopTheFleet(t *testing.T) {
	for name, header := range map[string]string{"on a day that a header opened": "999", "on one without headers": ""} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				service := &counting{reset: in(time.Hour), latency: 10 * time.Millisecond, answer: func(n int) (int, string) {
					if n == 1 {
						return 404, header
					}
					return 429, ""
				}}
				const processes = 4
				var clients []*fiscope.Client
				for range processes {
					clients = append(clients, service.client(t, b.store(redisstore.WithLease(20)), noRetry))
				}
				for range 100 {
					for _, client := range clients {
						_, _ = client.Contribuyentes.Consultar(context.Background(), "20131312955")
					}
				}
				assert.LessOrEqual(t, service.requests, 1+5*processes)
				before := service.requests
				time.Sleep(61 * time.Second)
				_, _ = clients[0].Contribuyentes.Consultar(context.Background(), "20131312955")
				assert.Greater(t, service.requests, before, "for a minute")
			})
		})
	}
}

func TestARefusalIsRememberedForASecond(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 100, in(time.Hour))
		for b.reserve(s, 50).Grant == fiscope.QuotaGranted {
			continue
		}
		assert.Zero(t, b.trips(func() {
			for range 100 {
				assert.Equal(t, 50, b.reserve(s, 50).Left)
				assert.Equal(t, fiscope.QuotaSpent, b.reserve(s, 60).Grant)
			}
		}))
		b.granted(s)
		assert.Equal(t, 49, b.drain(s), "one who keeps less is not refused by it")
		assert.Zero(t, b.trips(func() {
			for range 100 {
				b.reserve(s, 0)
			}
		}))
		time.Sleep(1100 * time.Millisecond)
		assert.Equal(t, 1, b.trips(func() { b.reserve(s, 0) }))
	})
}

// Each attempt that took a probe over counts: none of them was waited for.
func TestAProbeThatIsTakenOverCounts(t *testing.T) {
	onBed(t, func(b *bed) {
		var sent atomic.Int64
		reset := in(time.Hour)
		var all sync.WaitGroup
		stores := make([]*redisstore.Store, 8)
		for i := range stores {
			stores[i] = b.store(redisstore.WithProbeTime(5 * time.Second))
		}
		for _, s := range stores {
			all.Go(func() {
				for {
					r := b.reserve(s, 0)
					switch r.Grant {
					case fiscope.QuotaGranted:
						time.Sleep(30 * time.Second)
						b.settle(s, r, header(max(0, 6-int(sent.Add(1))), reset))
					case fiscope.QuotaSpent:
						return
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		all.Wait()
		assert.LessOrEqual(t, sent.Load(), int64(7))
	})
}

func TestATypedNilClientIsRefused(t *testing.T) {
	var client *counter
	_, err := redisstore.New(client)
	require.ErrorContains(t, err, "client is nil")
}

// Who goes first, and those who come after it failed, have not waited for it.
func TestTheFirstAttemptIsTriedAgain(t *testing.T) {
	for name, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases": {redisstore.WithLease(20)}} {
		for _, callers := range []int{1, 2, 50} {
			t.Run(fmt.Sprint(name, ", ", callers), func(t *testing.T) {
				onBed(t, func(b *bed) {
					service := &counting{reset: in(time.Hour), latency: 100 * time.Millisecond, answer: func(n int) (int, string) {
						if n == 1 {
							return 503, ""
						}
						return 404, fmt.Sprint(1000 - n)
					}}
					s := b.store(opts...)
					client := service.client(t, s)
					look := func() error {
						_, err := client.Contribuyentes.Consultar(context.Background(), "20131312955")
						return err
					}
					var all sync.WaitGroup
					all.Go(func() { assert.ErrorIs(t, look(), fiscope.ErrNotFound, "its own retry") })
					time.Sleep(10 * time.Millisecond)
					for range callers - 1 {
						all.Go(func() {
							if err := look(); !errors.Is(err, fiscope.ErrNotFound) {
								assert.ErrorIs(t, err, fiscope.ErrUnavailable)
							}
						})
					}
					time.Sleep(95 * time.Millisecond) // it has failed, and nobody of the others has asked again
					all.Go(func() { assert.ErrorIs(t, look(), fiscope.ErrNotFound, "one who comes") })
					all.Wait()
				})
			})
		}
	}
}

// When the first attempt of the day is answered, those who waited for it and those who come then ask Redis together.
func TestThoseWhoWaitedAndThoseWhoComeShareAQuestion(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store(redisstore.WithLease(20))
		first := b.granted(s)
		told := b.reserve(s, 0)
		require.Equal(t, fiscope.QuotaWait, told.Grant)
		b.settle(s, first, header(1000, in(time.Hour)))
		b.hang.Store(int64(100 * time.Millisecond))
		var callers sync.WaitGroup
		trips := b.trips(func() {
			for i := range 50 {
				callers.Go(func() {
					time.Sleep(time.Duration(i) * time.Millisecond)
					var r fiscope.Reservation
					var err error
					if i%2 == 0 {
						r, err = s.Reserve(context.Background(), account, 0)
					} else {
						r, err = s.ReserveAgain(context.Background(), account, 0, told)
					}
					assert.NoError(t, err)
					assert.Equal(t, fiscope.QuotaGranted, r.Grant, "%+v", r)
				})
			}
			callers.Wait()
		})
		b.hang.Store(0)
		assert.LessOrEqual(t, trips, 5, "one question, and another for those who came during it")
	})
}
