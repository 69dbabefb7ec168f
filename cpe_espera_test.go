package fiscope_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
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
func verdicts(t testing.TB, names ...string) []handler {
	var answers []handler
	for _, name := range names {
		answers = append(answers, raw(200, contract(t, "validar_200_"+name+".json")))
	}
	return answers
}

// withoutDeadline is a context that does not say when it ends.
type withoutDeadline struct{ context.Context }

func (withoutDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

func TestHowAWaitEnds(t *testing.T) {
	accepted, pending, unknown, missing := verdicts(t, "aceptado")[0], verdicts(t, "en_proceso")[0], verdicts(t, "error")[0], verdicts(t, "no_existe")[0]
	down, reset := raw(500, contract(t, "validar_500.json")), broken(&net.OpError{Op: "read", Err: syscall.ECONNRESET})
	says := func(codigo, estado string) handler {
		return raw(200, `{"codigo":"`+codigo+`","mensaje":"x","estado":"`+estado+`","esValido":false}`)
	}
	left := func(n int, more ...string) []string {
		return append(more, fmt.Sprint("X-RateLimit-Remaining: ", n), "X-RateLimit-Reset: 2000-01-01T12:00:00Z")
	}
	body := contract(t, "validar_200_en_proceso.json")
	until := fiscope.EsperaPolicy{HastaQueExista: true}
	for name, test := range map[string]struct {
		answers []handler
		policy  fiscope.EsperaPolicy
		opts    []fiscope.CallOption
		fin     fiscope.FinEspera // "" for an error
		class   string            // of the error, or of the cause
		queries int
	}{
		"the first final state":                {[]handler{pending, unknown, pending, accepted}, fiscope.EsperaPolicy{}, nil, fiscope.EsperaFinal, "", 4},
		"cancelled":                            {append([]handler{pending}, verdicts(t, "anulado")...), fiscope.EsperaPolicy{}, nil, fiscope.EsperaFinal, "", 2},
		"it does not exist":                    {[]handler{pending, missing}, fiscope.EsperaPolicy{}, nil, fiscope.EsperaFinal, "", 2},
		"it comes to exist":                    {[]handler{missing, pending, missing, accepted}, until, nil, fiscope.EsperaFinal, "", 4},
		"it never does":                        {[]handler{missing}, until, nil, fiscope.EsperaSinIntentos, "", 10},
		"not within the attempts":              {[]handler{pending}, fiscope.EsperaPolicy{MaxAttempts: 2}, nil, fiscope.EsperaSinIntentos, "", 2},
		"the estado says: it exists not":       {[]handler{says("7", "NO  EXISTE"), accepted}, until, nil, fiscope.EsperaFinal, "", 2},
		"... which is not waited for":          {[]handler{says("7", "No Existe"), accepted}, fiscope.EsperaPolicy{}, nil, fiscope.EsperaFinal, "", 1},
		"the estado says: in process":          {[]handler{says("7", "En Proceso"), accepted}, fiscope.EsperaPolicy{}, nil, fiscope.EsperaFinal, "", 2},
		"both are unknown":                     {[]handler{says("7", "Observado"), accepted}, until, nil, fiscope.EsperaFinal, "", 1},
		"the quota, by a header":               {[]handler{raw(200, body, left(1)...), raw(200, body, left(0)...)}, fiscope.EsperaPolicy{}, nil, fiscope.EsperaSinCuota, "quota_exceeded", 2},
		"the quota, by its reserve":            {[]handler{raw(200, body, left(8)...), raw(200, body, left(7)...)}, fiscope.EsperaPolicy{}, []fiscope.CallOption{fiscope.WithQuotaReserve(7)}, fiscope.EsperaSinCuota, "quota_exceeded", 2},
		"the quota, until tomorrow":            {[]handler{pending, raw(429, "", "Retry-After: 3600")}, fiscope.EsperaPolicy{}, nil, fiscope.EsperaSinCuota, "quota_exceeded", 2},
		"the quota, by a code":                 {[]handler{pending, raw(429, `{"error":"x","code":"QUOTA"}`)}, fiscope.EsperaPolicy{}, nil, fiscope.EsperaSinCuota, "quota_exceeded", 2},
		"... before any answer":                {[]handler{raw(429, "", "Retry-After: 3600")}, fiscope.EsperaPolicy{}, nil, "", "quota_exceeded", 1},
		"not by a 429 that only slows":         {[]handler{pending, raw(429, "", left(500, "Retry-After: 45")...), raw(429, ""), accepted}, fiscope.EsperaPolicy{}, nil, fiscope.EsperaFinal, "", 4},
		"the clave is refused":                 {[]handler{raw(401, contract(t, "validar_401.json"))}, fiscope.EsperaPolicy{}, nil, "", "invalid_sol_credentials", 1},
		"... later":                            {[]handler{pending, raw(401, contract(t, "validar_401.json"))}, fiscope.EsperaPolicy{}, nil, "", "invalid_sol_credentials", 2},
		"not by an authority that is down":     {[]handler{down, down, accepted}, fiscope.EsperaPolicy{}, nil, fiscope.EsperaFinal, "", 3},
		"... but not for ever":                 {[]handler{pending, down}, fiscope.EsperaPolicy{MaxAttempts: 3}, nil, fiscope.EsperaSinIntentos, "unavailable", 3},
		"... without any answer":               {[]handler{down}, fiscope.EsperaPolicy{MaxAttempts: 3}, nil, "", "unavailable", 3},
		"not by silence to a proven clave":     {[]handler{pending, reset, accepted}, fiscope.EsperaPolicy{}, nil, fiscope.EsperaFinal, "", 3},
		"silence to an unproven one":           {[]handler{reset, pending}, fiscope.EsperaPolicy{}, nil, "", "unavailable", 1},
		"... that a failed query proves not":   {[]handler{unknown, reset}, fiscope.EsperaPolicy{}, nil, "", "unavailable", 2},
		"another page":                         {[]handler{pending, raw(200, "<html>")}, fiscope.EsperaPolicy{}, nil, "", "malformed_response", 2},
		"the key is refused":                   {[]handler{pending, raw(403, `{"error":"no"}`)}, fiscope.EsperaPolicy{}, nil, "", "unauthorized", 2},
		"a 400":                                {[]handler{pending, raw(400, `{"error":"no","code":"X"}`)}, fiscope.EsperaPolicy{}, nil, "", "invalid_request", 2},
		"a validation in time is finished":     {[]handler{after(20*time.Second, accepted)}, fiscope.EsperaPolicy{Timeout: 10 * time.Second}, nil, fiscope.EsperaFinal, "", 1},
		"attempts below zero":                  {[]handler{pending}, fiscope.EsperaPolicy{MaxAttempts: -1}, nil, "", "invalid_request", 0},
		"a base below zero":                    {[]handler{pending}, fiscope.EsperaPolicy{Base: -1}, nil, "", "invalid_request", 0},
		"a cap below zero":                     {[]handler{pending}, fiscope.EsperaPolicy{Cap: -1}, nil, "", "invalid_request", 0},
		"a timeout below zero":                 {[]handler{pending}, fiscope.EsperaPolicy{Timeout: -1}, nil, "", "invalid_request", 0},
		"an option that is nil":                {nil, fiscope.EsperaPolicy{}, []fiscope.CallOption{nil}, "", "invalid_request", 0},
		"pauses without end":                   {[]handler{pending}, fiscope.EsperaPolicy{MaxAttempts: 80, Base: 1<<32 + 1, Cap: math.MaxInt64, Timeout: 1000 * time.Hour}, nil, fiscope.EsperaSinTiempo, "", 19},
		"a pause that does not fit the policy": {[]handler{pending}, fiscope.EsperaPolicy{Base: 20 * time.Second, Timeout: 5 * time.Second}, nil, fiscope.EsperaSinTiempo, "", 1},
	} {
		inBubble(t, name, func(t *testing.T) {
			client, s := answers(t, test.answers...)
			var resp fiscope.Response
			e, err := client.CPE.Esperar(t.Context(), factura, credenciales, test.policy, append(test.opts, fiscope.WithResponse(&resp))...)
			if test.policy.Cap != math.MaxInt64 { // whose pauses are drawn
				assert.Len(t, s.seen(), test.queries)
			}
			if test.fin == "" {
				assert.Nil(t, e)
				assert.Equal(t, test.class, fiscope.ErrorClass(err))
				var failed *fiscope.Error
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, fiscope.OpEsperarCPE, failed.Op)
				assert.Equal(t, test.queries, failed.Attempts)
				assert.False(t, leaks(err.Error(), clave))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.fin, e.Fin)
			assert.True(t, e.Fin != fiscope.EsperaFinal || resp.Source == fiscope.SourceService, "of the last answer")
			assert.Equal(t, test.class, fiscope.ErrorClass(e.Causa))
			assert.Equal(t, len(s.seen()), e.Consultas)
			assert.Equal(t, test.fin == fiscope.EsperaFinal, !e.Resultado.Codigo.Indeterminado() && (e.Resultado.Codigo != fiscope.CodigoNoExiste || !test.policy.HastaQueExista))
		})
	}
}

func TestThePausesOfAWaitGrowToTheirCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		client := newClient(t, handler(func(r *http.Request) (*http.Response, error) {
			times = append(times, time.Now())
			if len(times) == 9 {
				return raw(429, "", "Retry-After: 45")(r)
			}
			return verdicts(t, "en_proceso")[0](r)
		}))
		_, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{MaxAttempts: 10, Base: time.Second, Cap: 20 * time.Second})
		require.NoError(t, err)
		for i, span := range []time.Duration{1, 2, 4, 8, 16, 20, 20, 20} {
			pause := times[i+1].Sub(times[i])
			assert.GreaterOrEqual(t, pause, span*time.Second/2, i)
			assert.LessOrEqual(t, pause, span*time.Second, i)
		}
		assert.Equal(t, 45*time.Second, times[9].Sub(times[8]), "as the service asked")
		assert.Equal(t, times[9], time.Now(), "there is no pause after the last")
	})
}

// A paid answer is not lost to the end of the context, wherever the wait is then.
func TestAWaitThatRunsOutOfTimeKeepsItsAnswer(t *testing.T) {
	pending := verdicts(t, "en_proceso")[0]
	for name, test := range map[string]struct {
		second handler
		opts   []fiscope.Option
		hidden bool // the context does not show its deadline
		policy fiscope.EsperaPolicy
		causes bool
	}{
		"before a pause":                {second: pending, policy: fiscope.EsperaPolicy{Base: time.Hour}},
		"in a pause":                    {second: pending, hidden: true, policy: fiscope.EsperaPolicy{Base: time.Minute}, causes: true},
		"in an attempt":                 {second: hangs, causes: true},
		"at the limiter":                {second: pending, opts: []fiscope.Option{fiscope.WithRateLimit(rate.Every(time.Minute), 1)}, causes: true},
		"at the limiter, after a 500":   {second: raw(500, ""), opts: []fiscope.Option{fiscope.WithRateLimit(rate.Every(time.Minute), 2)}, causes: true},
		"as another tries the same one": {second: hangs, policy: fiscope.EsperaPolicy{Base: 6 * time.Second, Timeout: 10 * time.Second}, causes: true},
	} {
		inBubble(t, name, func(t *testing.T) {
			s := &service{answers: []handler{raw(200, contract(t, "validar_200_error.json")), test.second}}
			client := newClient(t, s, test.opts...)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if test.hidden {
				ctx = withoutDeadline{ctx}
			}
			if test.policy.Timeout > 0 {
				time.AfterFunc(time.Second, func() { _ = validar(t.Context(), client, clave) })
			}
			e, err := client.CPE.Esperar(ctx, factura, credenciales, test.policy)
			require.NoError(t, err)
			assert.Equal(t, fiscope.EsperaSinTiempo, e.Fin)
			assert.Equal(t, fiscope.CodigoError, e.Resultado.Codigo)
			assert.Equal(t, test.causes, errors.Is(e.Causa, context.DeadlineExceeded))
		})
	}
	inBubble(t, "if there is one", func(t *testing.T) {
		client, _ := answers(t, hangs)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := client.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, fiscope.ErrUnavailable)
	})
}

func TestAWaitSendsNothingAfterItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, start := &service{answers: []handler{raw(200, verdict)}}, time.Now()
		client := newClient(t, s, fiscope.WithRateLimit(1.0/3600, 1))
		require.NoError(t, validar(t.Context(), client, clave))
		_, err := client.CPE.Esperar(t.Context(), factura, credenciales, fiscope.EsperaPolicy{Timeout: time.Minute})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.LessOrEqual(t, time.Since(start), time.Minute)
		assert.Len(t, s.seen(), 1)
	})
}

func TestAWaitThatIsCancelledEndsAtOnce(t *testing.T) {
	why := errors.New("the operator pressed Ctrl-C")
	pending := verdicts(t, "en_proceso")[0]
	for name, test := range map[string]struct {
		answers  []handler
		attempts int
		delivery fiscope.Delivery
	}{
		"in a pause":                  {[]handler{pending}, 2, fiscope.DeliveryAnswered},
		"in an attempt":               {[]handler{pending, hangs}, 2, fiscope.DeliveryUnknown},
		"before anything was sent":    {[]handler{refusesToDial}, 2, fiscope.DeliveryNotSent},
		"after what reached somebody": {[]handler{raw(500, ""), refusesToDial}, 2, fiscope.DeliveryAnswered},
	} {
		inBubble(t, name, func(t *testing.T) {
			client, _ := answers(t, test.answers...)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(3*time.Second, func() { cancel(why) })
			start := time.Now()
			e, err := client.CPE.Esperar(ctx, factura, credenciales, fiscope.EsperaPolicy{})
			assert.Equal(t, 3*time.Second, time.Since(start))
			assert.Nil(t, e)
			require.ErrorIs(t, err, why)
			var failed *fiscope.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, test.attempts, failed.Attempts)
			assert.Equal(t, test.delivery, failed.Delivery)
		})
	}
}

func ExampleCPEService_Esperar() {
	srv := server()
	defer srv.Close()
	receipt := fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 125}
	// Here the receipt is accepted while we wait.
	client := srv.Client(fiscope.WithObserver(func(context.Context, fiscope.Event) {
		_ = srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 125, Codigo: mockserver.CodigoAceptado})
	}))
	defer func() { _ = client.Close(context.Background()) }()

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
