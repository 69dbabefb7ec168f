package redisstore_test

import (
	"flag"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var allScenarios = flag.Bool("processes", false, "run TestAFleetOfProcesses with all its scenarios and its full size, and TestTheCostOfSharing for longer: two minutes")

// scenario is something that happens to a fleet of processes when a third of its quota is used. From then on each
// process also tries a clave that is wrong and that nobody knows, beside its lookups.
type scenario struct {
	name    string
	short   bool // it is in a plain run too
	redis   func(t testing.TB) *deployment
	change  func(*job)
	happens func(*deployment, *fleet)
	most    func(processes, goroutines int) outcome
}

// outcome is a row of the table in docs/fleet.md.
type outcome struct {
	answered int // by the service, as it counted
	refused  int // lookups that failed with ErrUnavailable
	excess   int // 429s of the service
	unused   int // queries that the service had left when all were told that the quota is spent
	strikes  int // wrong claves that reached the tax authority
	early    int // answers to lookups that began after somebody was told that the quota is spent
	late     int // of those left unused, what validations gave back when nobody asked for a query any longer
}

const many = 1 << 30 // how many is not promised

func alone(t testing.TB) *deployment { return single(t) }

func withLeases(j *job) { j.Lease = 20 }

// killHalf kills every second process without warning.
func killHalf(_ *deployment, f *fleet) {
	for i := range len(f.processes) / 2 {
		f.processes[2*i].kill(f.t)
	}
	f.begin()
}

// stop stops Redis for a while, as a machine does that has no time for it, or a network that loses all packets.
func stop(d time.Duration) func(*deployment, *fleet) {
	return func(redis *deployment, f *fleet) {
		process := redis.servers[0].cmd.Process
		stopProcess(f.t, process)
		f.begin()
		time.Sleep(d)
		goOn(f.t, process)
	}
}

// restart kills Redis, and starts it again after a second.
func restart(redis *deployment, f *fleet) {
	redis.servers[0].kill()
	f.begin()
	time.Sleep(time.Second)
	redis.servers[0].start()
}

var scenarios = []scenario{
	{
		name: "nothing", short: true, redis: alone, happens: func(_ *deployment, f *fleet) { f.begin() },
		most: func(int, int) outcome { return outcome{strikes: 1} },
	},
	{
		name: "nothing, with leases of 20", redis: alone, change: withLeases, happens: func(_ *deployment, f *fleet) { f.begin() },
		most: func(int, int) outcome { return outcome{strikes: 1} },
	},
	{
		name: "half of the processes are killed", short: true, redis: alone, happens: killHalf,
		most: func(processes, goroutines int) outcome {
			return outcome{unused: processes / 2 * (goroutines + 5), strikes: 1} // what they had under way, and shares
		},
	},
	{
		name: "half are killed, with leases of 20", redis: alone, change: withLeases, happens: killHalf,
		most: func(processes, goroutines int) outcome {
			return outcome{unused: processes / 2 * (goroutines + 5 + 19), strikes: 1}
		},
	},
	{
		name: "Redis stops for half a second", short: true, redis: alone, happens: stop(500 * time.Millisecond),
		most: func(int, int) outcome { return outcome{strikes: 1} },
	},
	{
		name: "Redis stops for 3 seconds", redis: alone, happens: stop(3 * time.Second),
		most: func(processes, _ int) outcome { return outcome{refused: many, strikes: processes} },
	},
	{
		name: "the same, and validations need it", redis: alone, happens: stop(3 * time.Second),
		change: func(j *job) { j.Required = true },
		most: func(processes, _ int) outcome {
			return outcome{refused: many, unused: processes, strikes: 1} // what could not be put back
		},
	},
	{
		name: "Redis stops for 6 seconds", redis: alone, happens: stop(6 * time.Second),
		most: func(processes, goroutines int) outcome { // the Redis client gave up its connections after 3
			return outcome{refused: many, unused: processes * goroutines, strikes: processes}
		},
	},
	{
		name:    "Redis is killed and comes back, with its disk",
		redis:   func(t testing.TB) *deployment { return single(t, "--appendonly", "yes", "--appendfsync", "always") },
		happens: restart,
		most: func(processes, goroutines int) outcome {
			return outcome{refused: many, excess: 1, unused: processes * goroutines, strikes: processes}
		},
	},
	{
		name: "Redis is killed and comes back with nothing", redis: alone, happens: restart,
		most: func(processes, goroutines int) outcome {
			return outcome{refused: many, excess: 1, unused: processes * goroutines, strikes: processes}
		},
	},
	{
		name: "Redis is killed and a Sentinel promotes its replica", redis: replicated,
		happens: func(redis *deployment, f *fleet) {
			redis.servers[0].kill()
			f.begin()
		},
		most: func(processes, goroutines int) outcome {
			return outcome{refused: many, excess: processes * goroutines, unused: processes * goroutines, strikes: processes}
		},
	},
	{
		name: "the quota's slot moves in a cluster of three", redis: cluster,
		happens: func(redis *deployment, f *fleet) {
			f.begin()
			redis.moveSlot("*:quota:*")
		},
		most: func(processes, _ int) outcome { return outcome{unused: processes, strikes: 1} }, // as above
	},
}

// Worker processes, against a Redis and the mock as programs: what may go wrong does, and what the fleet has sent
// by the end of the day is no more than its quota.
func TestAFleetOfProcesses(t *testing.T) {
	processes, goroutines, quota := 20, 50, 6000
	if !*allScenarios {
		processes, goroutines, quota = 4, 10, 400
	}
	if startServer(t).mini != nil {
		t.Skip("install redis-server to run this test")
	}
	mock := buildProgram(t)
	var out, left strings.Builder
	for _, s := range scenarios {
		if !*allScenarios && !s.short {
			fmt.Fprintf(&left, "\n- %s", s.name)
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			got := s.run(t, mock, processes, goroutines, quota)
			fmt.Fprintf(&out, "\n| %s | %d | %d | %d | %d | %d | %d |", s.name, got.answered, got.refused, got.excess, got.unused, got.strikes, got.early)
			s.check(t, got, processes, goroutines, quota)
		})
	}
	t.Logf("%d processes of %d goroutines, a quota of %d, on %s\n%s\n|---|---|---|---|---|---|---|%s", processes, goroutines, quota, *redisServer, scenarioHeading, &out)
	if !*allScenarios {
		t.Logf("left out, but with -processes:%s", &left)
	}
}

