package redisstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/redisstore"
)

// workerEnv makes the test program one of several processes, with this job.
const workerEnv = "FISCOPE_REDISSTORE_WORKER"

// job is what a process does: it looks up until the quota is spent, or validates with a clave until that is
// refused.
type job struct {
	Redis, Service, Key string
	Goroutines          int
	Clave               string // "" to look up
	Time                time.Duration
}

// tally is what it saw.
type tally struct {
	Answered, Refused, Failed int
	Outages                   int // of the Store
	Errors                    []string
}

func work(text string) int {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	rdb := redis.NewClient(&redis.Options{Addr: j.Redis, MinIdleConns: j.Goroutines})
	defer rdb.Close()
	_ = rdb.Ping(context.Background()).Err() // a connection is there when the others begin
	shared, err := redisstore.New(rdb)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	log := new(journal)
	client, err := fiscope.NewClient(j.Service, j.Key, fiscope.WithStore(shared), fiscope.WithLogger(log.logger()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), j.Time)
	defer cancel()
	var mu sync.Mutex
	var sum tally
	var wg sync.WaitGroup
	for range j.Goroutines {
		wg.Go(func() {
			for ctx.Err() == nil {
				err := ask(ctx, client, j.Clave)
				mu.Lock()
				switch {
				case err == nil:
					sum.Answered++
				case errors.Is(err, fiscope.ErrQuotaExceeded), errors.Is(err, fiscope.ErrInvalidSOLCredentials):
					sum.Refused++
				default:
					sum.Failed++
					sum.Errors = append(sum.Errors, err.Error())
				}
				mu.Unlock()
				if errors.Is(err, fiscope.ErrQuotaExceeded) || errors.Is(err, fiscope.ErrInvalidSOLCredentials) {
					return
				}
				if err != nil {
					time.Sleep(300 * time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	_ = client.Close(ctx)
	sum.Outages = len(log.lines()) - 1
	_ = json.NewEncoder(os.Stdout).Encode(sum)
	return 0
}

// ask looks up, or validates with a clave.
func ask(ctx context.Context, client *fiscope.Client, clave string) error {
	if clave == "" {
		_, err := client.Contribuyentes.Consultar(ctx, "20131312955")
		return err
	}
	_, err := client.CPE.Validar(ctx,
		fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
		fiscope.CredencialesSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: fiscope.NewSecreto(clave)})
	return err
}

// run starts processes, waits for them, and adds up what they saw.
func run(t *testing.T, n int, j job) (sum tally) {
	t.Helper()
	text, _ := json.Marshal(j) // which cannot fail
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), workerEnv+"="+string(text))
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			var one tally
			if err == nil {
				err = json.Unmarshal(out, &one)
			}
			mu.Lock()
			defer mu.Unlock()
			assert.NoError(t, err)
			sum.Answered += one.Answered
			sum.Refused += one.Refused
			sum.Failed += one.Failed
			sum.Outages += one.Outages
			sum.Errors = append(sum.Errors, one.Errors...)
		})
	}
	wg.Wait()
	return sum
}

func startService(t *testing.T, quota int) *mockserver.Server {
	t.Helper()
	service := mockserver.New(t, mockserver.WithQuota(quota), mockserver.WithJournal(100_000))
	service.Fault(mockserver.Match{}, mockserver.Latency(5*time.Millisecond))
	return service
}

// strikes is how often the tax authority was asked with the user.
func strikes(service *mockserver.Server) int {
	state, _ := service.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL)
	return state.Attempts
}

// Six processes of ten goroutines use up the quota, and the service refuses one attempt a process at most. On a busy
// machine Redis may answer too late: then it refuses no more than the processes have under way.
func TestAFleetUsesItsQuota(t *testing.T) {
	t.Parallel()
	const quota, processes, goroutines = 1000, 6, 10
	s, service := startReal(t), startService(t, quota)
	sum := run(t, processes, job{Redis: s.addr, Service: service.URL, Key: service.APIKey, Goroutines: goroutines, Time: 2 * time.Minute})
	assert.Zero(t, sum.Failed, "%q", sum.Errors)
	refused := len(service.Requests(mockserver.Filter{Status: http.StatusTooManyRequests}))
	most := processes
	if sum.Outages > 0 {
		most = processes * goroutines
	}
	assert.LessOrEqual(t, refused, most, "%d outages", sum.Outages)
	assert.GreaterOrEqual(t, sum.Answered, quota*95/100)
	t.Logf("%d of %d were answered, the service refused %d", sum.Answered, quota, refused)
}

