package redisstore_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"
)

const account = "00112233445566778899aabbccddeeff"

// bed is a Redis without sockets, inside a synctest bubble, that can be told to fail.
type bed struct {
	t      *testing.T
	mini   *miniredis.Miniredis
	client *redis.Client
	calls  atomic.Int64 // round trips
	keys   atomic.Value // of the last script
	fail   atomic.Bool  // every command fails
	hang   atomic.Int64 // nanoseconds until an answer comes back; the command is carried out at once
	lost   atomic.Int64 // so many answers are lost from now on: the command is carried out
	repeat atomic.Int64 // so many commands are carried out twice, as the Redis client does that lost an answer
}

// onBed runs a test in a bubble: its time is virtual, for miniredis too.
func onBed(t *testing.T, f func(b *bed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newBed(t)) })
}

func newBed(t *testing.T) *bed {
	b := &bed{t: t, mini: miniredis.NewMiniRedis()}
	b.mini.ClockTTL(true)
	b.client = redis.NewClient(&redis.Options{
		Dialer:     func(context.Context, string, string) (net.Conn, error) { return b.mini.Dial() },
		MaxRetries: -1, DialerRetries: 1, PoolSize: 100,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	b.client.AddHook(b)
	t.Cleanup(func() {
		_ = b.client.Close()
		b.mini.Close()
	})
	return b
}

var errInjected = errors.New("injected")

func (b *bed) DialHook(next redis.DialHook) redis.DialHook { return next }
func (b *bed) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (b *bed) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		b.calls.Add(1)
		if b.fail.Load() {
			cmd.SetErr(errInjected)
			return errInjected
		}
		if cmd.Name() == "evalsha" {
			var keys []string
			for _, arg := range cmd.Args()[3:] {
				if key, ok := arg.(string); ok && len(key) > len(account) {
					keys = append(keys, key)
				}
			}
			b.keys.Store(keys)
		}
		err := next(ctx, cmd)
		if err == nil && b.repeat.Add(-1) >= 0 {
			err = next(ctx, cmd)
		}
		if err == nil && b.lost.Add(-1) >= 0 {
			cmd.SetErr(errInjected)
			return errInjected
		}
		if d := b.hang.Load(); d > 0 {
			time.Sleep(time.Duration(d))
		}
		return err
	}
}

func (b *bed) store(opts ...redisstore.Option) *redisstore.Store {
	b.t.Helper()
	s, err := redisstore.New(b.client, append([]redisstore.Option{redisstore.WithShare(0)}, opts...)...)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = s.Release(context.Background()) })
	return s
}

// loses has the next answers of Redis lost.
func (b *bed) loses(n int64) { b.lost.Store(n) }

// trips counts the round trips of f.
func (b *bed) trips(f func()) int {
	before := b.calls.Load()
	f()
	return int(b.calls.Load() - before)
}

func (b *bed) reserve(s *redisstore.Store, keep int) fiscope.Reservation {
	b.t.Helper()
	r, err := s.Reserve(context.Background(), account, keep)
	require.NoError(b.t, err)
	return r
}

func (b *bed) settle(s *redisstore.Store, r fiscope.Reservation, o fiscope.Outcome) {
	b.t.Helper()
	require.NoError(b.t, s.Settle(context.Background(), account, r, o))
}

// granted reserves, and fails where that is refused.
func (b *bed) granted(s *redisstore.Store) fiscope.Reservation {
	b.t.Helper()
	r := b.reserve(s, 0)
	require.Equal(b.t, fiscope.QuotaGranted, r.Grant, "%+v", r)
	return r
}

// open begins a day with a first attempt.
func (b *bed) open(s *redisstore.Store, remaining int, reset time.Time) {
	b.t.Helper()
	b.settle(s, b.granted(s), header(remaining, reset))
}

// drain sends until nothing is granted, and returns how many were.
func (b *bed) drain(s *redisstore.Store) int {
	b.t.Helper()
	for n := 0; ; n++ {
		r := b.reserve(s, 0)
		if r.Grant != fiscope.QuotaGranted {
			return n
		}
		b.settle(s, r, silent)
	}
}

// silent is an answer without headers.
var silent = fiscope.Outcome{Written: 1, StatusCode: 200}

func header(remaining int, reset time.Time) fiscope.Outcome {
	return fiscope.Outcome{Written: 1, StatusCode: 200, RateLimit: &fiscope.RateLimit{Limit: 1000, Remaining: remaining, Reset: reset}}
}

func in(d time.Duration) time.Time { return time.Now().Add(d).Truncate(time.Second) }

// replica remembers the quota as it is now. What it returns makes it so again: a replica takes over that
// heard of nothing since.
func (b *bed) replica() (takeOver func()) {
	b.t.Helper()
	copies := map[string]map[string]string{}
	for _, key := range []string{"quota:3:day"} {
		key = "fiscope:{" + account + "}:" + key
		fields, err := b.client.HGetAll(context.Background(), key).Result()
		require.NoError(b.t, err)
		copies[key] = fields
	}
	return func() {
		for key, fields := range copies {
			b.mini.Del(key)
			for field, value := range fields {
				b.mini.HSet(key, field, value)
			}
		}
	}
}

func storeOf(t *testing.T, client redis.UniversalClient, opts ...redisstore.Option) *redisstore.Store {
	t.Helper()
	s, err := redisstore.New(client, append([]redisstore.Option{redisstore.WithShare(0)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Release(context.Background()) })
	return s
}
