package redisstore_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/redisstore"
	"github.com/fiscope/fiscope/store"
)

// journal is a log, and what was written into it.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Split(strings.TrimSuffix(j.text.String(), "\n"), "\n")
}

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

	patience int // for how many milliseconds a test waits for that
}{
	"nobody listens": {begin: func(s *server, p *proxy) { s.kill(); p.breakAll() }, end: func(s *server, _ *proxy) { s.start() }, reason: "connection refused|EOF|reset", patience: 10_000},
	"it hangs": {
		begin: func(_ *server, p *proxy) { p.set(func() { p.hangs = true }) }, end: func(_ *server, p *proxy) { p.set(func() { p.hangs = false }) },
		reason: "no answer of Redis within", patience: 500,
	},
	"it resets": {
		begin: func(_ *server, p *proxy) { p.set(func() { p.resets = true }) }, end: func(_ *server, p *proxy) { p.set(func() { p.resets = false }) },
		reason: "connection reset by peer|EOF", patience: 10_000,
	},
	"it refuses commands": {
		begin:  func(s *server, _ *proxy) { admin(s, secret, "ACL", "SETUSER", "default", "-@scripting", "-get") },
		end:    func(s *server, _ *proxy) { admin(s, secret, "ACL", "SETUSER", "default", "+@all") },
		reason: "NOPERM", patience: 10_000,
	},
	"another password": {
		begin: func(s *server, p *proxy) {
			admin(s, secret, "CONFIG", "SET", "requirepass", "otra")
			p.breakAll()
		},
		end:    func(s *server, _ *proxy) { admin(s, "otra", "CONFIG", "SET", "requirepass", secret) },
		reason: "WRONGPASS", patience: 10_000,
	},
	"it has no replicas": {
		begin:  func(s *server, _ *proxy) { admin(s, secret, "CONFIG", "SET", "min-replicas-to-write", "1") },
		end:    func(s *server, _ *proxy) { admin(s, secret, "CONFIG", "SET", "min-replicas-to-write", "0") },
		reason: "NOREPLICAS", patience: 10_000,
	},
}

// An outage has a line when it begins, with what Redis or the network said, and one when it is over. The second one
// too, and calls return the same reason.
func TestOutages(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startReal(t, "--requirepass", secret)
			p := startProxy(t, s.addr)
			log := new(journal)
			shared := newStore(t, closing(t, redis.NewClient(&redis.Options{Addr: p.addr, Password: secret})), redisstore.WithLogger(log.logger()))
			reserve := func(patience int) error {
				_, err := shared.Reserve(within(t, patience), account, 0)
				return err
			}
			const sound = 30_000 // a busy machine answers late
			require.NoError(t, reserve(sound))
			want := 1 // the empty line of an empty log
			for range 2 {
				way.begin(s, p)
				for range 3 {
					err := reserve(way.patience)
					require.Error(t, err)
					require.Regexp(t, way.reason, err.Error())
					assert.NotContains(t, err.Error(), secret)
				}
				lines := log.lines()
				require.Len(t, lines, want, "%q", lines)
				assert.Contains(t, lines[want-1], "Redis fails")
				assert.Regexp(t, way.reason, lines[want-1])
				assert.NotContains(t, lines[want-1], secret)
				way.end(s, p)
				eventually(t, "Redis answers", func() bool { return reserve(sound) == nil })
				require.NoError(t, reserve(sound))
				lines = log.lines()
				require.Len(t, lines, want+1, "%q", lines)
				assert.Contains(t, lines[want], "Redis answers again")
				want += 2
			}
		})
	}
}

// admin asks a server, beside the store.
func admin(s *server, password string, command ...any) {
	client := redis.NewClient(&redis.Options{Addr: s.addr, Password: password})
	defer client.Close()
	require.NoError(s.t, client.Do(context.Background(), command...).Err())
}

