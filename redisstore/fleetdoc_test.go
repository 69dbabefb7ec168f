package redisstore_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
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

// simulation is a fleet in virtual time: the real Store and the real script, on miniredis without
// sockets, against a service that only counts. Its figures are those of docs/fleet.md.
type simulation struct {
	workers, quota int
	lease, share   int
	keep           int
	at             float64                     // the part of the quota that is answered when something happens
	during         func(b *bed, s *simulation) // what happens then
	kill           int                         // workers that die then

	answered, refused, trips int64
	held                     int // reserved and not sent, when half of the quota was answered
	forgot                   int // by Redis, of what it had reserved
	stranded                 int // never sent, at the end
}

// mortal is a process's connection, which ends with the process.
type mortal struct {
	redis.UniversalClient
	dead atomic.Bool
}

func (m *mortal) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	if m.dead.Load() {
		cmd := redis.NewCmd(ctx)
		cmd.SetErr(errInjected)
		return cmd
	}
	return m.UniversalClient.EvalSha(ctx, sha, keys, args...)
}

const (
	simulatedLatency = 100 * time.Millisecond
	simulatedPause   = time.Second // of a worker between two attempts, on average
)

func (s *simulation) run(t *testing.T) {
	t.Helper()
	onBed(t, func(b *bed) {
		var charged, refused, arrived atomic.Int64
		reset := in(12 * time.Hour)
		half := make(chan struct{})
		send := func() fiscope.Outcome {
			time.Sleep(simulatedLatency / 2)
			n := charged.Add(1)
			if n > int64(s.quota) {
				refused.Add(1)
				time.Sleep(simulatedLatency / 2)
				o := header(0, reset)
				o.StatusCode = 429
				return o
			}
			if arrived.Add(1) == int64(s.at*float64(s.quota)) {
				close(half)
			}
			time.Sleep(simulatedLatency / 2)
			return header(s.quota-int(n), reset)
		}
		var stores []*redisstore.Store
		var connections []*mortal
		for i := range s.workers {
			connection := &mortal{UniversalClient: b.client}
			store, err := redisstore.New(connection, redisstore.WithLease(s.lease), redisstore.WithShare(s.share),
				redisstore.WithName(strconv.Itoa(i)), redisstore.WithTimeout(time.Hour))
			require.NoError(b.t, err)
			b.t.Cleanup(func() { _ = store.Release(context.Background()) })
			stores, connections = append(stores, store), append(connections, connection)
		}
		var fleet sync.WaitGroup
		ctx := context.Background()
		dead := make(chan struct{})
		for i, store := range stores {
			random := rand.New(rand.NewPCG(uint64(i), 7))
			pause := time.Duration(float64(simulatedPause) * (0.1 + 1.8*float64(i)/float64(s.workers))) // some are busier
			fleet.Go(func() {
				for {
					time.Sleep(time.Duration(random.Int64N(int64(2 * pause))))
					if i%10 == 3 && i/10 < s.kill {
						select {
						case <-dead:
							connections[i].dead.Store(true)
							return
						default:
						}
					}
					r, err := store.Reserve(ctx, account, s.keep)
					if err != nil || r.Grant == fiscope.QuotaSpent {
						return
					}
					if r.Grant == fiscope.QuotaGranted {
						_ = store.Settle(ctx, account, r, send())
					}
				}
			})
		}
		fleet.Go(func() {
			<-half
			left, _ := strconv.Atoi(b.mini.HGet("fiscope:{"+account+"}:quota:3:day", "left"))
			s.held = s.quota - left - int(charged.Load())
			close(dead)
			if s.during != nil {
				s.during(b, s)
			}
		})
		fleet.Wait()
		s.trips, s.answered, s.refused = b.calls.Load(), charged.Load()-refused.Load(), refused.Load()
		s.stranded = s.quota - s.keep - int(s.answered)
	})
}

