package fiscope_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func validar(ctx context.Context, client *fiscope.Client, clave string) error {
	c := credenciales
	c.Clave = fiscope.NewSecreto(clave)
	_, err := client.CPE.Validar(ctx, factura, c)
	return err
}

// slowly answers after a second, so that many calls are under way together.
func slowly(answer handler) handler { return after(time.Second, answer) }

func together(n int, call func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { call(i) })
	}
	wg.Wait()
}

func TestTenThousandGoroutinesWithAWrongClaveAreOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, slowly(raw(401, contract(t, "validar_401.json"))))
		var first, blocked atomic.Int64
		together(10_000, func(int) {
			err := validar(t.Context(), client, "equivocada")
			assert.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials)
			var e *fiscope.Error
			if assert.ErrorAs(t, err, &e) && e.Attempts == 1 {
				first.Add(1)
			}
			if errors.Is(err, fiscope.ErrSOLCredentialsBlocked) {
				blocked.Add(1)
			}
		})
		assert.Len(t, s.seen(), 1)
		assert.EqualValues(t, 1, first.Load())
		assert.EqualValues(t, 9_999, blocked.Load())
		assert.EqualValues(t, 9_999, client.Stats().Avoided[fiscope.AvoidedSOL])
	})
}

func TestWhatBlocksACredential(t *testing.T) {
	const day, minutes = 24 * time.Hour, 5 * time.Minute
	for name, test := range map[string]struct {
		answer handler
		class  string
		blocks time.Duration
	}{
		"the contract's refusal":           {raw(401, contract(t, "validar_401.json")), "invalid_sol_credentials", day},
		"the code under another status":    {raw(400, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`), "invalid_sol_credentials", day},
		"the code with status 200":         {raw(200, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`), "invalid_sol_credentials", day},
		"the code in another spelling":     {raw(403, `{"error":{"code":"Invalid_Sol_Credentials "}}`), "invalid_sol_credentials", day},
		"the code inside a result":         {raw(200, change(verdict, "}", `,"error":"x","code":"INVALID_SOL_CREDENTIALS"}`)), "invalid_sol_credentials", day},
		"a 401 without a body":             {raw(401, ``), "unauthorized", minutes},
		"a 401 with a page":                {raw(401, `<html>no</html>`), "unauthorized", minutes},
		"a 401 with an empty code":         {raw(401, `{"error":"x","code":" "}`), "unauthorized", minutes},
		"a 401 with its number for a code": {raw(401, `{"code":401,"message":"Unauthorized"}`), "unauthorized", minutes},
		"a 401 whose body never ends":      {with(401, &body{read: func() error { time.Sleep(time.Minute); return nil }}), "unauthorized", minutes},
		"a 401 about the authority":        {raw(401, `{"error":"Usuario o clave incorrectos","code":"SOL_AUTH_FAILED"}`), "unauthorized", minutes},
		"a 401 about the user":             {raw(401, `{"error":"x","code":"SOL_USER_BLOCKED"}`), "unauthorized", minutes},
		"a 401 whose code is a word":       {raw(401, `{"error":"x","code":"Unauthorized user"}`), "unauthorized", minutes},
		"a 401 about the key":              {raw(401, `{"error":"x","code":"invalid_api_key"}`), "unauthorized", 0},
		"a 401 about a token":              {raw(401, `{"error":"x","code":"TokenExpired"}`), "unauthorized", 0},
		"a 401 with its name for a code":   {raw(401, `{"error":"x","code":"Unauthorized"}`), "unauthorized", 0},
		"a 403":                            {raw(403, `{"error":"x"}`), "unauthorized", 0},
		"a 403 about the authority":        {raw(403, `{"error":"x","code":"SOL_AUTH_FAILED"}`), "unauthorized", 0},
		"a 400 about the authority":        {raw(400, `{"error":"x","code":"SOL_AUTH_FAILED"}`), "invalid_request", 0},
		"a firewall":                       {raw(403, `<html>`), "unavailable", 0},
		"the authority is down":            {raw(500, contract(t, "validar_500.json")), "unavailable", 0},
		"a 400":                            {raw(400, contract(t, "validar_400_faltan.json")), "invalid_request", 0},
		"a 429":                            {raw(429, ``), "quota_exceeded", 0},
		"not the contract":                 {raw(200, `null`), "malformed_response", 0},
	} {
		for before, proven := range map[string][]handler{"at first": nil, "later": {raw(200, verdict)}} {
			inBubble(t, name+" "+before, func(t *testing.T) {
				client, s := answers(t, append(proven, test.answer, raw(200, verdict))...)
				for range proven {
					require.NoError(t, validar(t.Context(), client, clave))
				}
				err := validar(t.Context(), client, clave)
				require.Equal(t, test.class, fiscope.ErrorClass(err))
				if test.blocks == 0 {
					require.NoError(t, validar(t.Context(), client, clave))
					return
				}
				time.Sleep(time.Minute)
				err = validar(t.Context(), client, clave)
				require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
				require.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials)
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
				assert.Equal(t, test.blocks-time.Minute, e.RetryAfter)
				assert.Equal(t, test.blocks == day, strings.Contains(err.Error(), "and are not sent until 2000-01-01 19:0"))
				assert.Len(t, s.seen(), len(proven)+1)
				time.Sleep(e.RetryAfter - 1)
				require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
				time.Sleep(time.Nanosecond)
				require.NoError(t, validar(t.Context(), client, clave))
			})
		}
	}
}

