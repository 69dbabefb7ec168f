package redisstore_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/redisstore"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const workerEnv = "FISCOPE_REDISSTORE_WORKER"

// job is what a worker process does.
type job struct {
	Redis, Service, Key string // without Redis each process is by itself
	Master              string // where Redis is the address of a Sentinel
	Name                string
	Goroutines          int
	Lease, Share        int
	Timeout, Probe      time.Duration
	Clave               string        // validate with it, once for each goroutine; otherwise look up until the quota is spent
	Proves              bool          // and once before all begin
	Attempt             time.Duration // the longest of a validation; 0 for the default
	Wrong               string        // while the others look up, and from a second word on, validate with it
	Required            bool          // validations fail without Redis
}

// tally is what a worker process saw.
type tally struct {
	Answered, Spent, Failed int
	Unavailable             int // of those that failed
	Blocked, Rejected       int // of validations
	Errors                  []string
	Began                   []time.Time // lookups that were answered
	Refused                 time.Time   // the first that was told that the quota is spent
	LastRefused             time.Time   // the last one
	Known                   time.Time   // from then on it sent no more of the wrong clave, nor asked for a query for it; zero for never
	Late                    int         // processes, of which that was when nobody asked for a query any longer
}

// early returns how many lookups were answered that began after somebody was told that the quota is spent.
func (sum tally) early() (n int) {
	for _, began := range sum.Began {
		if !sum.Refused.IsZero() && began.After(sum.Refused) {
			n++
		}
	}
	return n
}

