package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// verdicts are answers of the contract by the names of their files.
func verdicts(t testing.TB, names ...string) []func(*http.Request) (*http.Response, error) {
	var answers []func(*http.Request) (*http.Response, error)
	for _, name := range names {
		answers = append(answers, raw(200, contract(t, "validar_200_"+name+".json")))
	}
	return answers
}

func TestAWaitEndsWithTheFirstFinalState(t *testing.T) {
	for name, want := range map[string]fiscope.CodigoCPE{
		"aceptado": fiscope.CodigoAceptado, "anulado": fiscope.CodigoAnulado, "no_existe": fiscope.CodigoNoExiste,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, verdicts(t, "en_proceso", "error", "en_proceso", name)...)
				start := time.Now()
				e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{})
				require.NoError(t, err)
				assert.Equal(t, want, e.Resultado.Codigo)
				assert.Equal(t, fiscope.EsperaFinal, e.Fin)
				require.NoError(t, e.Causa)
				assert.Equal(t, 4, e.Consultas)
				assert.Len(t, s.seen(), 4)
				assert.GreaterOrEqual(t, time.Since(start), 7*time.Second, "1, 2 and 4 seconds at least")
				assert.LessOrEqual(t, time.Since(start), 14*time.Second, "2, 4 and 8 seconds at most")
			})
		})
	}
	t.Run("at once", func(t *testing.T) {
		client, s := answers(t, verdicts(t, "aceptado")...)
		e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{})
		require.NoError(t, err)
		assert.True(t, e.Resultado.EsValido)
		assert.Len(t, s.seen(), 1)
	})
	t.Run("a code that nobody knows", func(t *testing.T) {
		client, s := answers(t, raw(200, `{"codigo":"7","mensaje":"?","estado":"?","esValido":false}`))
		e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{})
		require.NoError(t, err)
		assert.Equal(t, fiscope.EsperaFinal, e.Fin)
		assert.Len(t, s.seen(), 1)
	})
}

// Right after its issue the usual first answer is that there is no such receipt.
func TestAWaitForAReceiptThatDoesNotExistYet(t *testing.T) {
	until := fiscope.EsperaPolicy{HastaQueExista: true}
	for name, test := range map[string]struct {
		policy  fiscope.EsperaPolicy
		answers []string
		want    fiscope.CodigoCPE
		fin     fiscope.FinEspera
		queries int
	}{
		"it comes to exist":             {until, []string{"no_existe", "no_existe", "aceptado"}, fiscope.CodigoAceptado, fiscope.EsperaFinal, 3},
		"... and is processed first":    {until, []string{"no_existe", "en_proceso", "no_existe", "anulado"}, fiscope.CodigoAnulado, fiscope.EsperaFinal, 4},
		"it exists":                     {until, []string{"aceptado"}, fiscope.CodigoAceptado, fiscope.EsperaFinal, 1},
		"it never does":                 {until, []string{"no_existe"}, fiscope.CodigoNoExiste, fiscope.EsperaSinIntentos, 10},
		"not within the attempts":       {fiscope.EsperaPolicy{HastaQueExista: true, MaxAttempts: 2}, []string{"no_existe", "no_existe", "aceptado"}, fiscope.CodigoNoExiste, fiscope.EsperaSinIntentos, 2},
		"not within the time":           {fiscope.EsperaPolicy{HastaQueExista: true, Base: 20 * time.Second, Timeout: 5 * time.Second}, []string{"no_existe", "aceptado"}, fiscope.CodigoNoExiste, fiscope.EsperaSinTiempo, 1},
		"nobody asked to wait for that": {fiscope.EsperaPolicy{}, []string{"no_existe", "aceptado"}, fiscope.CodigoNoExiste, fiscope.EsperaFinal, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, verdicts(t, test.answers...)...)
				e, err := client.CPE.Esperar(t.Context(), factura, credenciales, test.policy)
				require.NoError(t, err)
				assert.Equal(t, test.want, e.Resultado.Codigo)
				assert.Equal(t, test.fin, e.Fin)
				assert.Equal(t, test.queries, e.Consultas)
				assert.Len(t, s.seen(), test.queries)
			})
		})
	}
	t.Run("a cancelled wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, s := answers(t, verdicts(t, "no_existe")...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			time.AfterFunc(500*time.Millisecond, cancel)
			_, err := client.CPE.Esperar(ctx, factura, credenciales, until)
			require.ErrorIs(t, err, context.Canceled)
			assert.Len(t, s.seen(), 1)
		})
	})
}