// A 401 that does not say what it refuses, or not in the contract's words, may be about the API key.
func TestAnUnexplained401(t *testing.T) {
	for name, body := range map[string]string{"without a body": "", "with a code": `{"error":"No autorizado","code":"SOL_AUTH_FAILED"}`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { unexplained(t, raw(401, body)) })
		})
	}
	t.Run("after a validation that was refused for its key", func(t *testing.T) {
		client, _ := answers(t, raw(401, `{"error":"x","code":"UNAUTHORIZED"}`), raw(401, ""))
		for _, class := range []error{fiscope.ErrUnauthorized, fiscope.ErrUnauthorized, fiscope.ErrSOLCredentialsBlocked} {
			require.ErrorIs(t, validar(t.Context(), client, clave), class)
		}
	})
}

func unexplained(t *testing.T, refused handler) {
	client, s := newChangingClient(t, slowly(refused))
	require.ErrorContains(t, validar(t.Context(), client, "otra"), "check the API key and the clave")
	time.Sleep(5 * time.Minute)
	for _, minutes := range []time.Duration{5, 10, 20} { // they double
		together(100, func(int) { assert.Error(t, validar(t.Context(), client, clave)) })
		err := validar(t.Context(), client, clave)
		require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
		require.ErrorContains(t, err, "did not say what it refuses")
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, minutes*time.Minute, e.RetryAfter)
		time.Sleep(e.RetryAfter)
	}
	assert.EqualValues(t, 4, s.asked.Load(), "of those who come together one is sent")
	require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnauthorized)
	s.become(broken(io.EOF)) // which says nothing
	require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
	s.become(refused)
	for range 3 {
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrUnauthorized, "lookups get it too: it is about the key")
	}
	s.become(raw(200, record))
	require.NoError(t, operations["consultar"](t.Context(), client))
	s.become(refused)
	require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrUnauthorized)
	require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked, "it is about the clave again")
}

// A clave that was accepted, and then changed on the portal, costs one refusal after any pause of 15 minutes or more.
func TestAClaveThatWasChanged(t *testing.T) {
	for _, pause := range []time.Duration{15 * time.Minute, time.Hour, 24*time.Hour - time.Second, 72 * time.Hour} {
		for name, patience := range map[string]time.Duration{"": time.Hour, ", and who asks leaves": time.Second} {
			inBubble(t, pause.String()+name, func(t *testing.T) {
				client, a := withAuthority(t)
				a.takes = 5 * time.Second
				require.NoError(t, validar(t.Context(), client, clave))
				a.change("nueva")
				time.Sleep(pause)
				for range 3 {
					together(30, func(int) {
						ctx, cancel := context.WithTimeout(t.Context(), patience)
						defer cancel()
						assert.Error(t, validar(ctx, client, clave))
					})
					time.Sleep(5 * time.Second)
				}
				require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
				assert.Equal(t, 1, a.refused)
			})
		}
	}
}

// While the authority answers without a verdict, a clave that was accepted within a day is sent side by side.
func TestTheAuthoritysBadHours(t *testing.T) {
	for name, bad := range map[string]handler{
		"codigo 99": verdicts(t, "error")[0], "500": raw(500, contract(t, "validar_500.json")), "503": raw(503, `<html>`), "too many": raw(429, ``, "Retry-After: 1"),
	} {
		inBubble(t, name, func(t *testing.T) {
			client, s := newChangingClient(t, slowly(raw(200, verdict)))
			require.NoError(t, validar(t.Context(), client, clave))
			s.become(slowly(bad))
			began := time.Now()
			for time.Since(began) < 24*time.Hour-15*time.Minute {
				time.Sleep(14 * time.Minute)
				start := time.Now()
				together(10, func(int) { _ = validar(t.Context(), client, clave) })
				require.Equal(t, time.Second, time.Since(start))
			}
			time.Sleep(time.Hour)
			start := time.Now()
			together(10, func(int) { _ = validar(t.Context(), client, clave) })
			assert.Equal(t, 10*time.Second, time.Since(start), "a day after it was accepted they go one by one")
		})
	}
	for name, bad := range map[string]handler{"no answer": broken(io.EOF), "400": raw(400, contract(t, "validar_400_faltan.json"))} {
		inBubble(t, name+" does not renew it", func(t *testing.T) {
			client, _ := answers(t, raw(200, verdict), bad, slowly(raw(200, verdict)))
			for range 2 {
				_ = validar(t.Context(), client, clave)
				time.Sleep(10 * time.Minute)
			}
			start := time.Now()
			together(10, func(int) { assert.NoError(t, validar(t.Context(), client, clave)) })
			assert.Equal(t, 2*time.Second, time.Since(start), "one goes first")
		})
	}
}