// Redis is killed in the middle of the day and comes back with nothing. No lookup fails, and what the processes
// together send beyond the quota is no more than they have under way.
func TestRedisForgetsTheDay(t *testing.T) {
	t.Parallel()
	const quota, processes, goroutines = 2000, 6, 10
	s, service := startReal(t), startService(t, quota)
	done := make(chan tally)
	go func() {
		done <- run(t, processes, job{Redis: s.addr, Service: service.URL, Key: service.APIKey, Goroutines: goroutines, Time: 2 * time.Minute})
	}()
	eventually(t, "a third is used", func() bool {
		used, _ := service.Quota(service.APIKey)
		return used.Used >= quota/3
	})
	s.kill()
	s.start()
	sum := <-done
	assert.Zero(t, sum.Failed, "%q", sum.Errors)
	refused := len(service.Requests(mockserver.Filter{Status: http.StatusTooManyRequests}))
	assert.LessOrEqual(t, refused, processes*goroutines)
	assert.GreaterOrEqual(t, sum.Answered, quota*95/100)
	t.Logf("%d of %d were answered, the service refused %d", sum.Answered, quota, refused)
}

// A wrong clave costs twelve processes one strike, or none, however slow Redis is.
func TestAWrongClaveCostsAFleetOneStrike(t *testing.T) {
	t.Parallel()
	s := startReal(t)
	for _, delay := range []time.Duration{0, 300 * time.Millisecond, 600 * time.Millisecond, 1100 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			t.Parallel()
			service, way := startService(t, 1000), startProxy(t, s.addr)
			way.set(func() { way.delay = delay })
			clave := "equivocada-" + delay.String()
			sum := run(t, 12, job{Redis: way.addr, Service: service.URL, Key: service.APIKey, Goroutines: 2, Clave: clave, Time: 8 * time.Second})
			assert.Zero(t, sum.Answered)
			assert.LessOrEqual(t, strikes(service), 1)
			if delay == 0 {
				assert.Zero(t, sum.Failed, "%q", sum.Errors)
				assert.Equal(t, 1, strikes(service))
			}
			t.Logf("%d strikes; %d calls were refused, %d failed", strikes(service), sum.Refused, sum.Failed)
		})
	}
}

// authority accepts one clave, as a RoundTripper.
type authority struct {
	right   atomic.Value
	asked   atomic.Int64
	refused atomic.Int64
}

func (a *authority) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked.Add(1)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	status, text := 200, `{"codigo":"0","mensaje":"x","estado":"Aceptado","esValido":true}`
	if !strings.Contains(string(body), `"`+a.right.Load().(string)+`"`) {
		a.refused.Add(1)
		status, text = 401, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text))}, nil
}

// A clave that was accepted, and then changed on the portal, costs three processes one refusal.
func TestAClaveThatWasChangedCostsAFleetOneRefusal(t *testing.T) {
	t.Parallel()
	rdb := startServer(t).client(t)
	var ahead atomic.Int64
	a := new(authority)
	a.right.Store(mockserver.ClaveSOL)
	var clients []*fiscope.Client
	for range 3 {
		client, err := fiscope.NewClient("https://api.fiscope.example", "llave-de-prueba", fiscope.WithStore(newStore(t, rdb)), fiscope.WithHTTPClient(&http.Client{Transport: a}),
			fiscope.WithClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }))
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, client.Close(context.Background())) })
		clients = append(clients, client)
	}
	all := func(each func(error)) {
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() { each(ask(t.Context(), clients[i%3], mockserver.ClaveSOL)) })
		}
		wg.Wait()
	}
	pause := func(d time.Duration) {
		ahead.Add(int64(d))
		aging{t: t, client: rdb}.Advance(d)
	}
	for range 2 {
		all(func(err error) { assert.NoError(t, err) })
		pause(time.Hour)
	}
	a.right.Store("nueva")
	asked := a.asked.Load()
	all(func(err error) { assert.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials) })
	assert.EqualValues(t, 1, a.refused.Load())
	assert.EqualValues(t, 1, a.asked.Load()-asked)
}

// While Redis is away, lookups go on, of a process that has begun before and of one that begins then. A clave that is
// proven goes on, and another is not sent.
func TestLookupsGoOnWithoutRedis(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, service := startReal(t, "--requirepass", secret), startService(t, 1000)
			p := startProxy(t, s.addr)
			begin := func() *fiscope.Client {
				rdb := closing(t, redis.NewClient(&redis.Options{Addr: p.addr, Password: secret}))
				client := service.Client(fiscope.WithStore(newStore(t, rdb)))
				t.Cleanup(func() { assert.NoError(t, client.Close(context.Background())) })
				return client
			}
			before := begin()
			require.NoError(t, ask(t.Context(), before, ""))
			eventually(t, "a clave is proven", func() bool { return ask(t.Context(), before, mockserver.ClaveSOL) == nil })
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
			way.end(s, p)
		})
	}
}