// Also where the last attempt was not sent, or none was answered.
func TestTheErrorOfAWaitTellsWhatWasSent(t *testing.T) {
	down, reset := raw(500, contract(t, "validar_500.json")), broken(&net.OpError{Op: "read", Err: syscall.ECONNRESET})
	for name, test := range map[string]struct {
		answers  []func(*http.Request) (*http.Response, error)
		end      error
		delivery fiscope.Delivery
	}{
		"answered, then unsent":           {[]func(*http.Request) (*http.Response, error){down, refusesToDial}, nil, fiscope.DeliveryAnswered},
		"unsent":                          {[]func(*http.Request) (*http.Response, error){refusesToDial}, nil, fiscope.DeliveryNotSent},
		"unsent, then maybe sent":         {[]func(*http.Request) (*http.Response, error){refusesToDial, reset}, nil, fiscope.DeliveryUnknown},
		"cancelled before it was sent":    {[]func(*http.Request) (*http.Response, error){refusesToDial}, context.Canceled, fiscope.DeliveryNotSent},
		"cancelled after it was answered": {[]func(*http.Request) (*http.Response, error){down}, context.Canceled, fiscope.DeliveryAnswered},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := answers(t, test.answers...)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.end != nil {
					time.AfterFunc(500*time.Millisecond, cancel)
				}
				_, err := client.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{MaxAttempts: 2})
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, test.delivery, e.Delivery, err)
				assert.Positive(t, e.Attempts)
				assert.Equal(t, test.delivery == fiscope.DeliveryNotSent, strings.Contains(err.Error(), "nothing was sent"))
			})
		})
	}
}

func TestThePausesOfAWaitGrowToTheirCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			times = append(times, time.Now())
			return verdicts(t, "en_proceso")[0](r)
		}))
		p := fiscope.EsperaPolicy{MaxAttempts: 9, Base: time.Second, Cap: 20 * time.Second, Timeout: time.Hour}
		e, err := client.CPE.Esperar(t.Context(), factura, credenciales, p)
		require.NoError(t, err)
		assert.Equal(t, fiscope.EsperaSinIntentos, e.Fin)
		assert.Equal(t, fiscope.CodigoEnProceso, e.Resultado.Codigo)
		assert.Equal(t, 9, e.Consultas)
		require.Len(t, times, 9)
		for i, span := range []time.Duration{1, 2, 4, 8, 16, 20, 20, 20} {
			pause := times[i+1].Sub(times[i])
			assert.GreaterOrEqual(t, pause, span*time.Second/2, i)
			assert.LessOrEqual(t, pause, span*time.Second, i)
		}
		assert.Equal(t, times[8], time.Now(), "there is no pause after the last")
	})
}

func TestAWaitEndsWithItsTime(t *testing.T) {
	for name, test := range map[string]struct {
		policy   fiscope.EsperaPolicy
		deadline time.Duration
		longest  time.Duration
	}{
		"of the policy":       {fiscope.EsperaPolicy{Base: 10 * time.Second, Timeout: 25 * time.Second}, time.Hour, 25 * time.Second},
		"of the context":      {fiscope.EsperaPolicy{Base: 10 * time.Second}, 25 * time.Second, 25 * time.Second},
		"without any attempt": {fiscope.EsperaPolicy{Base: time.Minute, Timeout: time.Second}, time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, verdicts(t, "en_proceso")...)
				ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
				defer cancel()
				start := time.Now()
				e, err := client.CPE.Esperar(ctx, factura, credenciales, test.policy)
				require.NoError(t, err)
				assert.Equal(t, fiscope.EsperaSinTiempo, e.Fin)
				assert.Equal(t, fiscope.CodigoEnProceso, e.Resultado.Codigo)
				assert.LessOrEqual(t, time.Since(start), test.longest, "a pause that does not fit is not begun")
				assert.Equal(t, len(s.seen()), e.Consultas)
			})
		})
	}
	for _, first := range []string{"en_proceso", "error"} {
		t.Run("during an attempt, after "+first, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := answers(t, append(verdicts(t, first), hangs)...)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				e, err := client.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{})
				require.NoError(t, err)
				assert.Equal(t, fiscope.EsperaSinTiempo, e.Fin)
				require.ErrorIs(t, e.Causa, context.DeadlineExceeded)
				assert.Equal(t, 2, e.Consultas)
			})
		})
	}
	t.Run("during the first attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, _ := answers(t, hangs)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			e, err := client.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{})
			assert.Nil(t, e)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			var failed *fiscope.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, fiscope.OpEsperarCPE, failed.Op)
		})
	})
}