func (s scenario) run(t *testing.T, mock string, processes, goroutines, quota int) outcome {
	redis := s.redis(t)
	service := startProgram(t, mock, quota)
	j := job{
		Redis: redis.addrs, Master: redis.master, Service: service.url, Key: programKey, Goroutines: goroutines,
		Lease: 1, Share: 5, Timeout: 250 * time.Millisecond, Probe: 5 * time.Second, Wrong: "equivocada",
	}
	if s.change != nil {
		s.change(&j)
	}
	f := startFleet(t, processes, j)
	start := time.Now()
	f.begin()
	eventually(t, "a third of the quota is used", func() bool { used, _ := service.quota(); return used >= quota/3 })
	s.happens(redis, f)
	sum := f.end()
	assert.Equal(t, sum.Failed, sum.Unavailable, "what failed was ErrUnavailable: %q", sum.Errors)

	var got outcome
	got.refused = sum.Failed
	got.answered, got.unused = service.quota()
	var journal struct{ Requests []struct{} }
	service.admin(http.MethodGet, "requests?status=429", "", &journal)
	got.excess = len(journal.Requests)
	var users []struct {
		Usuario  string
		Attempts int
	}
	service.admin(http.MethodGet, "sol", "", &users)
	for _, user := range users {
		if user.Usuario == mockserver.UsuarioSOL {
			got.strikes = user.Attempts
		}
	}
	got.early = sum.early()
	got.late = min(redis.left(), sum.Late)
	t.Logf("%+v, in %s", got, time.Since(start).Round(10*time.Millisecond))
	return got
}

// check holds what came of a scenario against what is promised.
func (s scenario) check(t *testing.T, got outcome, processes, goroutines, quota int) {
	most := s.most(processes, goroutines)
	assert.LessOrEqual(t, got.answered, quota)
	assert.Equal(t, quota, got.answered+got.unused)
	assert.LessOrEqual(t, got.refused, most.refused, "refused")
	assert.LessOrEqual(t, got.excess, most.excess, "429s")
	assert.LessOrEqual(t, got.unused-got.late, most.unused, "left unused")
	assert.LessOrEqual(t, got.strikes, most.strikes, "strikes")
	assert.LessOrEqual(t, got.early, processes*(5+20), "answered after somebody was told that the quota is spent: shares and leases")
	if most.refused == 0 {
		assert.Positive(t, got.strikes, "the wrong clave was tried")
	}
}

const scenarioHeading = "| what happens | answered | refused | 429 | left unused | strikes | early |"

// What docs/fleet.md says of the scenarios keeps their promises.
func TestTheScenariosOfTheDocument(t *testing.T) {
	rows := table(t, scenarioHeading)
	require.Len(t, rows, len(scenarios))
	for i, s := range scenarios {
		require.Equal(t, s.name, rows[i][0])
		var n []int
		for _, cell := range rows[i][1:] {
			number, err := strconv.Atoi(cell)
			require.NoError(t, err, s.name)
			n = append(n, number)
		}
		s.check(t, outcome{answered: n[0], refused: n[1], excess: n[2], unused: n[3], strikes: n[4], early: n[5]}, 20, 50, 6000)
	}
}
