package redisstore_test

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/redis/go-redis/v9"
)

// counter counts round trips.
type counter struct {
	redis.UniversalClient
	n int
}

func (c *counter) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	c.n++
	return c.UniversalClient.EvalSha(ctx, sha, keys, args...)
}

// BenchmarkAttempt reserves and settles on a real redis-server: compare the round trips, and the times
// with each other.
func BenchmarkAttempt(b *testing.B) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		b.Skip("redis-server is not installed")
	}
	for _, lease := range []int{1, 20} {
		b.Run(fmt.Sprintf("lease=%d", lease), func(b *testing.B) {
			server := startServer(b)
			c := &counter{UniversalClient: server.client(b)}
			store, err := redisstore.New(c, redisstore.WithLease(lease), redisstore.WithDailyQuota(math.MaxInt32), redisstore.WithShare(0), redisstore.WithTimeout(time.Minute))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = store.Release(context.Background()) }()
			ctx := context.Background()
			attempt := func() {
				r, err := store.Reserve(ctx, account, 0)
				if err != nil || r.Grant != fiscope.QuotaGranted {
					b.Fatal(r, err)
				}
				if err := store.Settle(ctx, account, r, silent); err != nil {
					b.Fatal(err)
				}
			}
			for range lease {
				attempt()
			}
			c.n = 0
			n := 0
			for b.Loop() {
				attempt()
				n++
			}
			b.ReportMetric(float64(c.n)/float64(n), "trips/op")
		})
	}
}