// A paid answer is not lost to a limiter that lets the next validation go too late.
func TestAWaitThatTheLimiterEndsKeepsItsAnswer(t *testing.T) {
	for name, second := range map[string]func(*http.Request) (*http.Response, error){
		"right away":         nil,
		"after a failure":    raw(500, contract(t, "validar_500.json")),
		"after another open": verdicts(t, "error")[0],
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				raws, burst := verdicts(t, "en_proceso"), 1
				if second != nil {
					raws, burst = append(raws, second), 2
				}
				s := &service{answers: raws}
				client := newClient(t, s, fiscope.WithRateLimit(rate.Every(time.Minute), burst))
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				e, err := client.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{})
				require.NoError(t, err)
				assert.Equal(t, fiscope.EsperaSinTiempo, e.Fin)
				require.ErrorIs(t, e.Causa, context.DeadlineExceeded)
				assert.Equal(t, burst, e.Consultas)
				assert.Len(t, s.seen(), burst)
			})
		})
	}
	t.Run("before any answer it is an error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := newClient(t, newPadron(t), fiscope.WithRateLimit(rate.Every(time.Minute), 1))
			_, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT) // takes the place
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			e, err := client.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{})
			assert.Nil(t, e)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	})
}

// No validation leaves after Timeout, whatever it waits for meanwhile.
func TestNoValidationOfAWaitIsSentAfterItsTime(t *testing.T) {
	slow := func(takes time.Duration) func(context.Context) { return func(context.Context) { time.Sleep(takes) } }
	for name, test := range map[string]struct {
		opts []fiscope.Option
		busy string // the operation of another call, which is under way
		sent int
	}{
		"the limiter":           {[]fiscope.Option{fiscope.WithRateLimit(rate.Every(time.Minute), 1)}, "", 1},
		"... which lets it go":  {[]fiscope.Option{fiscope.WithRateLimit(rate.Every(9*time.Second), 1)}, "", 2},
		"another validation":    {nil, "validar", 0},
		"the last query":        {nil, "consultar", 0},
		"the Store's word":      {[]fiscope.Option{fiscope.WithStore(newTroubled(map[string]func(context.Context){"Claim": slow(2900 * time.Millisecond)}))}, "", 2},
		"... of the quota":      {[]fiscope.Option{fiscope.WithStore(newTroubled(map[string]func(context.Context){"Reserve": slow(2900 * time.Millisecond)}))}, "", 2},
		"another process":       {[]fiscope.Option{fiscope.WithStore(busyFrom(0))}, "", 0},
		"another process later": {[]fiscope.Option{fiscope.WithStore(busyFrom(1))}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, late, sent, busy := time.Now(), false, 0, false
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					switch {
					case busy:
						return after(time.Hour, nil)(r)
					case r.Method == http.MethodGet:
						return raw(200, record, "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: 2000-01-01T12:00:00Z")(r)
					}
					sent++
					late = late || time.Since(start) > 10*time.Second
					return verdicts(t, "en_proceso")[0](r)
				}), append(test.opts, fiscope.WithRetry(noRetries()), fiscope.WithTimeout(time.Minute, time.Minute))...)
				var wg sync.WaitGroup
				if test.busy != "" {
					require.NoError(t, operations["consultar"](t.Context(), client)) // a query is left
					busy = true
					wg.Go(func() { _ = operations[test.busy](t.Context(), client) })
					synctest.Wait()
				}
				e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{Base: 6 * time.Second, Timeout: 10 * time.Second})
				assert.LessOrEqual(t, time.Since(start), 10*time.Second)
				assert.False(t, late)
				assert.Equal(t, test.sent, sent)
				if test.sent == 0 {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				} else {
					require.NoError(t, err)
					assert.Equal(t, fiscope.EsperaSinTiempo, e.Fin)
				}
				wg.Wait()
			})
		})
	}
}