// The reason is in the error of the first call too, although the Redis client goes on trying when its caller leaves.
func TestTheFirstErrorHasItsReason(t *testing.T) {
	t.Parallel()
	nobody := freeAddr(t)
	refused := newStore(t, closing(t, redis.NewClient(&redis.Options{Addr: nobody})))
	_, err := refused.Load(within(t, 1500), "key")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.ErrorIs(t, err, context.DeadlineExceeded)

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

// A caller that leaves is no outage.
func TestACallerThatLeavesIsNoOutage(t *testing.T) {
	s := startServer(t)
	p := startProxy(t, s.addr)
	log := new(journal)
	shared := newStore(t, closing(t, redis.NewClient(&redis.Options{Addr: p.addr})), redisstore.WithLogger(log.logger()))
	p.set(func() { p.delay = 100 * time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err := shared.Load(ctx, "key")
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []string{""}, log.lines())
}

// What is reserved or claimed for a caller that no longer waits is given back.
func TestAnAnswerThatComesTooLateIsGivenBack(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	direct := newStore(t, s.client(t))
	r, err := direct.Reserve(t.Context(), account, 0)
	require.NoError(t, err)
	require.NoError(t, direct.Commit(t.Context(), account, r, header(5)))
	_, err = direct.Claim(t.Context(), account, time.Hour) // Redis knows all scripts
	require.NoError(t, err)

	p := startProxy(t, s.addr)
	slow := newStore(t, closing(t, redis.NewClient(&redis.Options{Addr: p.addr, ContextTimeoutEnabled: true})))
	for range 3 {
		p.set(func() { p.delay = 0 })
		_, err = slow.Load(t.Context(), "key") // there is a connection
		require.NoError(t, err)
		p.set(func() { p.delay = 200 * time.Millisecond })
		_, err = slow.Claim(within(t, 50), credential, time.Hour)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		p.set(func() { p.delay = 0 })
		_, err = slow.Load(t.Context(), "key")
		require.NoError(t, err)
		p.set(func() { p.delay = 200 * time.Millisecond })
		_, err = slow.Reserve(within(t, 50), account, 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	eventually(t, "the claim is given back", func() bool {
		c, err := direct.Claim(t.Context(), credential, time.Millisecond)
		require.NoError(t, err)
		return c.State == store.ClaimGranted
	})
	eventually(t, "the queries are given back", func() bool {
		text, err := s.client(t).Get(t.Context(), "fiscope:{"+account+"}:quota:4").Result()
		require.NoError(t, err)
		return strings.Contains(text, `"left":5`)
	})
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
	log := new(journal)
	shared := newStore(t, client, redisstore.WithLogger(log.logger()))
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
	require.Len(t, log.lines(), 1, "what goes on does not end it")
	assert.Contains(t, log.lines()[0], "OOM")
}

// A replica that takes over goes on with what it has heard of.
func TestAFailover(t *testing.T) {
	t.Parallel()
	master, client := startReplicated(t)
	shared := newStore(t, client)
	r, err := shared.Reserve(t.Context(), account, 0)
	require.NoError(t, err)
	require.NoError(t, shared.Commit(t.Context(), account, r, header(0)))
	c, err := shared.Claim(t.Context(), credential, time.Hour)
	require.NoError(t, err)
	require.NoError(t, shared.Record(t.Context(), credential, c, store.VerdictRefused, time.Hour))
	require.NoError(t, client.Do(t.Context(), "WAIT", 1, 1000).Err())
	master.kill()
	eventually(t, "the replica takes over", func() bool {
		c, err = shared.Claim(within(t, 30_000), credential, time.Hour)
		return err == nil
	})
	assert.Equal(t, store.ClaimRefused, c.State)
	eventually(t, "and counts", func() bool {
		r, err = shared.Reserve(within(t, 30_000), account, 0)
		return err == nil
	})
	assert.Equal(t, store.Spent, r.Grant)
}

func header(left int) store.Outcome {
	return store.Outcome{Written: 1, Served: true, Remaining: left, Reset: time.Now().Add(time.Hour)}
}
