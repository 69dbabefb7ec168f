package redisstore_test

import (
	"sync"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/stretchr/testify/assert"
)

// daily is a service with a quota for each day, by a clock that differs from that of Redis by skew.
type daily struct {
	mu      sync.Mutex
	reset   time.Time // of the first day, by its own clock
	skew    time.Duration
	quota   [2]int // of each day
	used    [2]int
	refused [2]int
}

// send is one attempt, of 20 ms.
func (d *daily) send() fiscope.Outcome {
	time.Sleep(10 * time.Millisecond)
	d.mu.Lock()
	day := 0
	if !time.Now().Add(d.skew).Before(d.reset) {
		day = 1
	}
	status := 200
	if d.used[day] < d.quota[day] {
		d.used[day]++
	} else {
		d.refused[day]++
		status = 429
	}
	o := header(d.quota[day]-d.used[day], d.reset.Add(time.Duration(day)*24*time.Hour))
	o.StatusCode = status
	d.mu.Unlock()
	time.Sleep(10 * time.Millisecond)
	return o
}

// At the reset a clock of Redis that is not the service's costs few queries, and no minute.
func TestTheClocksOfRedisAndOfTheServiceDiffer(t *testing.T) {
	for name, skew := range map[string]time.Duration{
		"Redis is 200 ms ahead":  -200 * time.Millisecond,
		"they agree":             0,
		"Redis is 200 ms behind": 200 * time.Millisecond,
	} {
		for was, left := range map[string]int{"the day before is spent": 100, "much of it is left": 100_000} {
			for leases, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases": {redisstore.WithLease(20)}} {
				t.Run(name+", "+was+", "+leases, func(t *testing.T) {
					onBed(t, func(b *bed) {
						service := &daily{reset: in(time.Second), skew: skew, quota: [2]int{left, 1000}}
						var callers sync.WaitGroup
						for range 4 {
							s := b.store(opts...)
							for range 10 {
								callers.Go(func() {
									for time.Until(service.reset) > -2*time.Second {
										r := b.reserve(s, 0)
										if r.Grant == fiscope.QuotaGranted {
											b.settle(s, r, service.send())
										}
										time.Sleep(5 * time.Millisecond)
									}
								})
							}
						}
						callers.Wait()
						t.Logf("%+v", service)
						assert.LessOrEqual(t, service.refused[0], 12, "of the day before")
						assert.LessOrEqual(t, service.refused[1], 40, "what was under way at the reset")
						assert.GreaterOrEqual(t, service.used[1], 1000-40)
					})
				})
			}
		}
	}
}
