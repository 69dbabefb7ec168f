package redisstore_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOneGoesFirstAndItsHeaderOpensTheDay(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		first := b.granted(one)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(other, 0).Grant)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(one, 0).Grant)
		reset := in(5 * time.Hour)
		b.settle(one, first, header(7, reset))
		time.Sleep(time.Second)
		assert.Equal(t, 4, func() (n int) {
			for range 4 {
				b.granted(other)
				n++
			}
			return n
		}())
		assert.Equal(t, 3, b.drain(one))
		for _, s := range []*redisstore.Store{one, other} {
			want := fiscope.Reservation{Grant: fiscope.QuotaSpent, Until: reset.UTC()}
			assert.Empty(t, cmp.Diff(want, b.reserve(s, 0)))
		}
	})
}

func TestAProbeWithoutVerdictIsFollowedByAnother(t *testing.T) {
	for name, o := range map[string]fiscope.Outcome{
		"not sent":  {},
		"no answer": {Written: 1},
		"a 503":     {Written: 1, StatusCode: 503},
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				one, other := b.store(), b.store()
				b.settle(one, b.granted(one), o)
				b.granted(other)
				assert.Equal(t, fiscope.QuotaWait, b.reserve(one, 0).Grant)
			})
		})
	}
}

func TestAProbeThatDiedIsFollowedByAnother(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(redisstore.WithProbeTime(10*time.Second)), b.store(redisstore.WithProbeTime(10*time.Second))
		died := b.granted(one)
		time.Sleep(9 * time.Second)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(other, 0).Grant)
		time.Sleep(2 * time.Second)
		second := b.granted(other)
		b.settle(one, died, fiscope.Outcome{Written: 1, StatusCode: 503}) // it was only slow: the lock is another's
		assert.Equal(t, fiscope.QuotaWait, b.reserve(one, 0).Grant)
		b.settle(other, second, header(3, in(time.Hour)))
		time.Sleep(time.Second)
		assert.Equal(t, 3, b.drain(one), "the one that died is not counted twice")
	})
}

func TestAProbeIsWaitedForAsLongAsIsSaid(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		b.granted(one)
		time.Sleep(35*time.Second - 100*time.Millisecond)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(other, 0).Grant)
		time.Sleep(time.Second)
		b.granted(other)
	})
}

func TestWithoutHeadersTheFleetGoesOnForAMinute(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		b.settle(one, b.granted(one), silent)
		for range 30 {
			b.settle(other, b.granted(other), silent)
		}
		time.Sleep(61 * time.Second)
		b.granted(one)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(other, 0).Grant, "one goes first again")
	})
}

func TestAHeaderDuringThatMinuteLeavesOutWhatIsUnderWay(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		b.settle(one, b.granted(one), silent)
		slow := b.granted(other)
		b.granted(other)
		b.settle(one, b.granted(one), silent)
		b.settle(one, b.granted(one), header(10, in(time.Hour)))
		assert.Equal(t, 8, b.drain(one), "two of the ten may be those under way")
		b.settle(other, slow, silent)
		assert.Zero(t, b.drain(one))
	})
}

func TestARefusalWithoutHeadersStopsTheFleetForAMinute(t *testing.T) {
	refusal := fiscope.Outcome{Written: 1, StatusCode: 429}
	for name, open := range map[string]func(*bed, *redisstore.Store){
		"of the first": func(b *bed, s *redisstore.Store) { b.settle(s, b.granted(s), refusal) },
		"of a later one": func(b *bed, s *redisstore.Store) {
			b.settle(s, b.granted(s), silent)
			b.settle(s, b.granted(s), refusal)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				one, other := b.store(), b.store()
				open(b, one)
				assert.Empty(t, cmp.Diff(fiscope.Reservation{Grant: fiscope.QuotaSpent}, b.reserve(other, 0)))
				time.Sleep(61 * time.Second)
				b.granted(other)
				assert.Equal(t, fiscope.QuotaWait, b.reserve(one, 0).Grant)
			})
		})
	}
}

