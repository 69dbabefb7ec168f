package redisstore_test

import (
	"context"
	"iter"
	"net"
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

// far returns an address where a server answers after a round trip of this time.
func far(t *testing.T, addr string, roundTrip time.Duration) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	all.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", addr)
			if err != nil {
				_ = near.Close()
				continue
			}
			context.AfterFunc(ctx, func() { _, _ = near.Close(), server.Close() })
			all.Go(func() { carry(&all, server, near, roundTrip) })
			all.Go(func() { carry(&all, near, server, 0) })
		}
	})
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		all.Wait()
	})
	return listener.Addr().String()
}

// carry copies what comes, each piece after its time on the way.
func carry(all *sync.WaitGroup, to, from net.Conn, takes time.Duration) {
	type piece struct {
		bytes []byte
		at    time.Time
	}
	under := make(chan piece, 1000)
	all.Go(func() {
		defer to.Close()
		for p := range under {
			time.Sleep(time.Until(p.at))
			_, _ = to.Write(p.bytes)
		}
	})
	defer close(under)
	for {
		buffer := make([]byte, 64<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			under <- piece{buffer[:n], time.Now().Add(takes)}
		}
		if err != nil {
			return
		}
	}
}

// A Redis that is far away, slower than WithTimeout or not, refuses nobody: cold, and with all at once.
func TestAFarRedisRefusesNobody(t *testing.T) {
	for name, test := range map[string]struct {
		roundTrip time.Duration
		change    func(*redis.Options)
		opts      []redisstore.Option
	}{
		"a round trip of 200 ms": {200 * time.Millisecond, nil, nil},
		"of 200 ms, with leases": {200 * time.Millisecond, nil, []redisstore.Option{redisstore.WithLease(20)}},
		"of 400 ms":              {400 * time.Millisecond, nil, nil},
		"of 400 ms, with leases": {400 * time.Millisecond, nil, []redisstore.Option{redisstore.WithLease(20)}},
		"of 60 ms, with 100 ms for an answer, contexts heed": {60 * time.Millisecond, func(o *redis.Options) { o.ContextTimeoutEnabled = true }, []redisstore.Option{redisstore.WithTimeout(100 * time.Millisecond)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := &redis.Options{Addr: far(t, startServer(t).addr, test.roundTrip)}
			if test.change != nil {
				test.change(options)
			}
			client := redis.NewClient(options)
			defer client.Close()
			s, err := redisstore.New(client, append(test.opts, redisstore.WithDailyQuota(10_000), redisstore.WithShare(0))...)
			require.NoError(t, err)
			reserve := func() (grants [4]int64) {
				var counts [4]atomic.Int64
				var callers sync.WaitGroup
				for range 1000 {
					callers.Go(func() {
						r, err := s.Reserve(context.Background(), account, 0)
						assert.NoError(t, err)
						counts[r.Grant].Add(1)
						assert.NoError(t, s.Settle(context.Background(), account, r, silent))
					})
				}
				callers.Wait()
				for i := range counts {
					grants[i] = counts[i].Load()
				}
				return grants
			}
			cold := reserve()
			assert.Zero(t, cold[fiscope.QuotaSpent], "%v", cold)
			_ = s.Release(context.Background()) // WithTimeout may be too short for its answer
			if warm := reserve(); test.roundTrip < 250*time.Millisecond {
				assert.EqualValues(t, 1000, warm[fiscope.QuotaGranted], "%v", warm)
			} else {
				assert.Zero(t, warm[fiscope.QuotaSpent], "%v", warm)
				assert.Positive(t, warm[fiscope.QuotaGranted], "%v", warm)
			}
			_ = s.Release(context.Background())
		})
	}
}

func TestARedisThatPausesEndsNoBatch(t *testing.T) {
	server := startServer(t)
	if server.mini != nil {
		t.Skip("install redis-server to run this test: miniredis knows no CLIENT PAUSE")
	}
	admin := server.client(t)
	s := storeOf(t, server.client(t))
	service := &counting{quota: 10_000, reset: in(time.Hour), latency: 5 * time.Millisecond}
	client := service.client(t, s)
	rucs := iter.Seq[string](func(yield func(string) bool) {
		for i := range 2000 {
			if i == 100 {
				assert.NoError(t, admin.Do(context.Background(), "CLIENT", "PAUSE", "800", "ALL").Err())
			}
			if !yield(validRUC(i)) {
				return
			}
		}
	})
	n := 0
	for _, err := range client.Contribuyentes.ConsultarLote(context.Background(), rucs, fiscope.LotePolicy{}) {
		require.ErrorIs(t, err, fiscope.ErrNotFound, n)
		n++
	}
	assert.Equal(t, 2000, n)
	require.NoError(t, client.Close(context.Background()))
}

// A Redis whose memory is full refuses to remember more, and goes on to count.
func TestAFullRedisGoesOnToCount(t *testing.T) {
	server := startServer(t, "--maxmemory", "8mb")
	if server.mini != nil {
		t.Skip("install redis-server to run this test: miniredis has no limit")
	}
	ctx := context.Background()
	client := server.client(t)
	for i := 0; ; i++ {
		if err := client.RPush(ctx, "full", strings.Repeat("x", 10_000)).Err(); err != nil {
			require.ErrorContains(t, err, "OOM")
			break
		}
		require.Less(t, i, 10_000)
	}
	for name, opts := range map[string][]redisstore.Option{"without leases": nil, "with leases, share": {redisstore.WithLease(20), redisstore.WithShare(5)}} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, client.Del(ctx, "fiscope:{"+account+"}:quota:3:day").Err())
			b := &bed{t: t}
			s := storeOf(t, client, opts...)
			b.open(s, 200, in(time.Hour))
			b.settle(s, b.granted(s), fiscope.Outcome{})
			assert.Equal(t, 200, b.drain(s))
			assert.Equal(t, fiscope.QuotaSpent, b.reserve(s, 0).Grant)
		})
	}
	require.Error(t, client.RPush(ctx, "full", "x").Err(), "it still is")
}
