package redisstore_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"
)

const requireRedisEnv = "FISCOPE_REQUIRE_REDIS"

var redisServer = flag.String("redis-server", "redis-server", "the program that the tests start as Redis, such as valkey-server")

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
	path, err := exec.LookPath(*redisServer)
	if err != nil {
		require.Empty(t, os.Getenv(requireRedisEnv), "%s is set, and %s is not installed", requireRedisEnv, *redisServer)
		t.Log("on miniredis: redis-server is not installed")
		s.mini = miniredis.RunT(t)
		s.mini.ClockTTL(true) // keys end by themselves, as in Redis
		s.addr = s.mini.Addr()
		return s
	}
	s.addr = freeAddr(t)
	s.args = append([]string{
		path, "--bind", "127.0.0.1", "--port", portOf(s.addr),
		"--dir", t.TempDir(), "--save", "", "--maxmemory", "64mb", "--maxmemory-policy", "noeviction",
	}, args...)
	s.start()
	t.Logf("on a real %s", *redisServer)
	t.Cleanup(s.kill)
	return s
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

// deployment is the servers of a Redis, and how a client finds them.
type deployment struct {
	t       testing.TB
	servers []*server
	addrs   string // with commas
	master  string // the name under which a Sentinel, at addrs, knows the first of the servers
}

func single(t testing.TB, args ...string) *deployment {
	s := startServer(t, args...)
	return &deployment{t: t, servers: []*server{s}, addrs: s.addr}
}

// left returns how many queries a single server has left that runs: they were given back, and nobody asked for them.
func (d *deployment) left() (n int) {
	if len(d.servers) > 1 {
		return 0
	}
	rdb := d.servers[0].client(d.t)
	keys, err := rdb.Keys(context.Background(), "*:quota:3:day").Result()
	require.NoError(d.t, err)
	for _, key := range keys {
		left, _ := rdb.HGet(context.Background(), key, "left").Int()
		n += left
	}
	return n
}

// replicated starts a server, a replica of it, and a Sentinel that lets the replica take over.
func replicated(t testing.TB) *deployment {
	t.Helper()
	master := startServer(t)
	replica := startServer(t, "--replicaof", "127.0.0.1 "+portOf(master.addr))
	d := &deployment{t: t, servers: []*server{master, replica}, master: "fiscope"}
	sentinel := &server{t: t, addr: freeAddr(t)}
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `bind 127.0.0.1
port %s
sentinel monitor %s 127.0.0.1 %s 1
sentinel down-after-milliseconds %[2]s 500
sentinel failover-timeout %[2]s 5000
`, portOf(sentinel.addr), d.master, portOf(master.addr)), 0o600))
	sentinel.args = []string{master.args[0], file, "--sentinel"}
	sentinel.start()
	t.Cleanup(sentinel.kill)
	admin := redis.NewSentinelClient(&redis.Options{Addr: sentinel.addr})
	defer admin.Close()
	eventually(t, "the Sentinel knows the replica", func() bool {
		replicas, err := admin.Replicas(context.Background(), d.master).Result()
		return err == nil && len(replicas) == 1 && replicas[0]["master-link-status"] == "ok"
	})
	d.addrs = sentinel.addr
	return d
}

// cluster starts three servers with a third of the slots each.
func cluster(t testing.TB) *deployment {
	t.Helper()
	ctx := context.Background()
	d := &deployment{t: t}
	var addrs []string
	for range 3 {
		bus := freeAddr(t)
		s := startServer(t, "--cluster-enabled", "yes", "--cluster-port", portOf(bus))
		d.servers, addrs = append(d.servers, s), append(addrs, s.addr)
		first := d.servers[0].client(t)
		require.NoError(t, first.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", portOf(s.addr), portOf(bus)).Err())
	}
	for i, s := range d.servers {
		require.NoError(t, s.client(t).ClusterAddSlotsRange(ctx, 16384*i/3, 16384*(i+1)/3-1).Err())
	}
	for _, s := range d.servers {
		eventually(t, "the cluster is complete", func() bool {
			info := s.client(t).ClusterInfo(ctx).Val()
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	d.addrs = strings.Join(addrs, ",")
	return d
}

// halfMoved is for how long some of the keys of a slot that moves are on one server, and some on another.
const halfMoved = 300 * time.Millisecond

// moveSlot moves the slot of a key that matches to another server of the cluster, as redis-cli does.
func (d *deployment) moveSlot(pattern string) {
	d.t.Helper()
	ctx := context.Background()
	for i, s := range d.servers {
		from, to := s.client(d.t), d.servers[(i+1)%len(d.servers)].client(d.t)
		found := from.Keys(ctx, pattern).Val()
		if len(found) == 0 {
			continue
		}
		slot := from.ClusterKeySlot(ctx, found[0]).Val()
		source, target := from.ClusterMyID(ctx).Val(), to.ClusterMyID(ctx).Val()
		require.NoError(d.t, to.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", source).Err())
		require.NoError(d.t, from.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", target).Err())
		require.NoError(d.t, from.Migrate(ctx, "127.0.0.1", portOf(to.Options().Addr), found[0], 0, time.Second).Err())
		time.Sleep(halfMoved)
		for {
			keys := from.ClusterGetKeysInSlot(ctx, int(slot), 100).Val()
			if len(keys) == 0 {
				break
			}
			args := []any{"MIGRATE", "127.0.0.1", portOf(to.Options().Addr), "", 0, 1000, "KEYS"}
			for _, key := range keys {
				args = append(args, key)
			}
			require.NoError(d.t, from.Do(ctx, args...).Err())
		}
		for _, at := range []*redis.Client{to, from} {
			require.NoError(d.t, at.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", target).Err())
		}
		return
	}
	d.t.Fatalf("no server has a key %s", pattern)
}

// program is the mock as a program of its own.
type program struct {
	t   testing.TB
	url string
}

// buildProgram returns the path of the mock's program.
func buildProgram(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fiscope-mock")
	build := exec.Command("go", "build", "-o", path, "./cmd/fiscope-mock")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// startProgram starts the mock on a free port.
func startProgram(t testing.TB, path string, quota int) *program {
	t.Helper()
	cmd := exec.Command(path, "-addr", "127.0.0.1:0", "-quota", strconv.Itoa(quota), "-journal", "100000", "-log", "off", "-api-key", programKey)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	p := &program{t: t, url: strings.TrimSpace(line)}
	p.admin(http.MethodPost, "faults", `{"steps": [{"latency": "20ms"}], "match": {"op": "consultar"}}`, nil)
	return p
}

const programKey = "clave-de-la-flota"

// admin calls the admin API.
func (p *program) admin(method, path, body string, into any) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, p.url+"/_mock/"+path, strings.NewReader(body))
	require.NoError(p.t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(p.t, err)
	defer response.Body.Close()
	require.Equal(p.t, 2, response.StatusCode/100, "%s %s: %s", method, path, response.Status)
	if into != nil {
		require.NoError(p.t, json.NewDecoder(response.Body).Decode(into))
	}
}

// quota is what was used of the day's, and what is left.
func (p *program) quota() (used, left int) {
	p.t.Helper()
	var all []struct{ Used, Remaining int }
	p.admin(http.MethodGet, "quotas", "", &all)
	require.Len(p.t, all, 1)
	return all[0].Used, all[0].Remaining
}