// table returns the cells of a table of docs/fleet.md.
func table(t *testing.T, heading string) (cells [][]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/fleet.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), heading)
	require.True(t, found, "docs/fleet.md has no table %q", heading)
	table, _, _ = strings.Cut(table, "\n\n")
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		row := strings.Split(strings.Trim(line, "| "), "|")
		for i, cell := range row {
			row[i] = strings.TrimSpace(cell)
		}
		cells = append(cells, row)
	}
	require.NotEmpty(t, cells)
	return cells
}

// rows runs a simulation for each row of a table of docs/fleet.md, and compares what comes of it with
// what stands there: a fleet's goroutines are not in the same order twice.
func rows(t *testing.T, heading string, tolerance float64, simulate func(t *testing.T, first string) []float64) {
	t.Helper()
	for _, cells := range table(t, heading) {
		first := cells[0]
		t.Run(first, func(t *testing.T) {
			got := simulate(t, first)
			t.Logf("%s: %.2f", first, got)
			require.Len(t, cells[1:], len(got), first)
			for i, cell := range cells[1:] {
				want, err := strconv.ParseFloat(strings.ReplaceAll(cell, " ", ""), 64)
				require.NoError(t, err)
				assert.InDelta(t, want, got[i], max(tolerance, 0.35*want), "column %d of %s", i+2, first)
			}
		})
	}
}

func TestTheLeasesOfTheDocument(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("1000 simulated workers, some ten seconds")
	}
	rows(t, "| lease | round trips per query | held | lost |", 0.02, func(t *testing.T, lease string) []float64 {
		n, err := strconv.Atoi(lease)
		require.NoError(t, err)
		all := simulation{workers: 1000, quota: 10_000, lease: n, at: 0.5}
		all.run(t)
		assert.Zero(t, all.refused)
		assert.Zero(t, all.stranded, "nobody died: all is used")
		killed := simulation{workers: 1000, quota: 10_000, lease: n, at: 0.5, kill: 100}
		killed.run(t)
		assert.Zero(t, killed.refused)
		return []float64{float64(all.trips) / float64(all.answered), float64(all.held), float64(killed.stranded)}
	})
}

// lag is how much a replica missed that took over.
func lag(d time.Duration) func(*bed, *simulation) {
	return func(b *bed, s *simulation) {
		granted := func() int {
			left, _ := strconv.Atoi(b.mini.HGet("fiscope:{"+account+"}:quota:3:day", "left"))
			return s.quota - left
		}
		takeOver, before := b.replica(), granted()
		time.Sleep(d)
		s.forgot = granted() - before
		takeOver()
	}
}

func TestTheFailoversOfTheDocument(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("1000 simulated workers, some ten seconds")
	}
	rows(t, "| Redis forgot | reservations | 429s when early | 429s when late | unused when early | unused when late |", 15, func(t *testing.T, lost string) []float64 {
		s := simulation{workers: 1000, quota: 3000, lease: 1}
		if lost == "everything" {
			s.during = func(b *bed, _ *simulation) { b.mini.FlushAll() }
		} else {
			d, err := time.ParseDuration(strings.ReplaceAll(lost, " ", ""))
			require.NoError(t, err)
			s.during = lag(d)
		}
		early, late := s, s // the same fleet, at two moments of its day
		early.at, late.at = 0.2, 0.6
		early.run(t)
		late.run(t)
		if late.refused > 0 { // the same with the reserve that the document asks for
			with := late
			with.answered, with.refused, with.keep = 0, 0, late.forgot
			with.run(t)
			assert.Zero(t, with.refused, "with %d in reserve", with.keep)
		}
		return []float64{float64(late.forgot), float64(early.refused), float64(late.refused), float64(early.stranded), float64(late.stranded)}
	})
}

func TestAFleetOfAThousandIsExact(t *testing.T) {
	s := simulation{workers: 1000, quota: 2000, lease: 20, at: 0.5}
	s.run(t)
	assert.EqualValues(t, 2000, s.answered)
	assert.Zero(t, s.refused)
}