func TestTheBlockIsOfOneCredential(t *testing.T) {
	client, s := answers(t, raw(401, contract(t, "validar_401.json")), raw(200, verdict))
	refused := credenciales
	refused.Clave = fiscope.NewSecreto("1" + clave)
	require.Error(t, second(client.CPE.Validar(t.Context(), factura, refused)))
	for name, c := range map[string]fiscope.CredencialesSOL{
		"another RUC":  {RUC: "20100047218", Usuario: credenciales.Usuario, Clave: refused.Clave},
		"another user": {RUC: credenciales.RUC, Usuario: "OTRO0001", Clave: refused.Clave},
		"shifted":      {RUC: credenciales.RUC, Usuario: credenciales.Usuario + "1", Clave: credenciales.Clave},
	} {
		require.NoError(t, second(client.CPE.Validar(t.Context(), factura, c)), name)
	}
	refused.Usuario = "miUser01"
	require.ErrorIs(t, second(client.CPE.Validar(t.Context(), factura, refused)), fiscope.ErrSOLCredentialsBlocked, "the portal ignores case")
	assert.Len(t, s.seen(), 4)
}

// A batch whose caller pauses is not slowed.
func TestABatchThatPausesGoesOnSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, a := withAuthority(t)
		start, n := time.Now(), 0
		for _, err := range client.CPE.ValidarLote(t.Context(), receipts(500), credenciales, fiscope.LotePolicy{}) {
			require.NoError(t, err)
			if n++; n == 250 {
				time.Sleep(time.Hour)
			}
		}
		assert.Equal(t, 500, n)
		assert.Zero(t, a.refused)
		healthy := 500 / time.Duration(a.together) * time.Second
		assert.LessOrEqual(t, time.Since(start), time.Hour+healthy+5*time.Second)
		assert.Greater(t, a.together, 1)
	})
}

// What comes of a clave is learned in the order in which it was sent, and though its caller left.
func TestWhatIsLearnedOfAClave(t *testing.T) {
	refused := after(3*time.Second, raw(401, contract(t, "validar_401.json")))
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, refused)
		together(50, func(int) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			assert.ErrorIs(t, validar(ctx, client, clave), context.DeadlineExceeded)
		})
		time.Sleep(time.Second)
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
		assert.Len(t, s.seen(), 1)
	})
	inBubble(t, "of one that was accepted before", func(t *testing.T) {
		refused := after(5*time.Second, raw(401, contract(t, "validar_401.json")))
		client, s := answers(t, raw(200, verdict), refused)
		require.NoError(t, validar(t.Context(), client, clave))
		together(10, func(i int) {
			time.Sleep(time.Duration(i+1) * 10 * time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			want := fiscope.ErrSOLCredentialsBlocked
			if i < 2 { // the second one goes alone, and its refusal is read
				want = context.DeadlineExceeded
			}
			assert.ErrorIs(t, validar(ctx, client, clave), want)
		})
		assert.Len(t, s.seen(), 3)
	})
	inBubble(t, "a late success undoes no refusal", func(t *testing.T) {
		accepted := raw(200, verdict)
		client, _ := answers(t, accepted, after(5*time.Second, accepted), refused, slowly(accepted))
		require.NoError(t, validar(t.Context(), client, clave))
		var wg sync.WaitGroup
		wg.Go(func() { assert.NoError(t, validar(t.Context(), client, clave)) })
		synctest.Wait()
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrInvalidSOLCredentials)
		wg.Wait()
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
		require.NoError(t, client.CPE.Olvidar(t.Context(), credenciales))
		start := time.Now()
		together(10, func(int) { assert.NoError(t, validar(t.Context(), client, clave)) })
		assert.Equal(t, 2*time.Second, time.Since(start), "one goes first")
	})
}
