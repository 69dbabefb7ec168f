package dayquota_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/dayquota"
	"github.com/fiscope/fiscope/store"
)

// service is a service with a quota a day, whose headers are right.
type service struct {
	mu       sync.Mutex
	quota    int
	served   int // of this day
	refusals int
	reset    time.Time
	random   *rand.Rand
	silent   float64 // answers without headers
	failing  float64 // attempts that fail, charged or not
}

func (s *service) chance(of float64) bool { return s.random.Float64() < of }

func (s *service) answer() store.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !time.Now().Before(s.reset) {
		s.served, s.reset = 0, s.reset.Add(24*time.Hour)
	}
	if s.chance(0.05) {
		return store.Outcome{Remaining: -1} // it was not sent
	}
	o := store.Outcome{Written: 1, Remaining: -1}
	if s.chance(s.failing) {
		if s.chance(0.5) && s.served < s.quota {
			s.served++
		}
		return o
	}
	if o.Served = s.served < s.quota; o.Served {
		s.served++
	} else {
		o.Refused = true
		s.refusals++
	}
	if !s.chance(s.silent) {
		o.Remaining, o.Reset = s.quota-s.served, s.reset
	}
	return o
}

func (s *service) pause(longest time.Duration) {
	s.mu.Lock()
	d := time.Duration(s.random.Int64N(int64(longest)))
	s.mu.Unlock()
	time.Sleep(d)
}

// 60 goroutines use the quota of two days, and no more of it.
func TestManyGoroutinesUseTheQuotaAndNoMore(t *testing.T) {
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 29))
		s := &service{
			quota: 120 + random.IntN(3000), random: random,
			silent: []float64{0, 0.5, 0.9}[seed%3], failing: []float64{0, 0.1}[seed%2],
		}
		t.Run(fmt.Sprintf("%d: %d, %.1f silent, %.1f failing", seed, s.quota, s.silent, s.failing), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s.reset = time.Now().Add(3 * time.Hour)
				var gate dayquota.Gate
				var wg sync.WaitGroup
				var probes, charged int
				for range 2 {
					end := s.reset.Add(-time.Minute)
					for range 60 {
						wg.Go(func() {
							for time.Now().Before(end) {
								r := gate.Reserve(time.Now(), 0)
								if r.Grant == store.Spent {
									s.pause(time.Minute)
									continue
								}
								if r.Grant == store.Probe {
									s.mu.Lock()
									probes++
									s.mu.Unlock()
								}
								s.pause(200 * time.Millisecond)
								o := s.answer()
								s.pause(200 * time.Millisecond)
								gate.Commit(time.Now(), r, o)
							}
						})
					}
					wg.Wait()
					charged += s.served
					time.Sleep(2 * time.Minute) // the next day
				}
				assert.GreaterOrEqual(t, charged, 2*s.quota*95/100)
				most := probes
				if s.silent > 0 { // a probe that is served without a header opens a day until an answer refuses
					most += 60
				}
				assert.LessOrEqual(t, s.refusals, most)
			})
		})
	}
}
