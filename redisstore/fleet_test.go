package redisstore_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/testservice"
	"github.com/fiscope/fiscope/mockserver"
)

// tally is what the calls of a fleet saw.
type tally struct {
	answered, refused int
	failed            []error
	outages           int // of the Store
}

// run makes calls with so many clients of so many goroutines each, every one with a connection of its own to Redis, until
// they are refused or the time is over. Meanwhile it calls a function.
func run(t *testing.T, clients, goroutines int, redisAddr string, service *mockserver.Server, clave string, limit time.Duration, meanwhile func()) (sum tally) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for range clients {
		rdb := closing(t, redis.NewClient(&redis.Options{Addr: redisAddr, MinIdleConns: goroutines}))
		_ = rdb.Ping(ctx).Err() // a connection is there when the others begin
		log := new(testservice.Output)
		client := service.Client(fiscope.WithStore(newStore(t, rdb)), fiscope.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
		call := func() (last bool) {
			err := ask(ctx, client, clave)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				sum.answered++
			case errors.Is(err, fiscope.ErrQuotaExceeded), errors.Is(err, fiscope.ErrInvalidSOLCredentials):
				sum.refused++
				return true
			default:
				sum.failed = append(sum.failed, err)
			}
			return false
		}
		all.Go(func() {
			var own sync.WaitGroup
			for range goroutines {
				own.Go(func() {
					for ctx.Err() == nil && !call() {
					}
				})
			}
			own.Wait()
			assert.NoError(t, client.Close(context.Background()))
			mu.Lock()
			defer mu.Unlock()
			sum.outages += strings.Count(log.String(), "\n")
		})
	}
	meanwhile()
	all.Wait()
	return sum
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

// Six clients use up the quota, and the service refuses one attempt of each at most. Redis may answer too late on a busy
// machine, or forget the day when it is killed: then it refuses no more than they have under way. No lookup fails.
func TestAFleetUsesItsQuota(t *testing.T) { // before those that are parallel: it computes
	const clients, goroutines = 6, 10
	for name, test := range map[string]struct {
		quota  int
		killed bool // in the middle of the day
	}{"Redis stays": {1000, false}, "Redis forgets": {2000, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, service := startReal(t), startService(t, test.quota)
			sum := run(t, clients, goroutines, s.addr, service, "", 2*time.Minute, func() {
				if test.killed {
					eventually(t, "a third is used", func() bool {
						used, _ := service.Quota(service.APIKey)
						return used.Used >= test.quota/3
					})
					s.kill()
					s.start()
				}
			})
			assert.Empty(t, sum.failed)
			most := clients
			if sum.outages > 0 {
				most = clients * goroutines
			}
			assert.LessOrEqual(t, len(service.Requests(mockserver.Filter{Status: http.StatusTooManyRequests})), most, "%d outages", sum.outages)
			assert.GreaterOrEqual(t, sum.answered, test.quota*95/100)
		})
	}
}

// A wrong clave costs twelve clients one strike, or none, however slow Redis is.
func TestAWrongClaveCostsAFleetOneStrike(t *testing.T) {
	t.Parallel()
	s := startReal(t)
	for _, delay := range []time.Duration{0, 300 * time.Millisecond, 600 * time.Millisecond, 1100 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			t.Parallel()
			service, way := startService(t, 1000), startProxy(t, s.addr)
			way.set(func() { way.delay = delay })
			sum := run(t, 12, 2, way.addr, service, "equivocada-"+delay.String(), 8*time.Second, func() {})
			assert.Zero(t, sum.answered)
			assert.LessOrEqual(t, strikes(service), 1)
			if delay == 0 {
				assert.Empty(t, sum.failed)
				assert.Equal(t, 1, strikes(service))
			}
		})
	}
}