func TestAWaitThatAnotherValidationEndsKeepsItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, verdicts(t, "error")[0], after(time.Hour, nil))
		var wg sync.WaitGroup
		wg.Go(func() {
			time.Sleep(time.Second)
			_ = validar(t.Context(), client, clave)
		})
		e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{Base: 6 * time.Second, Timeout: 10 * time.Second})
		require.NoError(t, err)
		assert.Equal(t, fiscope.EsperaSinTiempo, e.Fin)
		assert.Equal(t, fiscope.CodigoError, e.Resultado.Codigo)
		require.ErrorIs(t, e.Causa, context.DeadlineExceeded)
		wg.Wait()
		assert.Len(t, s.seen(), 2)
	})
}

// busyFrom returns a Store that says of all claims but the first n that another process tries the credential.
func busyFrom(n int) *fleetStore {
	s := newFleetStore()
	s.claims = append(slices.Repeat([]fiscope.Claim{{State: fiscope.ClaimProven}}, n), fiscope.Claim{State: fiscope.ClaimBusy})
	return s
}

// An attempt that left in time is finished.
func TestAValidationThatLeftInTimeIsFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := answers(t, after(20*time.Second, verdicts(t, "aceptado")[0]))
		for _, credential := range []string{"of which nothing is known", "that is proven"} {
			e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{Timeout: 10 * time.Second})
			require.NoError(t, err, credential)
			assert.Equal(t, fiscope.EsperaFinal, e.Fin, credential)
		}
	})
}

// withoutDeadline is a context that does not tell when it ends.
type withoutDeadline struct{ context.Context }

func (withoutDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

func TestAWaitThatRunsOutOfTimeInAPauseKeepsItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := answers(t, verdicts(t, "en_proceso")...)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		e, err := client.CPE.Esperar(withoutDeadline{ctx}, factura, credenciales, fiscope.EsperaPolicy{Base: time.Minute})
		require.NoError(t, err)
		assert.Equal(t, fiscope.EsperaSinTiempo, e.Fin)
		assert.Equal(t, 1, e.Consultas)
		require.ErrorIs(t, e.Causa, context.DeadlineExceeded)
	})
}

func TestAWaitThatIsCancelledEndsAtOnce(t *testing.T) {
	why := errors.New("the operator pressed Ctrl-C")
	for name, second := range map[string]func(*http.Request) (*http.Response, error){
		"in a pause":    verdicts(t, "en_proceso")[0],
		"in an attempt": hangs,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := answers(t, verdicts(t, "en_proceso")[0], second)
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(3*time.Second, func() { cancel(why) })
				start := time.Now()
				e, err := client.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{Base: 2 * time.Second, Cap: time.Minute})
				assert.Equal(t, 3*time.Second, time.Since(start))
				assert.Nil(t, e)
				require.ErrorIs(t, err, why)
				var failed *fiscope.Error
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, fiscope.OpEsperarCPE, failed.Op)
				assert.Equal(t, 2, failed.Attempts)
			})
		})
	}
}

func TestAWaitEndsWithTheQuota(t *testing.T) {
	headers := func(left int) []string {
		return []string{fmt.Sprint("X-RateLimit-Remaining: ", left), "X-RateLimit-Reset: 2000-01-01T12:00:00Z"}
	}
	pending := contract(t, "validar_200_en_proceso.json")
	for name, test := range map[string]struct {
		answers []func(*http.Request) (*http.Response, error)
		opts    []fiscope.CallOption
		queries int
	}{
		"a header says so":     {[]func(*http.Request) (*http.Response, error){raw(200, pending, headers(1)...), raw(200, pending, headers(0)...)}, nil, 2},
		"its reserve":          {[]func(*http.Request) (*http.Response, error){raw(200, pending, headers(8)...), raw(200, pending, headers(7)...)}, []fiscope.CallOption{fiscope.WithQuotaReserve(7)}, 2},
		"a 429 without a word": {[]func(*http.Request) (*http.Response, error){raw(200, pending), raw(429, "")}, nil, 2},
		"a 429 till tomorrow":  {[]func(*http.Request) (*http.Response, error){raw(200, pending), raw(429, "", "Retry-After: 3600")}, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, test.answers...)
				e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{}, test.opts...)
				require.NoError(t, err)
				assert.Equal(t, fiscope.EsperaSinCuota, e.Fin)
				assert.Equal(t, fiscope.CodigoEnProceso, e.Resultado.Codigo)
				require.ErrorIs(t, e.Causa, fiscope.ErrQuotaExceeded)
				assert.Len(t, s.seen(), test.queries)
				assert.Equal(t, test.queries, e.Consultas)
			})
		})
	}
	t.Run("not with a throttling 429", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, s := answers(t, raw(200, pending), raw(429, "", append(headers(500), "Retry-After: 45")...), verdicts(t, "aceptado")[0])
			start := time.Now()
			e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{})
			require.NoError(t, err)
			assert.Equal(t, fiscope.EsperaFinal, e.Fin)
			assert.Len(t, s.seen(), 3)
			assert.GreaterOrEqual(t, time.Since(start), 46*time.Second, "it waits for what it was asked for")
		})
	})
	t.Run("before any answer it is an error", func(t *testing.T) {
		client, _ := answers(t, raw(429, ""))
		e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{})
		assert.Nil(t, e)
		require.ErrorIs(t, err, fiscope.ErrQuotaExceeded)
	})
}

