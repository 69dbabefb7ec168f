package fiscope_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
		"a 401 with its number for a code":   {raw(401, `{"code":401,"message":"Unauthorized"}`), true, []string{"ErrUnauthorized"}},
		"a 401 with a nested number":         {raw(401, `{"error":{"code":401}}`), true, []string{"ErrUnauthorized"}},
		"a 401 with a number as text":        {raw(401, `{"code":"401"}`), true, []string{"ErrUnauthorized"}},
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
		s := &service{answers: []func(*http.Request) (*http.Response, error){raw(200, record), raw(503, "")}}
		client := newClient(t, s, fiscope.WithRateLimit(1.0/60, 1))
		require.NoError(t, operations["consultar"](t.Context(), client))
		var first sync.WaitGroup
		first.Go(func() { assert.Error(t, validar(t.Context(), client, clave)) }) // it waits a minute to be sent
		synctest.Wait()
		start := time.Now()
		err := validar(t.Context(), client, clave)
		assert.Equal(t, 30*time.Second, time.Since(start), "the attempt's timeout")
		require.ErrorIs(t, err, fiscope.ErrUnavailable)
		var e *fiscope.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, fiscope.DeliveryNotSent, e.Delivery)
		assert.Len(t, s.seen(), 1)
		first.Wait()
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

// authority accepts one clave, and counts what reaches it.
type authority struct {
	mu       sync.Mutex
	right    string        // the clave that is accepted
	takes    time.Duration // an answer
	sent     map[string]int
	refused  int
	underWay int
	together int // at most
}

func (a *authority) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked struct{ ClaveSol string }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.sent[asked.ClaveSol]++
	a.underWay++
	a.together = max(a.together, a.underWay)
	accepted := asked.ClaveSol == a.right
	if !accepted {
		a.refused++
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.underWay--
		a.mu.Unlock()
	}()
	select {
	case <-time.After(a.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if accepted {
		return raw(200, verdict)(r)
	}
	return raw(401, `{"error":"x","code":"INVALID_SOL_CREDENTIALS"}`)(r)
}

func (a *authority) change(right string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.right = right
}

func withAuthority(t *testing.T, opts ...fiscope.Option) (*fiscope.Client, *authority) {
	a := &authority{right: clave, takes: time.Second, sent: map[string]int{}}
	return newClient(t, a, opts...), a
}

func together(n int, call func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { call(i) })
	}
	wg.Wait()
}

func TestAClaveThatWasChangedIsRefusedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		opts    []fiscope.Option
		idle    time.Duration
		refused int
	}{
		"after hours":                        {nil, 3 * time.Hour, 1},
		"after 15 minutes":                   {nil, 15 * time.Minute, 1},
		"after the memory, which is shorter": {[]fiscope.Option{fiscope.WithSOLMemory(time.Minute)}, time.Minute, 1},
		"within minutes, behind a limiter":   {[]fiscope.Option{fiscope.WithRateLimit(10, 1)}, time.Minute, 11},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, a := withAuthority(t, test.opts...)
				require.NoError(t, validar(t.Context(), client, clave))
				time.Sleep(test.idle)
				a.change("la-nueva")
				together(1000, func(int) {
					assert.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrInvalidSOLCredentials)
				})
				assert.LessOrEqual(t, a.refused, test.refused)
				assert.Positive(t, a.refused)
			})
		})
	}
	t.Run("and the next one goes alone, too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, a := withAuthority(t)
			require.NoError(t, validar(t.Context(), client, clave))
			a.change("la-nueva")
			require.Error(t, validar(t.Context(), client, clave))
			client.CPE.Olvidar(credenciales)
			together(1000, func(int) { assert.Error(t, validar(t.Context(), client, clave)) })
			assert.Equal(t, 2, a.refused)
			client.CPE.Olvidar(credenciales)
			a.change(clave)
			start := time.Now()
			together(1000, func(int) { assert.NoError(t, validar(t.Context(), client, clave)) })
			assert.Equal(t, 2*time.Second, time.Since(start))
		})
	})
}

