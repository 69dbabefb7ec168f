package redisstore_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"
)

const requireRedisEnv = "FISCOPE_REQUIRE_REDIS"

// server is a Redis for one test: a real one where it is installed.
type server struct {
	t    testing.TB
	addr string
	args []string
	cmd  *exec.Cmd            // of the real one
	mini *miniredis.Miniredis // otherwise
}

// startServer starts redis-server on a free loopback port, with its data in a folder of the test, and
// miniredis where there is none. It says which.
func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	s := &server{t: t, args: args}
	path, err := exec.LookPath("redis-server")
	if err != nil {
		require.Empty(t, os.Getenv(requireRedisEnv), "%s is set, and redis-server is not installed", requireRedisEnv)
		t.Log("on miniredis: redis-server is not installed")
		s.mini = miniredis.RunT(t)
		s.addr = s.mini.Addr()
		return s
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.addr = listener.Addr().String()
	require.NoError(t, listener.Close())
	s.args = append([]string{
		path, "--bind", "127.0.0.1", "--port", strconv.Itoa(listener.Addr().(*net.TCPAddr).Port),
		"--dir", t.TempDir(), "--save", "", "--maxmemory", "64mb", "--maxmemory-policy", "noeviction",
	}, args...)
	s.start()
	t.Log("on a real redis-server")
	t.Cleanup(s.kill)
	return s
}

func (s *server) start() {
	s.t.Helper()
	if s.mini != nil {
		require.NoError(s.t, s.mini.Restart())
		return
	}
	s.cmd = exec.Command(s.args[0], s.args[1:]...)
	require.NoError(s.t, s.cmd.Start())
	client := redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1, DialerRetries: 1})
	defer client.Close()
	eventually(s.t, "redis-server answers", func() bool { return client.Ping(context.Background()).Err() == nil })
}

// kill ends it without warning, and what it held only in memory is gone.
func (s *server) kill() {
	if s.mini != nil {
		s.mini.Close()
		return
	}
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *server) client(t testing.TB) *redis.Client {
	client := newRedis(s.addr)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func newRedis(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// eventually waits for a condition, and fails the test where it does not come.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen within 30 s: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
