package mockserver_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const wrongSOL = "INVALID_SOL_CREDENTIALS"

func TestWrongSOLCredentials(t *testing.T) {
	_, api := start(t)
	for name, c := range map[string]struct{ replace []string }{
		"clave":                {[]string{"claveSol", `"clave-mock-2"`}},
		"clave of other case":  {[]string{"claveSol", `"CLAVE-MOCK-1"`}},
		"clave with a blank":   {[]string{"claveSol", `"clave-mock-1 "`}},
		"unknown user":         {[]string{"usuarioSol", `"OTROUSER"`}},
		"user of another case": {[]string{"usuarioSol", `"miuser01"`}},
		"user of another RUC":  {[]string{"rucSolicitante", `"20100070970"`}},
	} {
		t.Run(name, func(t *testing.T) {
			api.validar(cpe(t, c.replace...)).isError(t, 401, wrongSOL)
			assert.Equal(t, 200, api.validar(cpe(t)).status, "one attempt blocks nobody")
		})
	}
}

func TestPrincipalUserIsAlwaysRefused(t *testing.T) {
	_, api := start(t)
	for range 5 {
		r := api.validar(cpe(t, "usuarioSol", `"PRINCIP1"`, "claveSol", `"clave-mock-2"`))
		r.isError(t, 401, wrongSOL)
		assert.Contains(t, r.body, "usuario principal")
	}
	assert.Contains(t, api.validar(cpe(t, "usuarioSol", `"PRINCIP1"`)).body, "bloqueado hasta", "every use of it counts")
	assert.Equal(t, 200, api.validar(cpe(t)).status, "the secondary user is another")
}

func TestRepeatedWrongAttemptsBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, api := start(t)
		waitUntil(t, "2026-11-20T10:00:00-05:00")
		wrong := cpe(t, "claveSol", `"mala"`)

		r := api.validar(wrong)
		r.isError(t, 401, wrongSOL)
		assert.Contains(t, r.body, "intento fallido 1 de 3")
		api.validar(wrong).isError(t, 401, wrongSOL)
		assert.Equal(t, 200, api.validar(cpe(t)).status, "a right clave forgets the count")

		for range 2 {
			api.validar(wrong).isError(t, 401, wrongSOL)
		}
		r = api.validar(wrong)
		r.isError(t, 401, wrongSOL)
		assert.Contains(t, r.body, "bloqueado hasta el 2026-11-20 10:30:00 (hora de Lima)")

		r = api.validar(cpe(t))
		r.isError(t, 401, wrongSOL)
		assert.Contains(t, r.body, "se rechaza también la clave SOL correcta")

		waitUntil(t, "2026-11-20T10:29:59-05:00")
		api.validar(wrong).isError(t, 401, wrongSOL) // makes the block no longer
		api.validar(cpe(t)).isError(t, 401, wrongSOL)
		waitUntil(t, "2026-11-20T10:30:00-05:00")
		assert.Equal(t, 200, api.validar(cpe(t)).status)
	})
}

func TestBlockIsForgottenWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, api := start(t)
		for range 3 {
			api.validar(cpe(t, "claveSol", `"mala"`))
		}
		time.Sleep(30 * time.Minute)
		assert.Contains(t, api.validar(cpe(t, "claveSol", `"mala"`)).body, "intento fallido 1 de 3")
	})
}

func TestPutUsuarioSOLUnblocks(t *testing.T) {
	srv, api := start(t)
	for range 3 {
		api.validar(cpe(t, "claveSol", `"mala"`))
	}
	api.validar(cpe(t)).isError(t, 401, wrongSOL)
	require.NoError(t, srv.PutUsuarioSOL(mockserver.SOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: "nueva"}))
	assert.Equal(t, 200, api.validar(cpe(t, "claveSol", `"nueva"`)).status)
}