func TestAProvenClaveHasNoCapWhileItIsUsed(t *testing.T) {
	for name, test := range map[string]struct {
		opts  []fiscope.Option
		every time.Duration
		alone bool
	}{
		"every 14 minutes, each acceptance counts": {nil, 14 * time.Minute, false},
		"every 15 minutes":                         {nil, 15 * time.Minute, true},
		"within WithSOLMemory":                     {[]fiscope.Option{fiscope.WithSOLMemory(time.Minute)}, 50 * time.Second, false},
		"after WithSOLMemory":                      {[]fiscope.Option{fiscope.WithSOLMemory(time.Minute)}, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := withAuthority(t, test.opts...)
				require.NoError(t, validar(t.Context(), client, clave))
				for range 3 {
					time.Sleep(test.every)
					start := time.Now()
					together(8, func(int) { assert.NoError(t, validar(t.Context(), client, clave)) })
					want := time.Second
					if test.alone {
						want = 2 * time.Second
					}
					assert.Equal(t, want, time.Since(start))
				}
			})
		})
	}
}

func TestOneUserIsTriedOneClaveAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, a := withAuthority(t)
		a.takes = 100 * time.Millisecond
		together(100, func(i int) {
			assert.ErrorIs(t, validar(t.Context(), client, fmt.Sprint("equivocada ", i)), fiscope.ErrInvalidSOLCredentials)
		})
		assert.Equal(t, 1, a.together)
		assert.Equal(t, 100, a.refused)

		require.NoError(t, validar(t.Context(), client, clave))
		start := time.Now()
		together(10, func(int) { assert.NoError(t, validar(t.Context(), client, clave)) })
		assert.Equal(t, a.takes, time.Since(start), "but the proven one is not held back")

		a.together = 0
		together(10, func(i int) {
			c := credenciales
			c.Usuario = fmt.Sprint("OTRO", i)
			_, _ = client.CPE.Validar(t.Context(), factura, c)
		})
		assert.Equal(t, 10, a.together, "nor do users wait for each other")
	})
	t.Run("no longer than an attempt takes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, a := withAuthority(t)
			a.takes = 20 * time.Second
			start := time.Now()
			var notSent atomic.Int64
			together(10, func(i int) {
				if err := validar(t.Context(), client, fmt.Sprint("equivocada ", i)); errors.Is(err, fiscope.ErrUnavailable) {
					assert.ErrorContains(t, err, "nothing was sent")
					notSent.Add(1)
				}
			})
			assert.LessOrEqual(t, time.Since(start), 40*time.Second)
			assert.EqualValues(t, 8, notSent.Load())
		})
	})
}

func TestSpellingsOfAUserAreOne(t *testing.T) {
	var usuarios []string
	client, s := answers(t, raw(401, contract(t, "validar_401.json")))
	for _, usuario := range []string{"MIUSER01", "miuser01", "MiUser01", " MIUSER01", "MIUSER01 ", "\u00a0MIUSER01", "\ufeffMIUSER01", "MIUSER01\u200b", "MIUSER01\u2060", "\u200b MIUSER01"} {
		c := credenciales
		c.Usuario = usuario
		_, err := client.CPE.Validar(t.Context(), factura, c)
		require.Error(t, err)
		usuarios = append(usuarios, usuario)
	}
	require.Len(t, s.seen(), 1, "%q", usuarios)

	client, s = answers(t, raw(200, verdict))
	c := credenciales
	c.Usuario = "miUser01"
	_, err := client.CPE.Validar(t.Context(), factura, c)
	require.NoError(t, err)
	assert.True(t, strings.Contains(s.seen()[0].body, `"usuarioSol":"miUser01"`), "it is sent as given")
	require.NoError(t, validar(t.Context(), client, clave))
}

func TestInvisibleCharactersAroundAClaveAreRefusedLocally(t *testing.T) {
	for _, around := range []string{" %s", "%s\u00a0", "\ufeff%s", "%s\ufeff", "%s\u200b", "\u2060%s", "%s \u200b"} {
		client, s := answers(t, raw(200, verdict))
		err := validar(t.Context(), client, fmt.Sprintf(around, clave))
		require.ErrorIs(t, err, fiscope.ErrInvalidRequest, "%q", around)
		assert.ErrorContains(t, err, "claveSol has blanks or invisible characters around it")
		assert.Empty(t, s.seen())
	}
	client, _ := answers(t, raw(200, verdict))
	require.NoError(t, validar(t.Context(), client, "a\u200db c"), "within it they may be meant")
}