func TestARefusalWithoutHeadersDoesNotEndADayWithACount(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 5, in(time.Hour))
		b.settle(s, b.granted(s), fiscope.Outcome{Written: 1, StatusCode: 429})
		assert.Equal(t, 4, b.drain(s), "it may have been throttling")
	})
}

func TestARefusalThatWasOlderThanTheCount(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		b.settle(one, b.granted(one), silent)
		slow := b.granted(other)
		b.settle(one, b.granted(one), header(10, in(time.Hour)))
		b.settle(other, slow, fiscope.Outcome{Written: 1, StatusCode: 429})
		assert.Equal(t, 9, b.drain(one))
	})
}

func TestAHeaderWithoutAResetIsBelievedForAMinute(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store()
		b.open(s, 2, time.Time{})
		assert.Equal(t, 2, b.drain(s))
		assert.Empty(t, cmp.Diff(fiscope.Reservation{Grant: fiscope.QuotaSpent}, b.reserve(s, 0)))
		time.Sleep(61 * time.Second)
		b.open(s, 3, in(time.Hour))
		assert.Equal(t, 3, b.drain(s))
	})
}

func TestHeadersOnlyLowerWhatIsLeft(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		reset := in(5 * time.Hour)
		b.open(one, 100, reset)
		slow, slower := b.granted(one), b.granted(one)              // 98 are left
		b.settle(other, b.granted(other), header(20, reset))        // another program uses the key
		b.settle(other, b.granted(other), silent)                   // brings the news along: 19
		b.settle(one, slow, header(90, reset))                      // an answer that was late
		b.settle(one, slower, header(91, reset.Add(2*time.Second))) // and a reset that trembles
		assert.Equal(t, 19, b.drain(one)+b.drain(other))
	})
}

func TestNewsOfASpentQuotaTravelAtOnce(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		reset := in(time.Hour)
		b.open(one, 100, reset)
		r := b.granted(one)
		assert.Equal(t, 1, b.trips(func() { b.settle(one, r, header(0, reset)) }))
		assert.Equal(t, fiscope.QuotaSpent, b.reserve(other, 0).Grant)
	})
}

func TestALaterResetReplaces(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(), b.store()
		b.open(one, 200, in(2*time.Hour))
		r := b.granted(one)
		tomorrow := in(26 * time.Hour)
		b.settle(other, b.granted(other), header(50, tomorrow))
		b.settle(one, r, header(3, in(2*time.Hour))) // of the day before
		b.granted(one)                               // brings its news along
		assert.Equal(t, 49, b.drain(other)+b.drain(one))
		assert.Equal(t, tomorrow.UTC(), b.reserve(other, 0).Until)
	})
}

func TestTheDayEndsAtItsReset(t *testing.T) {
	onBed(t, func(b *bed) {
		one, other := b.store(redisstore.WithLease(10), redisstore.WithShare(5), redisstore.WithName("a")), b.store()
		b.open(one, 400, in(10*time.Second))
		b.granted(one)
		b.granted(one)
		require.NoError(t, b.client.Persist(context.Background(), "fiscope:{"+account+"}:quota:3:day").Err()) // not even if Redis keeps it
		time.Sleep(11 * time.Second)
		b.granted(other)
		assert.Equal(t, fiscope.QuotaWait, b.reserve(one, 0).Grant, "neither a lease nor a share outlives the day")
		b.fail.Store(true)
		time.Sleep(time.Second)
		assert.Equal(t, fiscope.QuotaAway, b.reserve(one, 0).Grant)
	})
}

func TestNothingOutlivesTheDayInRedis(t *testing.T) {
	onBed(t, func(b *bed) {
		s := b.store(redisstore.WithShare(5))
		b.open(s, 400, in(time.Hour))
		b.granted(s)
		time.Sleep(59 * time.Minute)
		assert.Equal(t, 400-1-5, b.drain(b.store()), "and nothing is forgotten before")
		time.Sleep(2 * time.Minute)
		for _, key := range b.mini.Keys() {
			assert.False(t, b.mini.Exists(key), key)
		}
	})
}

