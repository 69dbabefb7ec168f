package fiscope_test

import (
	"context"
	"errors"
	"net/http"
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
func slowly(answer func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(time.Second):
			return answer(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

func TestTenThousandGoroutinesWithAWrongClaveAreOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, slowly(raw(401, contract(t, "validar_401.json"))))
		var first, blocked atomic.Int64
		var wg sync.WaitGroup
		for range 10_000 {
			wg.Go(func() {
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
		}
		wg.Wait()
		assert.Len(t, s.seen(), 1)
		assert.EqualValues(t, 1, first.Load())
		assert.EqualValues(t, 9_999, blocked.Load())
		assert.EqualValues(t, 9_999, client.Stats().Avoided[fiscope.AvoidedSOL])
	})
}

func TestARightClaveIsProvenOnceAndThenSentTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, slowly(raw(200, contract(t, "validar_200_aceptado.json"))))
		start := time.Now()
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() { assert.NoError(t, validar(t.Context(), client, clave)) })
		}
		wg.Wait()
		assert.Equal(t, 2*time.Second, time.Since(start), "one second for the first, one for all the others")
		assert.Len(t, s.seen(), 1000)
	})
}

func TestWhatBlocksACredential(t *testing.T) {
	for name, test := range map[string]struct {
		answer  func(*http.Request) (*http.Response, error)
		blocks  bool
		classes []string
	}{
		"the contract's refusal":             {raw(401, contract(t, "validar_401.json")), true, []string{"ErrInvalidSOLCredentials"}},
		"the code under another status":      {raw(400, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`), true, []string{"ErrInvalidSOLCredentials"}},
		"the code with status 200":           {raw(200, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`), true, []string{"ErrInvalidSOLCredentials"}},
		"the code inside a result":           {raw(200, `{"codigo":"99","estado":"Error","esValido":false,"error":"x","code":"INVALID_SOL_CREDENTIALS"}`), true, []string{"ErrInvalidSOLCredentials"}},
		"a 401 without a body":               {raw(401, ``), true, []string{"ErrUnauthorized"}},
		"a 401 with a page":                  {raw(401, `<html>no</html>`), true, []string{"ErrUnauthorized"}},
		"a 401 with an empty code":           {raw(401, `{"error":"x","code":" "}`), true, []string{"ErrUnauthorized"}},
		"a 401 with a code of its own":       {raw(401, `{"error":"x","code":"UNAUTHORIZED"}`), false, []string{"ErrUnauthorized"}},
		"a 403":                              {raw(403, ``), false, []string{"ErrUnauthorized"}},
		"the authority is down":              {raw(500, contract(t, "validar_500.json")), false, []string{"ErrUnavailable"}},
		"a 400":                              {raw(400, contract(t, "validar_400_faltan.json")), false, []string{"ErrInvalidRequest"}},
		"a 429":                              {raw(429, ``), false, []string{"ErrQuotaExceeded"}},
		"nothing that the contract could be": {raw(200, `null`), false, []string{"ErrMalformedResponse"}},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, test.answer, raw(200, contract(t, "validar_200_aceptado.json")))
			err := validar(t.Context(), client, clave)
			assert.ElementsMatch(t, test.classes, classes(err))
			require.NotErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)

			err = validar(t.Context(), client, clave)
			if !test.blocks {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
			require.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
			assert.Len(t, s.seen(), 1)
		})
	}
}

func TestABlockEnds(t *testing.T) {
	refused := raw(401, contract(t, "validar_401.json"))
	accepted := raw(200, contract(t, "validar_200_aceptado.json"))
	for name, unblock := range map[string]func(*testing.T, *fiscope.Client) error{
		"when the clave changes": func(t *testing.T, c *fiscope.Client) error { return validar(t.Context(), c, "otra") },
		"when the caller knows": func(t *testing.T, c *fiscope.Client) error {
			c.CPE.Olvidar(credenciales)
			return validar(t.Context(), c, clave)
		},
		"when its lifetime is over": func(t *testing.T, c *fiscope.Client) error {
			time.Sleep(24*time.Hour - time.Nanosecond)
			assert.ErrorIs(t, validar(t.Context(), c, clave), fiscope.ErrSOLCredentialsBlocked)
			time.Sleep(time.Nanosecond)
			return validar(t.Context(), c, clave)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := answers(t, refused, accepted)
				require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrInvalidSOLCredentials)
				require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
				require.NoError(t, unblock(t, client))
				assert.Len(t, s.seen(), 2)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){refused, accepted}}
		client := newClient(t, s, fiscope.WithSOLMemory(time.Minute))
		require.Error(t, validar(t.Context(), client, clave))
		time.Sleep(time.Minute)
		require.NoError(t, validar(t.Context(), client, clave))
	})
	_, err := fiscope.NewClient(baseURL, apiKey, fiscope.WithSOLMemory(0))
	require.Error(t, err)
}