// work is a worker process: the test binary, run again.
func work() int {
	var j job
	if err := json.Unmarshal([]byte(os.Getenv(workerEnv)), &j); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	rdb := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: strings.Split(j.Redis, ","), MasterName: j.Master})
	defer rdb.Close()
	store, err := redisstore.New(rdb, redisstore.WithName(j.Name), redisstore.WithLease(j.Lease), redisstore.WithShare(j.Share),
		redisstore.WithTimeout(j.Timeout), redisstore.WithProbeTime(j.Probe))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	opts := []fiscope.Option{fiscope.WithStore(store), fiscope.WithTimeout(10*time.Second, cmp.Or(j.Attempt, 30*time.Second))}
	if j.Required {
		opts = append(opts, fiscope.WithSOLStoreRequired())
	}
	if j.Redis == "" {
		opts = nil
	}
	client, err := fiscope.NewClient(j.Service, j.Key, opts...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if j.Proves {
		validate(context.Background(), client, j.Clave, new(tally), func(f func()) { f() })
	}
	fmt.Println("ready")
	_, _ = io.ReadFull(os.Stdin, make([]byte, 1)) // all begin together
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	var sum tally
	note := func(f func()) {
		mu.Lock()
		defer mu.Unlock()
		f()
	}
	var workers sync.WaitGroup
	for range j.Goroutines {
		workers.Go(func() {
			if j.Clave != "" {
				validate(ctx, client, j.Clave, &sum, note)
				return
			}
			lookUp(ctx, client, &sum, note)
		})
	}
	var validations sync.WaitGroup
	if j.Wrong != "" {
		validations.Go(func() {
			_, _ = io.ReadFull(os.Stdin, make([]byte, 1))
			for ctx.Err() == nil {
				var one tally
				validate(ctx, client, j.Wrong, &one, func(f func()) { f() })
				if one.Blocked+one.Rejected > 0 {
					note(func() { sum.Known = cmp.Or(sum.Known, time.Now()) })
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	workers.Wait()
	cancel()
	validations.Wait()
	last, end := context.WithTimeout(context.Background(), 5*time.Second)
	defer end()
	_ = client.Close(last) // what was not sent is given back
	_ = store.Release(last)
	_ = json.NewEncoder(os.Stdout).Encode(sum)
	return 0
}

// lookUp looks up until the quota is known to be spent. While Redis is away it goes on trying, as a till
// does.
func lookUp(ctx context.Context, client *fiscope.Client, sum *tally, note func(func())) {
	for ctx.Err() == nil {
		began := time.Now()
		_, err := client.Contribuyentes.Consultar(ctx, "20131312955")
		var e *fiscope.Error
		switch {
		case err == nil:
			note(func() { sum.Answered++; sum.Began = append(sum.Began, began) })
		case errors.As(err, &e) && errors.Is(err, fiscope.ErrQuotaExceeded) && e.RetryAfter > 0:
			note(func() {
				if sum.Spent++; sum.Spent == 1 {
					sum.Refused = time.Now()
				}
				sum.LastRefused = time.Now()
			})
			return
		case errors.Is(err, fiscope.ErrQuotaExceeded):
			time.Sleep(50 * time.Millisecond)
		default:
			note(func() {
				sum.Failed++
				if errors.Is(err, fiscope.ErrUnavailable) {
					sum.Unavailable++
				}
				if len(sum.Errors) < 3 {
					sum.Errors = append(sum.Errors, err.Error())
				}
			})
		}
	}
}

func validate(ctx context.Context, client *fiscope.Client, clave string, sum *tally, note func(func())) {
	_, err := client.CPE.Validar(ctx, fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
		fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(clave)})
	switch {
	case errors.Is(err, fiscope.ErrSOLCredentialsBlocked):
		note(func() { sum.Blocked++ })
	case errors.Is(err, fiscope.ErrInvalidSOLCredentials):
		note(func() { sum.Rejected++ })
	case err != nil:
		note(func() { sum.Failed++; sum.Errors = append(sum.Errors, err.Error()) })
	default:
		note(func() { sum.Answered++ })
	}
}

// service is the mock, with what it saw.
type service struct {
	*httptest.Server
	mock                       *mockserver.Server
	arrived, answered, refused atomic.Int64
	delay                      func(n int64, r *http.Request)
}

func startService(t *testing.T, quota int) *service {
	s := &service{mock: mockserver.New(t, mockserver.WithQuota(quota), mockserver.WithoutSocket())}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.arrived.Add(1)
		if s.delay != nil {
			s.delay(n, r)
		}
		recorder := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		s.mock.ServeHTTP(recorder, r)
		switch recorder.status {
		case http.StatusOK:
			s.answered.Add(1)
		case http.StatusTooManyRequests:
			s.refused.Add(1)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// fleet is the worker processes.
type fleet struct {
	t         *testing.T
	processes []*process
}

type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
	dead  bool
}

// startFleet starts processes that wait for the word.
func startFleet(t *testing.T, n int, j job) *fleet {
	t.Helper()
	f := &fleet{t: t}
	for i := range n {
		j.Name = fmt.Sprintf("till-%d", i)
		text, err := json.Marshal(j)
		require.NoError(t, err)
		p := &process{cmd: exec.Command(os.Args[0])}
		p.cmd.Env = append(os.Environ(), workerEnv+"="+string(text))
		p.cmd.Stderr = os.Stderr
		p.stdin, err = p.cmd.StdinPipe()
		require.NoError(t, err)
		out, err := p.cmd.StdoutPipe()
		require.NoError(t, err)
		p.out = bufio.NewReader(out)
		require.NoError(t, p.cmd.Start())
		t.Cleanup(func() {
			if p.cmd.ProcessState == nil {
				_ = p.cmd.Process.Kill()
				_ = p.cmd.Wait()
			}
		})
		f.processes = append(f.processes, p)
	}
	for _, p := range f.processes {
		line, err := p.out.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ready\n", line)
	}
	return f
}

// begin gives the word: the first time to look up, the second time to validate as well.
func (f *fleet) begin() {
	for _, p := range f.processes {
		if p.dead {
			continue
		}
		_, err := p.stdin.Write([]byte{1})
		require.NoError(f.t, err)
	}
}

// end waits for all and adds up what they saw.
func (f *fleet) end() (sum tally) {
	f.t.Helper()
	var known []time.Time
	for _, p := range f.processes {
		if p.dead {
			continue
		}
		var one tally
		require.NoError(f.t, json.NewDecoder(p.out).Decode(&one))
		require.NoError(f.t, p.cmd.Wait())
		sum.Answered += one.Answered
		sum.Spent += one.Spent
		sum.Failed += one.Failed
		sum.Unavailable += one.Unavailable
		sum.Blocked += one.Blocked
		sum.Rejected += one.Rejected
		sum.Errors = append(sum.Errors, one.Errors...)
		sum.Began = append(sum.Began, one.Began...)
		known = append(known, one.Known)
		if one.LastRefused.After(sum.LastRefused) {
			sum.LastRefused = one.LastRefused
		}
		if one.Spent > 0 && (sum.Refused.IsZero() || one.Refused.Before(sum.Refused)) {
			sum.Refused = one.Refused
		}
	}
	for _, t := range known {
		if t.IsZero() || t.After(sum.LastRefused.Add(-time.Second)) { // so long a refusal is remembered
			sum.Late++
		}
	}
	return sum
}

func (p *process) kill(t *testing.T) {
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGKILL))
	_ = p.cmd.Wait()
	p.dead = true
}

func sizes() (processes, goroutines, quota int) {
	if testing.Short() {
		return 4, 10, 200
	}
	return 20, 50, 1000
}

func (s *service) job(r *server, goroutines int) job {
	return job{
		Redis: r.addr, Service: s.URL, Key: s.mock.APIKey, Goroutines: goroutines,
		Lease: 1, Timeout: 5 * time.Second, Probe: 5 * time.Second,
	}
}

func TestAFleetSpendsExactlyItsQuota(t *testing.T) {
	processes, goroutines, quota := sizes()
	for name, change := range map[string]func(*job){
		"without leases":      func(*job) {},
		"with leases, shares": func(j *job) { j.Lease, j.Share = 20, 5 },
	} {
		t.Run(name, func(t *testing.T) {
			r, s := startServer(t), startService(t, quota)
			j := s.job(r, goroutines)
			change(&j)
			f := startFleet(t, processes, j)
			f.begin()
			sum := f.end()
			assert.EqualValues(t, quota, s.answered.Load(), "answers of the service")
			assert.Zero(t, s.refused.Load(), "429s of the service")
			assert.Equal(t, quota, sum.Answered)
			assert.Equal(t, processes*goroutines, sum.Spent, "each goroutine was told that the quota is spent")
			assert.Zero(t, sum.Failed, "%q", sum.Errors)
		})
	}
}

func TestAWrongClaveIsTriedOnceInTheWholeFleet(t *testing.T) {
	processes, goroutines, quota := sizes()
	r, s := startServer(t), startService(t, quota)
	s.delay = func(int64, *http.Request) { time.Sleep(100 * time.Millisecond) } // all are there before the verdict
	j := s.job(r, goroutines)
	j.Clave = "not-this-one"
	f := startFleet(t, processes, j)
	f.begin()
	sum := f.end()
	state, ok := s.mock.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL)
	require.True(t, ok)
	assert.Equal(t, 1, state.Attempts, "attempts that reached the tax authority")
	assert.Equal(t, 1, sum.Rejected)
	assert.Equal(t, processes*goroutines-1, sum.Blocked, "%q", sum.Errors)
}

func TestAProcessThatIsKilled(t *testing.T) {
	processes, goroutines, quota := sizes()
	r, s := startServer(t), startService(t, quota)
	first, going := make(chan struct{}), make(chan struct{})
	s.delay = func(n int64, r *http.Request) {
		switch {
		case n == 1: // the probe: its process dies
			close(first)
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		case n == int64(quota/3):
			close(going)
		}
	}
	j := s.job(r, goroutines)
	j.Probe = 500 * time.Millisecond
	f := startFleet(t, processes, j)
	_, err := f.processes[0].stdin.Write([]byte{1})
	require.NoError(t, err)
	<-first
	for _, p := range f.processes[1:] {
		_, err := p.stdin.Write([]byte{1})
		require.NoError(t, err)
	}
	f.processes[0].kill(t)
	<-going
	f.processes[1].kill(t) // in the middle of its attempts
	sum := f.end()
	assert.Zero(t, s.refused.Load(), "429s of the service")
	assert.LessOrEqual(t, s.answered.Load(), int64(quota))
	assert.GreaterOrEqual(t, s.answered.Load(), int64(quota-goroutines), "only what the killed process had under way may be lost")
	assert.Equal(t, (processes-2)*goroutines, sum.Spent, "everyone else got to the end")
	assert.Zero(t, sum.Failed, "%q", sum.Errors)
}

func TestRedisIsRestarted(t *testing.T) {
	processes, goroutines, quota := sizes()
	for name, args := range map[string][]string{
		"it wrote everything to its disk": {"--appendonly", "yes", "--appendfsync", "always"},
		"it forgot everything":            {"--appendonly", "no"},
	} {
		t.Run(name, func(t *testing.T) {
			r, s := startServer(t, args...), startService(t, quota)
			if r.mini != nil {
				t.Skip("install redis-server to run this test: miniredis is no process that can be killed")
			}
			going := make(chan struct{})
			s.delay = func(n int64, _ *http.Request) {
				if n == int64(quota/3) {
					close(going)
				}
				time.Sleep(20 * time.Millisecond)
			}
			j := s.job(r, goroutines)
			j.Share, j.Timeout = 5, time.Second
			f := startFleet(t, processes, j)
			f.begin()
			<-going
			r.kill()
			before, since := s.answered.Load(), time.Now()
			eventually(t, "the shares are used up, and the fleet stands still", func() bool {
				if now := s.answered.Load(); now != before {
					before, since = now, time.Now()
				}
				return time.Since(since) > 300*time.Millisecond
			})
			r.start()
			sum := f.end()
			assert.LessOrEqual(t, s.refused.Load(), int64(1), "429s of the service: of the one that goes first, should all be spent by then")
			assert.LessOrEqual(t, s.answered.Load(), int64(quota))
			assert.GreaterOrEqual(t, s.answered.Load(), int64(quota-processes*goroutines/2), "what was under way when Redis died may be lost")
			assert.Equal(t, processes*goroutines, sum.Spent, "everyone got to the end")
			t.Logf("%d answered of %d, %d before the restart", s.answered.Load(), quota, before)
		})
	}
}

// The figures of a fleet on a healthy Redis, beside those of the same processes without a Store.
func TestTheCostOfSharing(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("measures time")
	}
	const processes, goroutines, quota = 20, 50, 6000
	rate := func(change func(*job)) (perSecond, trips float64) {
		r, s := startServer(t), startService(t, quota)
		s.delay = func(int64, *http.Request) { time.Sleep(20 * time.Millisecond) }
		j := s.job(r, goroutines)
		j.Timeout = 250 * time.Millisecond
		change(&j)
		f := startFleet(t, processes, j)
		start := time.Now()
		f.begin()
		eventually(t, "the quota is spent", func() bool { return s.answered.Load() >= quota*97/100 })
		took := time.Since(start)
		sum := f.end()
		if j.Redis != "" {
			assert.Zero(t, s.refused.Load(), "429s of the service")
			assert.GreaterOrEqual(t, sum.Answered, quota*97/100)
			assert.Zero(t, sum.Failed, "%q", sum.Errors)
		}
		if r.mini == nil {
			stats, err := r.client(t).Info(context.Background(), "commandstats").Result()
			require.NoError(t, err)
			_, calls, _ := strings.Cut(stats, "cmdstat_evalsha:calls=")
			calls, _, _ = strings.Cut(calls, ",")
			n, _ := strconv.ParseFloat(calls, 64)
			trips = n / float64(s.answered.Load())
		}
		t.Logf("%d answered of %d, %d of them early, %d refused, %.4f EVALSHA an attempt, %.0f answers/s",
			s.answered.Load(), quota, sum.early(), s.refused.Load(), trips, quota*0.97/took.Seconds())
		return quota * 0.97 / took.Seconds(), trips
	}
	kinds := []struct {
		name   string
		change func(*job)
		trips  float64 // at most
	}{
		{"no store", func(j *job) { j.Redis = "" }, 0},
		{"without leases", func(*job) {}, 1},
		{"leases of 20", func(j *job) { j.Lease = 20 }, 1. / 15},
	}
	rounds := 3
	if *allScenarios {
		rounds = 9
	}
	seconds, evals := make([]float64, len(kinds)), make([]float64, len(kinds)) // an answer, on average
	for range rounds {                                                         // in turn, so that all have the same neighbours
		for i, kind := range kinds {
			t.Run(kind.name, func(t *testing.T) {
				perSecond, trips := rate(kind.change)
				evals[i] += trips / float64(rounds)
				seconds[i] += 1 / perSecond / float64(rounds)
			})
		}
	}
	for i, kind := range kinds {
		assert.LessOrEqual(t, evals[i], kind.trips, "EVALSHA an attempt, %s", kind.name)
	}
	t.Logf("against no store: %.2f without leases, %.2f with leases of 20", seconds[0]/seconds[1], seconds[0]/seconds[2])
}
