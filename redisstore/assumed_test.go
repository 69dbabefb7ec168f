package redisstore_test

import (
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/stretchr/testify/assert"
)

// Redis forgot, and a new process says what is granted a day: what all take until the first header says how many were
// used before is not in what that one says is left.
func TestTheFirstHeaderOfAConfiguredDayLeavesOutWhatWasTaken(t *testing.T) {
	for name, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases": {redisstore.WithLease(20)}} {
		t.Run(name, func(t *testing.T) {
			onBed(t, func(b *bed) {
				opts := append(opts, redisstore.WithDailyQuota(400))
				reset := in(5 * time.Hour)
				old := b.store(opts...)
				var known []*redisstore.Store
				for range 4 {
					known = append(known, b.store(opts...))
				}
				for n := range 100 {
					b.settle(old, b.granted(old), header(399-n, reset))
				}
				time.Sleep(31 * time.Second) // it has no lease
				b.mini.FlushAll()
				var held []fiscope.Reservation
				for _, s := range known { // they know of nothing
					held = append(held, b.granted(s))
				}
				sent := 100 + len(held)
				for i, s := range known {
					b.settle(s, held[i], header(299-i, reset))
				}
				all := append(known, old)
				for range 2 {
					for _, s := range all {
						sent += b.drain(s)
					}
					time.Sleep(time.Minute)
				}
				assert.LessOrEqual(t, sent, 400)
				assert.GreaterOrEqual(t, sent, 400-len(held), "what may have been counted")
			})
		})
	}
}