func TestARefusedClaveSaysHowLongItIsBlocked(t *testing.T) {
	refusal := raw(401, contract(t, "validar_401.json"))
	for name, test := range map[string]struct {
		answers []func(*http.Request) (*http.Response, error)
		opts    []fiscope.Option
		blocked time.Duration
	}{
		"by its code":            {[]func(*http.Request) (*http.Response, error){raw(200, verdict), refusal}, nil, 24 * time.Hour},
		"for WithSOLMemory":      {[]func(*http.Request) (*http.Response, error){raw(200, verdict), refusal}, []fiscope.Option{fiscope.WithSOLMemory(time.Hour)}, time.Hour},
		"by a 401 without code":  {[]func(*http.Request) (*http.Response, error){raw(200, verdict), raw(401, "")}, nil, 5 * time.Minute},
		"in the fleet":           {[]func(*http.Request) (*http.Response, error){raw(200, verdict), refusal}, []fiscope.Option{fiscope.WithStore(newSharedGuard())}, 24 * time.Hour},
		"in the fleet, in doubt": {[]func(*http.Request) (*http.Response, error){raw(200, verdict), raw(401, "")}, []fiscope.Option{fiscope.WithStore(newSharedGuard())}, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: test.answers}
				client, other := newClient(t, s, test.opts...), newClient(t, s, test.opts...)
				require.NoError(t, validar(t.Context(), client, clave))
				require.Error(t, validar(t.Context(), client, clave))
				time.Sleep(time.Minute)
				clients := []*fiscope.Client{client}
				if strings.HasPrefix(name, "in the fleet") {
					clients = append(clients, other)
				}
				for _, client := range clients {
					err := validar(t.Context(), client, clave)
					var e *fiscope.Error
					require.ErrorAs(t, err, &e)
					require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
					assert.Equal(t, test.blocked-time.Minute, e.RetryAfter)
				}
			})
		})
	}
}

func TestALateSuccessDoesNotUndoARefusalThatWasForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		accepted := raw(200, contract(t, "validar_200_aceptado.json"))
		refused := slowly(raw(401, contract(t, "validar_401.json")))
		client, _ := answers(t, accepted, slowly(slowly(accepted)), refused, slowly(accepted))
		require.NoError(t, validar(t.Context(), client, clave))
		var wg sync.WaitGroup
		wg.Go(func() { assert.NoError(t, validar(t.Context(), client, clave)) }) // under way for two seconds
		synctest.Wait()
		require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrInvalidSOLCredentials) // after one
		client.CPE.Olvidar(credenciales)
		wg.Wait()
		start := time.Now()
		together(10, func(int) { assert.NoError(t, validar(t.Context(), client, clave)) })
		assert.Equal(t, 2*time.Second, time.Since(start), "one goes first: what began before the refusal proves nothing")
	})
}

func TestOtherCredentialsDoNotPushOut(t *testing.T) {
	others := func(t *testing.T, client *fiscope.Client) {
		c := credenciales
		for i := range 10_500 {
			c.Usuario = fmt.Sprint("OTRO", i)
			_, err := client.CPE.Validar(t.Context(), factura, c)
			require.NoError(t, err)
		}
	}
	t.Run("one that was refused", func(t *testing.T) {
		client, a := withAuthority(t)
		a.takes = 0
		require.Error(t, validar(t.Context(), client, "equivocada"))
		others(t, client)
		require.ErrorIs(t, validar(t.Context(), client, "equivocada"), fiscope.ErrSOLCredentialsBlocked)
		assert.Equal(t, 1, a.refused)
	})
	t.Run("one that is being tried", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, a := withAuthority(t)
			done := make(chan struct{})
			go func() {
				defer close(done)
				assert.Error(t, validar(t.Context(), client, "equivocada"))
			}()
			synctest.Wait()
			a.takes = 0
			others(t, client)
			assert.ErrorIs(t, validar(t.Context(), client, "equivocada"), fiscope.ErrSOLCredentialsBlocked)
			<-done
			assert.Equal(t, 1, a.refused)
		})
	})
}