func TestAWaitNeverRepeatsARefusedClave(t *testing.T) {
	for name, before := range map[string][]string{"at first": {}, "later": {"en_proceso"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, append(verdicts(t, before...), raw(401, contract(t, "validar_401.json")))...)
				e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{})
				assert.Nil(t, e)
				require.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials)
				assert.Len(t, s.seen(), len(before)+1)
				assert.NotContains(t, err.Error(), clave)
			})
		})
	}
}

func TestWhatAWaitSurvives(t *testing.T) {
	reset := broken(&net.OpError{Op: "read", Err: syscall.ECONNRESET})
	down := raw(500, contract(t, "validar_500.json"))
	pending, failed := verdicts(t, "en_proceso")[0], verdicts(t, "error")[0]
	for name, test := range map[string]struct {
		first, second func(*http.Request) (*http.Response, error)
		survives      bool
	}{
		"the authority is down":                                {pending, down, true},
		"... at first: a 500 is no refusal":                    {down, down, true},
		"no answer, by proven credentials":                     {pending, reset, true},
		"no answer, by unproven ones":                          {reset, pending, false},
		"no answer, by ones that a failed query did not prove": {failed, reset, false},
		"the query failed":                                     {failed, failed, true},
		"another page":                                         {pending, raw(200, "<html>"), false},
		"the key is refused":                                   {pending, raw(403, ""), false},
		"a 400":                                                {pending, raw(400, `{"error":"no","code":"X"}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, test.first, test.second, verdicts(t, "aceptado")[0])
				e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{})
				if test.survives {
					require.NoError(t, err)
					assert.Equal(t, fiscope.EsperaFinal, e.Fin)
					assert.Len(t, s.seen(), 3)
					return
				}
				assert.Nil(t, e)
				require.Error(t, err)
				assert.LessOrEqual(t, len(s.seen()), 2)
			})
		})
	}
	t.Run("but not for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, s := answers(t, pending, down)
			e, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{MaxAttempts: 3})
			require.NoError(t, err)
			assert.Equal(t, fiscope.EsperaSinIntentos, e.Fin)
			require.ErrorIs(t, e.Causa, fiscope.ErrUnavailable)
			assert.Equal(t, fiscope.CodigoEnProceso, e.Resultado.Codigo)
			assert.Len(t, s.seen(), 3)

			client, s = answers(t, down)
			e, err = client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{MaxAttempts: 3})
			assert.Nil(t, e)
			require.ErrorIs(t, err, fiscope.ErrUnavailable, "no answer came at all")
			assert.Len(t, s.seen(), 3)
		})
	})
}

func TestTheResponseOfARefusedWaitIsItsOwn(t *testing.T) {
	client, _ := answers(t, raw(200, verdict))
	resp := fiscope.Response{StatusCode: 200, Attempts: 3}
	_, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{Base: -1}, fiscope.WithResponse(&resp))
	require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
	assert.Zero(t, resp)
}

func TestAWaitIsRefusedLocally(t *testing.T) {
	client, s := answers(t, verdicts(t, "en_proceso")...)
	for name, p := range map[string]fiscope.EsperaPolicy{
		"attempts": {MaxAttempts: -1}, "base": {Base: -1}, "cap": {Cap: -1}, "timeout": {Timeout: -1},
	} {
		_, err := client.CPE.Esperar(t.Context(), factura, credenciales, p)
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
	}
	for name, err := range map[string]error{
		"a nil option": second(client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{}, nil)),
		"no receipt":   second(client.CPE.Esperar(t.Context(), fiscope.Comprobante{}, credenciales, fiscope.EsperaPolicy{})),
		//lint:ignore SA1012 the point of the test
		"a nil context": second(client.CPE.Esperar(nil, factura, credenciales, fiscope.EsperaPolicy{})), //nolint:staticcheck // the point of the test
	} {
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest, name)
	}
	assert.Empty(t, s.seen())
}

func TestAWaitsArithmeticDoesNotOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, verdicts(t, "en_proceso")...)
		p := fiscope.EsperaPolicy{MaxAttempts: 100, Base: time.Hour, Cap: math.MaxInt64, Timeout: math.MaxInt64}
		ctx, cancel := context.WithTimeout(t.Context(), 200*365*24*time.Hour)
		defer cancel()
		e, err := client.CPE.Esperar(ctx, factura, credenciales, p)
		require.NoError(t, err)
		assert.Equal(t, fiscope.EsperaSinTiempo, e.Fin)
		assert.Less(t, len(s.seen()), 25)

		client, s = answers(t, verdicts(t, "en_proceso")...)
		start := time.Now()
		p = fiscope.EsperaPolicy{MaxAttempts: 80, Base: 1<<32 + 1, Cap: 2 * time.Hour, Timeout: math.MaxInt64}
		e, err = client.CPE.Esperar(t.Context(), factura, credenciales, p)
		require.NoError(t, err)
		assert.Equal(t, fiscope.EsperaSinIntentos, e.Fin)
		assert.Len(t, s.seen(), 80)
		assert.GreaterOrEqual(t, time.Since(start), 68*time.Hour, "the pauses stay at their cap")
	})
}

func ExampleCPEService_Esperar() {
	srv := server()
	defer srv.Close()
	receipt := fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 125}
	// Here the receipt is accepted while we wait.
	client := srv.Client(fiscope.WithObserver(func(fiscope.Event) {
		_ = srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 125, Codigo: mockserver.CodigoAceptado})
	}))
	defer client.CloseIdleConnections()

	e, err := client.CPE.Esperar(context.Background(), receipt, fiscope.CredencialesSOL{
		RUC:     mockserver.RUCSolicitante,
		Usuario: mockserver.UsuarioSOL,
		Clave:   fiscope.NewSecreto(mockserver.ClaveSOL),
	}, fiscope.EsperaPolicy{MaxAttempts: 5, Base: 10 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Fin, e.Resultado.Estado, e.Resultado.EsValido, "after", e.Consultas, "queries")
	if e.Fin != fiscope.EsperaFinal {
		fmt.Println("its state is still open")
	}
	// Output: final Aceptado true after 2 queries
}

// A new codigo beside an estado that is known leaves no doubt how the receipt stands.
func TestAWaitGoesByTheEstadoWhereOnlyTheCodigoIsUnknown(t *testing.T) {
	verdict := func(codigo, estado string) func(*http.Request) (*http.Response, error) {
		return raw(200, `{"codigo":"`+codigo+`","mensaje":"x","estado":"`+estado+`","esValido":false}`)
	}
	for name, test := range map[string]struct {
		codigo, estado string
		policy         fiscope.EsperaPolicy
		queries        int
	}{
		"does not exist":              {"98x", "No Existe", fiscope.EsperaPolicy{HastaQueExista: true}, 2},
		"... spelled otherwise":       {"7", "NO  EXISTE", fiscope.EsperaPolicy{HastaQueExista: true}, 2},
		"... which is not waited for": {"7", "No Existe", fiscope.EsperaPolicy{}, 1},
		"in process":                  {"7", "En Proceso", fiscope.EsperaPolicy{}, 2},
		"an error":                    {"7", "Error", fiscope.EsperaPolicy{}, 2},
		"cancelled":                   {"7", "Anulado", fiscope.EsperaPolicy{HastaQueExista: true}, 1},
		"both unknown":                {"7", "Observado", fiscope.EsperaPolicy{HastaQueExista: true}, 1},
		"only the estado is unknown":  {"98", "Por llegar", fiscope.EsperaPolicy{HastaQueExista: true}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, append([]func(*http.Request) (*http.Response, error){verdict(test.codigo, test.estado)}, verdicts(t, "aceptado")...)...)
				e, err := client.CPE.Esperar(t.Context(), factura, credenciales, test.policy)
				require.NoError(t, err)
				assert.Equal(t, fiscope.EsperaFinal, e.Fin)
				assert.Len(t, s.seen(), test.queries)
			})
		})
	}
}