func TestTheBlockIsOfOneCredential(t *testing.T) {
	client, _ := answers(t, raw(401, contract(t, "validar_401.json")), raw(200, contract(t, "validar_200_aceptado.json")))
	require.Error(t, validar(t.Context(), client, clave))
	for name, c := range map[string]fiscope.CredencialesSOL{
		"another RUC":  {RUC: "20100047218", Usuario: credenciales.Usuario, Clave: credenciales.Clave},
		"another user": {RUC: credenciales.RUC, Usuario: "OTRO0001", Clave: credenciales.Clave},
		"shifted":      {RUC: credenciales.RUC, Usuario: credenciales.Usuario + clave[:1], Clave: fiscope.NewSecreto(clave[1:])},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.CPE.Validar(t.Context(), factura, c)
			require.NoError(t, err)
		})
	}
}

func TestWhatProvesACredential(t *testing.T) {
	for name, test := range map[string]struct {
		file   string
		proves bool
	}{
		"aceptado": {"validar_200_aceptado.json", true}, "anulado": {"validar_200_anulado.json", true},
		"en proceso": {"validar_200_en_proceso.json", true}, "no existe": {"validar_200_no_existe.json", true},
		"error": {"validar_200_error.json", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := answers(t, slowly(raw(200, contract(t, test.file))))
				require.NoError(t, validar(t.Context(), client, clave))
				start := time.Now()
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() { assert.NoError(t, validar(t.Context(), client, clave)) })
				}
				wg.Wait()
				want := 3 * time.Second // each tries alone, one waiter takes over
				if test.proves {
					want = time.Second
				}
				assert.Equal(t, want, time.Since(start))
			})
		})
	}
}

func TestAWaiterTakesOverFromOneThatGotNoVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := answers(t, hangs, raw(200, contract(t, "validar_200_aceptado.json")))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { assert.ErrorIs(t, validar(ctx, client, clave), context.Canceled) })
		time.Sleep(time.Second)
		cancel()
		for range 5 {
			wg.Go(func() { assert.NoError(t, validar(t.Context(), client, clave)) })
		}
		synctest.Wait()
		assert.Len(t, s.seen(), 1, "the others wait")
		wg.Wait()
		assert.Len(t, s.seen(), 6)
	})
}

func TestAWaiterIsNotKeptForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){hangs}}
		client := newClient(t, s, fiscope.WithTimeout(time.Second, time.Minute))
		go func() { _ = validar(t.Context(), client, clave) }()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		err := validar(ctx, client, clave)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 10*time.Second, time.Since(start), "its own context")

		client.CPE.Olvidar(credenciales) // changes nothing for those under way
		time.Sleep(time.Minute)
	})
	synctest.Test(t, func(t *testing.T) {
		prover := make(chan struct{})
		var sent atomic.Int64
		client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
			sent.Add(1)
			<-prover // a transport that ignores its context
			return raw(503, "")(r)
		}))
		go func() { _ = validar(t.Context(), client, clave) }()
		synctest.Wait()
		start := time.Now()
		err := validar(t.Context(), client, clave)
		assert.Equal(t, 30*time.Second, time.Since(start), "the attempt's timeout")
		require.ErrorIs(t, err, fiscope.ErrUnavailable)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
		assert.EqualValues(t, 1, sent.Load())
		close(prover)
	})
}

func TestAProvenClaveThatIsRefusedLaterIsBlocked(t *testing.T) {
	client, s := answers(t, raw(200, contract(t, "validar_200_aceptado.json")), raw(401, contract(t, "validar_401.json")))
	require.NoError(t, validar(t.Context(), client, clave))
	require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrInvalidSOLCredentials)
	require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
	assert.Len(t, s.seen(), 2)
}

func TestALateSuccessDoesNotUndoARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		accepted := raw(200, contract(t, "validar_200_aceptado.json"))
		client, _ := answers(t, accepted, slowly(slowly(accepted)), slowly(raw(401, contract(t, "validar_401.json"))))
		require.NoError(t, validar(t.Context(), client, clave))
		var wg sync.WaitGroup
		wg.Go(func() { assert.NoError(t, validar(t.Context(), client, clave)) }) // under way for two seconds
		synctest.Wait()
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrInvalidSOLCredentials) // after one
		wg.Wait()
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
	})
}

func TestALookupIsNotHeldBackByARefusedClave(t *testing.T) {
	client, _ := answers(t, raw(401, ``), raw(200, contract(t, "consultar_200.json")))
	require.Error(t, validar(t.Context(), client, clave))
	require.NoError(t, operations["consultar"](t.Context(), client))
}
