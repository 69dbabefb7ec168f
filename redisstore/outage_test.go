package redisstore_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/testservice"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/store"
)

// within is a context of so many milliseconds, as a Client's calls have one.
func within(t testing.TB, milliseconds int) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(milliseconds)*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// secret is the password of the test's Redis.
const secret = "la-contraseña"

// ways are those in which Redis goes away, and comes back.
var ways = map[string]struct {
	begin  func(*server, *proxy)
	end    func(*server, *proxy)
	reason string // what an error says of it
}{
	"nobody listens": {begin: func(s *server, p *proxy) { s.kill(); p.breakAll() }, end: func(s *server, _ *proxy) { s.start() }, reason: "connection refused|EOF|reset"},
	"it hangs": {
		begin: func(_ *server, p *proxy) { p.set(func() { p.hangs = true }) }, end: func(_ *server, p *proxy) { p.set(func() { p.hangs = false }) },
		reason: "i/o timeout|deadline exceeded",
	},
	"it resets": {
		begin: func(_ *server, p *proxy) { p.set(func() { p.resets = true }) }, end: func(_ *server, p *proxy) { p.set(func() { p.resets = false }) },
		reason: "connection reset by peer|EOF",
	},
	"it refuses commands": {
		begin:  func(s *server, _ *proxy) { admin(s, secret, "ACL", "SETUSER", "default", "-@scripting", "-get") },
		end:    func(s *server, _ *proxy) { admin(s, secret, "ACL", "SETUSER", "default", "+@all") },
		reason: "NOPERM",
	},
	"another password": {
		begin: func(s *server, p *proxy) {
			admin(s, secret, "CONFIG", "SET", "requirepass", "otra")
			p.breakAll()
		},
		end:    func(s *server, _ *proxy) { admin(s, "otra", "CONFIG", "SET", "requirepass", secret) },
		reason: "WRONGPASS",
	},
	"it has no replicas": {
		begin:  func(s *server, _ *proxy) { admin(s, secret, "CONFIG", "SET", "min-replicas-to-write", "1") },
		end:    func(s *server, _ *proxy) { admin(s, secret, "CONFIG", "SET", "min-replicas-to-write", "0") },
		reason: "NOREPLICAS",
	},
}

// While Redis is away, lookups go on, of a client that has begun before and of one that begins then. A clave that is
// proven goes on, and another is not sent. The log has a line when the outage begins, with what Redis or the network
// said, and one when it is over.
func TestLookupsGoOnWithoutRedis(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, service := startReal(t, "--requirepass", secret), startService(t, 1000)
			p := startProxy(t, s.addr)
			log := new(testservice.Output)
			begin := func() *fiscope.Client {
				rdb := closing(t, redis.NewClient(&redis.Options{Addr: p.addr, Password: secret}))
				client := service.Client(fiscope.WithStore(newStore(t, rdb)), fiscope.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
				t.Cleanup(func() { assert.NoError(t, client.Close(context.Background())) })
				return client
			}
			before := begin()
			require.NoError(t, ask(t.Context(), before, ""))
			eventually(t, "a clave is proven", func() bool { return ask(t.Context(), before, mockserver.ClaveSOL) == nil })
			said := len(log.String()) // a busy machine may have had an outage of its own
			way.begin(s, p)
			for _, client := range []*fiscope.Client{before, begin()} {
				start := time.Now()
				for range 20 {
					require.NoError(t, ask(t.Context(), client, ""))
				}
				assert.Less(t, time.Since(start), 15*time.Second, "only the first one waits")
				attempts := strikes(service)
				err := ask(t.Context(), client, "nunca-vista")
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				require.ErrorContains(t, err, "redisstore")
				assert.NotContains(t, err.Error(), secret)
				assert.Equal(t, attempts, strikes(service))
			}
			require.NoError(t, ask(t.Context(), before, mockserver.ClaveSOL))
			logged := func(text string) {
				eventually(t, text, func() bool {
					require.NoError(t, ask(t.Context(), before, ""))
					return regexp.MustCompile(text).MatchString(log.String()[said:])
				})
			}
			logged("fiscope: the Store fails.*(" + way.reason + ")")
			way.end(s, p)
			logged("fiscope: the Store answers again")
			assert.NotContains(t, log.String(), secret)
		})
	}
}

// admin asks a server, beside the store.
func admin(s *server, password string, command ...any) {
	client := redis.NewClient(&redis.Options{Addr: s.addr, Password: password})
	defer client.Close()
	require.NoError(s.t, client.Do(context.Background(), command...).Err())
}

