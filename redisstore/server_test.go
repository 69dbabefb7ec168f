package redisstore_test

import (
	"context"
	"flag"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

const requireRedisEnv = "FISCOPE_REQUIRE_REDIS"

var redisServer = flag.String("redis-server", "redis-server", "the program that the tests start as Redis, such as valkey-server")

// server is a Redis for one test: a real one if it is installed.
type server struct {
	t    testing.TB
	addr string
	args []string
	cmd  *exec.Cmd            // of the real one
	mini *miniredis.Miniredis // otherwise
}

// startServer starts redis-server on a free loopback port, with its data in a folder of the test, or miniredis if
// redis-server is missing.
func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	path, err := exec.LookPath(*redisServer)
	if err != nil {
		require.Empty(t, os.Getenv(requireRedisEnv), "%s is set, and %s is not installed", requireRedisEnv, *redisServer)
		t.Log("on miniredis: redis-server is not installed")
		s := &server{t: t, mini: miniredis.RunT(t)}
		s.mini.ClockTTL(true) // keys end by themselves, as in Redis
		s.addr = s.mini.Addr()
		return s
	}
	s := &server{t: t, addr: freeAddr(t)}
	s.args = append([]string{
		path, "--bind", "127.0.0.1", "--port", portOf(s.addr),
		"--dir", t.TempDir(), "--save", "", "--maxmemory", "64mb", "--maxmemory-policy", "noeviction",
	}, args...)
	s.start()
	t.Cleanup(s.kill)
	return s
}

// startReal skips the test if there is only miniredis.
func startReal(t testing.TB, args ...string) *server {
	t.Helper()
	if _, err := exec.LookPath(*redisServer); err != nil && os.Getenv(requireRedisEnv) == "" {
		t.Skip("install redis-server to run this test")
	}
	return startServer(t, args...)
}

func freeAddr(t testing.TB) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

func portOf(addr string) string { return addr[strings.LastIndex(addr, ":")+1:] }

func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(s.args[0], s.args[1:]...)
	require.NoError(s.t, s.cmd.Start())
	client := redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1, DialerRetries: 1})
	defer client.Close()
	eventually(s.t, "redis-server answers", func() bool {
		err := client.Ping(context.Background()).Err()
		return err == nil || strings.HasPrefix(err.Error(), "NOAUTH")
	})
}

// kill ends it without warning, and what it held only in memory is gone.
func (s *server) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// client is one with go-redis's own defaults.
func (s *server) client(t testing.TB) *redis.Client {
	return closing(t, redis.NewClient(&redis.Options{Addr: s.addr}))
}

func closing[C redis.UniversalClient](t testing.TB, client C) C {
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// eventually waits for a condition, and fails the test if it does not come.
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

// startCluster starts three servers with a third of the slots each, and returns a client of them.
func startCluster(t testing.TB) redis.UniversalClient {
	t.Helper()
	ctx := context.Background()
	var servers []*redis.Client
	var addrs []string
	for range 3 {
		bus := freeAddr(t)
		s := startReal(t, "--cluster-enabled", "yes", "--cluster-port", portOf(bus))
		servers, addrs = append(servers, s.client(t)), append(addrs, s.addr)
		require.NoError(t, servers[0].Do(ctx, "CLUSTER", "MEET", "127.0.0.1", portOf(s.addr), portOf(bus)).Err())
	}
	for i, s := range servers {
		require.NoError(t, s.ClusterAddSlotsRange(ctx, 16384*i/3, 16384*(i+1)/3-1).Err())
	}
	for _, s := range servers {
		eventually(t, "the cluster is complete", func() bool {
			info := s.ClusterInfo(ctx).Val()
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	return closing(t, redis.NewUniversalClient(&redis.UniversalOptions{Addrs: addrs}))
}