func TestCodesInOtherSpellings(t *testing.T) {
	for name, body := range map[string]string{
		"blanks around":         `{"error":"x","code":" INVALID_SOL_CREDENTIALS\n"}`,
		"blanks within":         `{"error":"x","code":"INVALID SOL CREDENTIALS"}`,
		"another case":          `{"error":"x","code":"invalid_sol_credentials"}`,
		"nested":                `{"error":{"code":"INVALID_SOL_CREDENTIALS","message":"clave incorrecta"}}`,
		"nested, another case":  `{"error":{"code":"Invalid_Sol_Credentials"}}`,
		"nested, beside a code": `{"code":"401","error":{"code":"INVALID_SOL_CREDENTIALS"}}`,
		"nested, beside blanks": `{"code":" ","error":{"code":"INVALID_SOL_CREDENTIALS"}}`,
	} {
		for _, status := range []int{200, 400, 401, 403, 500} {
			t.Run(fmt.Sprint(name, " ", status), func(t *testing.T) {
				client, s := answers(t, raw(status, body))
				err := validar(t.Context(), client, clave)
				require.ErrorIs(t, err, fiscope.ErrInvalidSOLCredentials)
				require.NotErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, fiscope.CodeInvalidSOLCredentials, e.Code)
				require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
				assert.Len(t, s.seen(), 1)
			})
		}
	}
	for body, is := range map[string]error{
		`{"error":"x","code":" not_found "}`:                   fiscope.ErrNotFound,
		`{"error":{"code":"Not_Found","mensaje":"no existe"}}`: fiscope.ErrNotFound,
		`{"error":{"code":"SEARCH_TOO_SHORT"}}`:                fiscope.ErrSearchTooShort,
	} {
		client, _ := answers(t, raw(404, body))
		require.ErrorIs(t, operations["consultar"](t.Context(), client), is)
	}
	client, _ := answers(t, raw(400, `{"error":{"code":"OTRO","message":"clave incorrecta"}}`))
	err := operations["consultar"](t.Context(), client)
	require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
	assert.ErrorContains(t, err, "(HTTP 400 OTRO): clave incorrecta")
}

func TestOlvidarTakesNothingFromAProvenCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := withAuthority(t)
		require.NoError(t, validar(t.Context(), client, clave))
		client.CPE.Olvidar(credenciales)
		start := time.Now()
		together(100, func(int) { assert.NoError(t, validar(t.Context(), client, clave)) })
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestA401WithoutACodeBlocksAProvenClaveForMinutes(t *testing.T) {
	for name, body := range map[string]string{"no body": "", "a page": "<html>401</html>", "no code": `{"error":"no"}`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				accepted, gateway := slowly(raw(200, verdict)), slowly(raw(401, body))
				client, s := answers(t, accepted, gateway, gateway, gateway, accepted)
				require.NoError(t, validar(t.Context(), client, clave))
				together(1, func(int) { assert.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrUnauthorized) })
				err := validar(t.Context(), client, clave)
				require.ErrorIs(t, err, fiscope.ErrSOLCredentialsBlocked)
				for _, said := range []string{"answered 401", "did not say what it refuses", "were accepted at 2000-01-01T00:00:01Z", "not sent before 2000-01-01T00:05:02Z", "Olvidar"} {
					assert.ErrorContains(t, err, said)
				}
				assert.NotContains(t, err.Error(), "were refused")

				for sent, minutes := range []time.Duration{5, 10} { // they double
					time.Sleep(minutes*time.Minute - time.Nanosecond)
					require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
					time.Sleep(time.Nanosecond)
					together(100, func(int) { assert.Error(t, validar(t.Context(), client, clave)) })
					require.Len(t, s.seen(), 3+sent, "one goes first")
				}
				client.CPE.Olvidar(credenciales)
				require.NoError(t, validar(t.Context(), client, clave))
				start := time.Now()
				together(100, func(int) { assert.NoError(t, validar(t.Context(), client, clave)) })
				assert.Equal(t, time.Second, time.Since(start))
			})
		})
	}
	t.Run("many at once are one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, _ := answers(t, raw(200, verdict), slowly(raw(401, "")))
			require.NoError(t, validar(t.Context(), client, clave))
			together(100, func(int) { assert.Error(t, validar(t.Context(), client, clave)) })
			time.Sleep(5*time.Minute - time.Nanosecond)
			require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
			time.Sleep(time.Nanosecond)
			require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrUnauthorized)
		})
	})
	t.Run("of an unproven one for a day", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, s := answers(t, raw(401, ""), raw(200, verdict))
			require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrUnauthorized)
			time.Sleep(24*time.Hour - time.Nanosecond)
			require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
			assert.Len(t, s.seen(), 1)
			time.Sleep(time.Nanosecond)
			require.NoError(t, validar(t.Context(), client, clave))
		})
	})
	t.Run("and a refusal by its code for a day", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, _ := answers(t, raw(200, verdict), raw(401, contract(t, "validar_401.json")))
			require.NoError(t, validar(t.Context(), client, clave))
			require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrInvalidSOLCredentials)
			time.Sleep(24*time.Hour - time.Nanosecond)
			require.ErrorIs(t, validar(t.Context(), client, clave), fiscope.ErrSOLCredentialsBlocked)
		})
	})
}