// The reason is in the error of the first call, though its caller no longer waits when the Redis client gives up.
func TestTheFirstErrorHasItsReason(t *testing.T) {
	t.Parallel()
	const nobody = "127.0.0.1:1"
	refused := newStore(t, closing(t, redis.NewClient(&redis.Options{Addr: nobody})))
	_, err := refused.Load(within(t, 500), "key")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)

	cluster := newStore(t, closing(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{nobody}})))
	_, err = cluster.Load(within(t, 30_000), "key")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)

	stranger := httptest.NewTLSServer(nil)
	defer stranger.Close()
	stranger.Config.ErrorLog = log.New(io.Discard, "", 0)
	encrypted := newStore(t, closing(t, redis.NewClient(&redis.Options{
		Addr: stranger.Listener.Addr().String(), TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	})))
	_, err = encrypted.Load(within(t, 30_000), "key")
	require.ErrorContains(t, err, "failed to verify certificate")
}

// What is reserved or claimed for a caller that no longer waits is given back.
func TestAnAnswerThatComesTooLateIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, timeouts := range map[string]bool{"by default": false, "with ContextTimeoutEnabled": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, service := startServer(t), startService(t, 1000)
			p := startProxy(t, s.addr)
			rdb := closing(t, redis.NewClient(&redis.Options{Addr: p.addr, ContextTimeoutEnabled: timeouts}))
			client := service.Client(fiscope.WithStore(newStore(t, rdb)))
			require.NoError(t, ask(t.Context(), client, "")) // there is a connection, and Redis knows the script
			_ = ask(t.Context(), client, "equivocada")
			direct := s.client(t)
			held := func() (reserved, claimed int) {
				var day struct{ Used, Done int }
				key := direct.Keys(t.Context(), "*:quota:*").Val()[0]
				require.NoError(t, json.Unmarshal([]byte(direct.Get(t.Context(), key).Val()), &day))
				return day.Used - day.Done, len(direct.Keys(t.Context(), "*:claim:1").Val())
			}
			holds := func(reserved, claimed int) func() bool {
				return func() bool { r, c := held(); return r == reserved && c == claimed }
			}
			for claimed, question := range []string{"}:quota:", "}:claim:"} { // whose answer comes too late
				eventually(t, "all is written", holds(0, 0))
				p.set(func() { p.mutes = question })
				ctx, cancel := context.WithCancel(t.Context())
				left := make(chan error)
				go func() { left <- ask(ctx, client, mockserver.ClaveSOL) }()
				eventually(t, "Redis has answered", holds(1, claimed))
				cancel()
				require.ErrorIs(t, <-left, context.Canceled)
				p.set(func() { p.mutes, p.mute = "", false })
			}
			require.NoError(t, client.Close(t.Context()))
			assert.True(t, holds(0, 0)())
		})
	}
}

// The Redis client repeats a question whose answer was lost: that is the same claim.
func TestAClaimWhoseAnswerIsLost(t *testing.T) {
	s := startServer(t)
	p := startProxy(t, s.addr)
	shared := newStore(t, closing(t, redis.NewClient(&redis.Options{Addr: p.addr})))
	_, err := shared.Claim(t.Context(), account, time.Hour)
	require.NoError(t, err)
	p.set(func() { p.loses = 1 })
	c, err := shared.Claim(t.Context(), credential, time.Hour)
	require.NoError(t, err)
	assert.Equal(t, store.ClaimGranted, c.State)
	require.NoError(t, shared.Record(t.Context(), credential, c, store.VerdictNone, 0))
	c, err = shared.Claim(t.Context(), credential, time.Hour)
	require.NoError(t, err)
	assert.Equal(t, store.ClaimGranted, c.State)
}

// A Redis that is full takes no new answers, and goes on to count and to guard.
func TestAFullRedisGoesOn(t *testing.T) {
	s := startReal(t)
	client := s.client(t)
	shared := newStore(t, client)
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	require.NoError(t, shared.Save(t.Context(), "key", []byte("value"), time.Hour))
	r, err := shared.Reserve(t.Context(), account, 0)
	require.NoError(t, err)
	require.NoError(t, shared.Commit(t.Context(), account, r, header(0)))
	r, err = shared.Reserve(t.Context(), account, 0)
	require.NoError(t, err)
	assert.Equal(t, store.Spent, r.Grant)
	c, err := shared.Claim(t.Context(), credential, time.Hour)
	require.NoError(t, err)
	require.NoError(t, shared.Record(t.Context(), credential, c, store.VerdictRefused, time.Hour))
	c, err = shared.Claim(t.Context(), credential, time.Hour)
	require.NoError(t, err)
	assert.Equal(t, store.ClaimRefused, c.State)
	require.NoError(t, shared.Save(t.Context(), "key", []byte("value"), time.Hour))
	value, err := shared.Load(t.Context(), "key")
	require.NoError(t, err)
	assert.Nil(t, value)
}

func header(left int) store.Outcome {
	return store.Outcome{Written: 1, Served: true, Remaining: left, Reset: time.Now().Add(time.Hour)}
}