func TestSomeAreKeptForOthers(t *testing.T) {
	for name, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases": {redisstore.WithLease(20)}} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store(opts...)
				b.open(s, 200, in(time.Hour))
				n := 0
				for b.reserve(s, 100).Grant == fiscope.QuotaGranted {
					n++
				}
				assert.Equal(t, 100, n)
				assert.Equal(t, 100, b.reserve(s, 100).Left)
				b.granted(s) // with leases, it fetches more than one
				assert.Equal(t, fiscope.QuotaSpent, b.reserve(s, 100).Grant, "a lease of those who keep nothing is not theirs")
				assert.Equal(t, 99, b.drain(s))
			})
		})
	}
}

func TestOnlyWhatWasNotSentIsGivenBack(t *testing.T) {
	for name, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases": {redisstore.WithLease(20)}} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				s := b.store(opts...)
				b.open(s, 10, in(time.Hour))
				b.settle(s, b.granted(s), fiscope.Outcome{})                            // not sent
				b.settle(s, b.granted(s), fiscope.Outcome{Written: 1})                  // no answer
				b.settle(s, b.granted(s), fiscope.Outcome{Written: 1, StatusCode: 503}) //
				b.settle(s, b.granted(s), fiscope.Outcome{Written: 3, StatusCode: 200}) // repeated by net/http
				assert.Equal(t, 5, b.drain(s))
			})
		})
	}
}

func TestRoundTrips(t *testing.T) {
	onBed(t, func(b *bed) {
		reset := in(10 * time.Hour)
		s := b.store()
		b.open(s, 100_000, reset)
		b.granted(s)
		left := 99_998
		attempt := func(s *redisstore.Store) {
			r := b.granted(s)
			left--
			b.settle(s, r, header(left, reset))
		}
		assert.Equal(t, 100, b.trips(func() {
			for range 100 {
				attempt(s)
			}
		}), "without leases: one round trip for each attempt")
		leasing := b.store(redisstore.WithLease(20))
		assert.Equal(t, 10, b.trips(func() {
			for range 200 {
				attempt(leasing)
			}
		}), "with leases of 20: one for twenty")
	})
}

func TestTheLastOnesAreNotLeasedInBlocks(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(redisstore.WithLease(20)), b.store()
		b.open(s, 32, in(time.Hour))
		b.granted(s)
		assert.Equal(t, 30, b.drain(other), "2 of 32 are in the lease")
	})
}

func TestALeaseThatIsNotUsedGoesBack(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(redisstore.WithLease(20)), b.store()
		b.open(s, 400, in(time.Hour))
		b.granted(s)
		time.Sleep(29 * time.Second)
		b.granted(s)
		assert.Equal(t, 380, b.drain(other))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, 18, b.drain(other))
		assert.Zero(t, b.drain(s))
	})
}

func TestReleaseGivesBackLeaseAndShare(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(redisstore.WithLease(20), redisstore.WithShare(5), redisstore.WithName("a")), b.store()
		b.open(s, 400, in(time.Hour))
		b.granted(s)
		require.NoError(t, s.Release(context.Background()))
		again := b.store(redisstore.WithShare(5), redisstore.WithName("a"))
		b.granted(again)
		assert.Equal(t, 400-1-1-5, b.drain(other))
	})
}