func TestSOLPrintsWithoutItsClave(t *testing.T) {
	u := mockserver.SOL{RUC: "20100070970", Usuario: "CANARIO1", Clave: "canario-4711"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		assert.NotContains(t, fmt.Sprintf(verb, u), "canario-4711")
		assert.NotContains(t, fmt.Sprintf(verb, &u), "canario-4711")
		assert.NotContains(t, fmt.Sprintf(verb, []any{u}), "canario-4711")
	}
	srv, err := mockserver.Start(mockserver.WithoutSocket(), mockserver.WithUsuariosSOL(u))
	require.NoError(t, err)
	for _, bad := range []mockserver.SOL{{RUC: "1", Usuario: "X", Clave: "canario-4711"}, {RUC: "20100070970", Clave: "canario-4711"}, {RUC: "20100070970", Usuario: "X"}} {
		err := srv.PutUsuarioSOL(bad)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "canario-4711")
	}
	assert.NotContains(t, fmt.Sprintf("%+v %#v", srv, srv), "canario-4711")
	text, err := json.Marshal(u)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"usuario":"CANARIO1"`, "the data files' form is the one place that has it")
}

func TestSOLState(t *testing.T) {
	srv, api := start(t, mockserver.WithNow(at(t, "2026-11-21T12:00:00Z")), mockserver.WithFrozenClock())
	state := func() mockserver.SOLState {
		s, ok := srv.SOLState(mockserver.RUCSolicitante, mockserver.UsuarioSOL)
		require.True(t, ok)
		return s
	}
	api.validar(cpe(t))
	for range 3 {
		api.validar(cpe(t, "claveSol", `"mala"`))
	}
	api.validar(cpe(t))
	assert.Equal(t, mockserver.SOLState{Attempts: 5, Fails: 3, Blocked: true, BlockedUntil: srv.Now().Add(30 * time.Minute)}, state())
	require.NoError(t, srv.Control().UnblockSOL(mockserver.RUCSolicitante, mockserver.UsuarioSOL))
	assert.Equal(t, mockserver.SOLState{Attempts: 5}, state())
	assert.Equal(t, 200, api.validar(cpe(t)).status)
	for range 3 {
		api.validar(cpe(t, "claveSol", `"mala"`))
	}
	srv.Advance(time.Hour)
	assert.Equal(t, mockserver.SOLState{Attempts: 9}, state(), "the block is over")
	_, ok := srv.SOLState("20100070970", "NADIE")
	assert.False(t, ok)
	srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, mockserver.UsuarioSOL, 9)
}

func TestUsuariosSOLAreListedWithoutTheirClaves(t *testing.T) {
	srv, api := start(t, frozen(t, "2026-11-20T10:00:00-05:00"))
	require.NoError(t, srv.PutUsuarioSOL(
		mockserver.SOL{RUC: "20600000005", Usuario: "UNO", Clave: "clave-de-uno", Principal: true},
		mockserver.SOL{RUC: "10000000006", Usuario: "DOS", Clave: "clave-de-dos"},
	))
	for range 3 {
		api.validar(cpe(t, "claveSol", `"mala"`)).isError(t, 401, wrongSOL)
	}
	until := srv.Now().Add(30 * time.Minute)
	listed := srv.Control().UsuariosSOL()
	var ids []string
	for _, u := range listed {
		ids = append(ids, u.RUC+" "+u.Usuario)
	}
	assert.Equal(t, []string{"10000000006 DOS", "20131312955 MIUSER01", "20131312955 PRINCIP1", "20600000005 UNO"}, ids)
	assert.NotContains(t, fmt.Sprintf("%+v %#v", listed, listed), "clave-de")
	state, _ := srv.SOLState("20131312955", "MIUSER01")
	assert.Equal(t, mockserver.SOLState{Attempts: 3, Fails: 3, Blocked: true, BlockedUntil: until}, state)
	require.NoError(t, srv.Advance(30*time.Minute))
	state, _ = srv.SOLState("20131312955", "MIUSER01")
	assert.Equal(t, mockserver.SOLState{Attempts: 3}, state, "the block is over")
}