func TestManyGoroutinesOfManyProcessesAreExact(t *testing.T) {
	for name, opts := range map[string][]redisstore.Option{
		"without leases": nil,
		"with leases":    {redisstore.WithLease(7)},
		"with shares":    {redisstore.WithLease(7), redisstore.WithShare(5)},
	} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				const quota = 500
				reset := in(time.Hour)
				counts := make(chan int, 1000)
				for p := range 10 {
					s := b.store(append(opts, redisstore.WithName(string(rune('a'+p))))...)
					for range 10 {
						go func() {
							n := 0
							for {
								r := b.reserve(s, 0)
								if r.Grant == fiscope.QuotaSpent {
									counts <- n
									return
								}
								if r.Grant == fiscope.QuotaGranted {
									n++
									time.Sleep(5 * time.Millisecond)
									b.settle(s, r, header(quota-1, reset))
								}
								time.Sleep(10 * time.Millisecond)
							}
						}()
					}
				}
				sum := 0
				for range 100 {
					sum += <-counts
				}
				assert.Equal(t, quota, sum)
			})
		})
	}
}

func TestTheConfiguredQuotaNeedsNoProbe(t *testing.T) {
	onBed(t, func(b *bed) { // the bubble begins at 2000-01-01 00:00 UTC, which is 19:00 in Lima
		one, other := b.store(redisstore.WithDailyQuota(10)), b.store(redisstore.WithDailyQuota(10))
		b.granted(one)
		b.granted(other)
		assert.Equal(t, 8, b.drain(one))
		midnight := time.Date(2000, 1, 1, 5, 0, 0, 0, time.UTC)
		assert.Equal(t, midnight, b.reserve(other, 0).Until)
		time.Sleep(time.Until(midnight) + time.Second)
		assert.Equal(t, 10, b.drain(other))
	})
}

func TestAHeaderCorrectsTheConfiguredQuota(t *testing.T) {
	onBed(t, func(b *bed) {
		s, other := b.store(redisstore.WithDailyQuota(100)), b.store(redisstore.WithDailyQuota(100))
		reset := in(20 * time.Hour)
		b.settle(s, b.granted(s), header(4, reset))
		assert.Equal(t, 4, b.drain(other))
		assert.Equal(t, reset.UTC(), b.reserve(s, 0).Until)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A header said that the quota is spent: one of the fleet goes to see now and then, so that a quota that was
// raised in the middle of the day is seen within the hour, and an odd header closes nobody for days.
func TestOneOfTheFleetGoesToSeeWhetherTheQuotaIsStillSpent(t *testing.T) {
	for name, raised := range map[string]time.Duration{"it stays spent": 1000 * time.Hour, "it is raised": 4 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				const processes = 5
				start := time.Now()
				reset := start.Add(47 * time.Hour).UTC().Format(time.RFC3339)
				requests, answered := 0, 0
				var mu sync.Mutex
				rt := roundTripper(func(r *http.Request) (*http.Response, error) {
					mu.Lock()
					defer mu.Unlock()
					requests++
					status, body, left := 429, `{"error":"x","code":"QUOTA_EXCEEDED"}`, "0"
					if time.Since(start) >= raised {
						answered++
						status, body, left = 404, `{"error":"x","code":"NOT_FOUND"}`, "100000"
					}
					h := http.Header{"X-Ratelimit-Remaining": {left}, "X-Ratelimit-Reset": {reset}}
					return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
				})
				var clients []*fiscope.Client
				for range processes {
					client, err := fiscope.NewClient("https://api.example.com", "llave", fiscope.WithHTTPClient(&http.Client{Transport: rt}), fiscope.WithStore(b.store()))
					require.NoError(t, err)
					clients = append(clients, client)
				}
				for time.Since(start) < 6*time.Hour {
					for _, client := range clients {
						_, _ = client.Contribuyentes.Consultar(context.Background(), "20131312955")
					}
					time.Sleep(time.Minute)
				}
				if raised > 6*time.Hour {
					assert.GreaterOrEqual(t, requests, 6, "at least one every hour")
					assert.LessOrEqual(t, requests, processes+6*4, "at most one every 15 minutes")
					return
				}
				assert.Greater(t, answered, 60*processes/2, "within the hour it is seen by all")
			})
		})
	}
}
