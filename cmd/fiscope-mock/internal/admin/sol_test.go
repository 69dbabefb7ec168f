package admin

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestSOL(t *testing.T) {
	r := start(t)
	r.ok(nil, "PUT", "data", `{"usuarios": [{"ruc": "20600000005", "usuario": "OTROUSER", "clave": "otra-clave"}]}`)
	var users []solUser
	r.ok(&users, "GET", "sol", "")
	require.Len(t, users, 3)
	assert.Equal(t, solUser{RUC: "20131312955", Usuario: "PRINCIP1", Principal: true}, users[1])
	assert.Equal(t, solUser{RUC: "20600000005", Usuario: "OTROUSER"}, users[2])

	r.ok(nil, "PUT", "data", `{"usuarios": [{"ruc": "20131312955", "usuario": "PRINCIP1", "clave": "otra-clave", "principal": false}]}`)
	r.ok(&users, "GET", "sol", "")
	require.Len(t, users, 3, "put again, not twice")
	assert.False(t, users[1].Principal)

	for range 3 {
		assert.Equal(t, 401, r.validate("s3creta", "no es la clave"))
	}
	r.ok(&users, "GET", "sol", "")
	assert.Equal(t, 3, users[0].Attempts)
	assert.True(t, users[0].Blocked)
	require.NotNil(t, users[0].BlockedUntil)
	assert.Contains(t, r.do("GET", "sol", "").body, `-05:00"`, "in Lima")
	assert.Equal(t, 401, r.validate("s3creta", mockserver.ClaveSOL), "blocked: the right one is refused, too")
	r.ok(nil, "DELETE", "sol/20131312955/MIUSER01/block", "")
	assert.Equal(t, 200, r.validate("s3creta", mockserver.ClaveSOL))
	r.do("DELETE", "sol/20131312955/NADIE/block", "").isProblem(t, 404, codeNotFound, "GET /_mock/sol")
}

func TestSOLUsersArePutOneByOne(t *testing.T) {
	r := start(t)
	user := func(ruc, usuario string) (found *solUser) {
		var users []solUser
		r.ok(&users, "GET", "sol", "")
		for _, u := range users {
			if u.RUC == ruc && u.Usuario == usuario {
				found = &u
			}
		}
		return found
	}
	r.ok(nil, "PUT", "sol/20600000005/OTROUSER", `{"clave": "primera", "principal": true}`)
	assert.Equal(t, &solUser{RUC: "20600000005", Usuario: "OTROUSER", Principal: true}, user("20600000005", "OTROUSER"))

	r.ok(nil, "PUT", "sol/20131312955/MIUSER01", `{"clave": "segunda"}`)
	assert.Equal(t, 401, r.validate("s3creta", mockserver.ClaveSOL))
	assert.Equal(t, 1, user("20131312955", "MIUSER01").Attempts)
	r.ok(nil, "PUT", "sol/20131312955/MIUSER01", `{"principal": true}`)
	assert.Equal(t, &solUser{RUC: "20131312955", Usuario: "MIUSER01", Principal: true}, user("20131312955", "MIUSER01"), "as if it were new")
	assert.Equal(t, 401, r.validate("s3creta", "segunda"))
	r.ok(nil, "PUT", "sol/20131312955/MIUSER01", `{"principal": false}`)
	assert.Equal(t, 200, r.validate("s3creta", "segunda"), "the clave stays")

	r.ok(nil, "DELETE", "sol/20131312955/MIUSER01", "")
	assert.Nil(t, user("20131312955", "MIUSER01"))
	assert.Equal(t, 401, r.validate("s3creta", "segunda"))
	r.do("DELETE", "sol/20131312955/MIUSER01", "").isProblem(t, 404, codeNotFound, "GET /_mock/sol")
}

func TestSOLUsersThatCannotBe(t *testing.T) {
	r := start(t)
	before := r.do("GET", "data", "").body
	for name, c := range map[string]struct{ path, body, says string }{
		"no clave":          {"sol/20131312955/NUEVO", `{"principal": true}`, "un usuario nuevo necesita una clave SOL"},
		"nothing":           {"sol/20131312955/MIUSER01", ``, "no dice qué cambia"},
		"an empty clave":    {"sol/20131312955/mi-clave-secreta", `{"clave": "", "principal": true}`, "la clave SOL está vacía"},
		"a short RUC":       {"sol/2013131295/NUEVO", `{"clave": "x"}`, "ruc no tiene 11 dígitos"},
		"another member":    {"sol/20131312955/MIUSER01", `{"mi-clave-secreta": ""}`, "tiene un miembro que no existe"},
		"a member in front": {"sol/20131312955/MIUSER01", `{"principal": true, "usuario": "X"}`, "tiene un miembro que no existe"},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.do("PUT", c.path, c.body)
			got.isProblem(t, 400, codeInvalid, c.says)
			assert.NotContains(t, got.body, "secreta")
			assert.NotContains(t, got.body, "12345678")
			assert.Equal(t, before, r.do("GET", "data", "").body)
		})
	}
	r.do("PUT", "sol/20131312955/", `{"clave": "x"}`).isProblem(t, 404, codeNoRoute, "no existe")
}

// A name may hold what has a meaning in an address: it is escaped there.
func TestSOLUsersWithOddNames(t *testing.T) {
	for name, escaped := range map[string]string{
		"a/b": "a%2Fb", "a//b/": "a%2F%2Fb%2F", "..": "%2E%2E", "a/../b": "a%2F..%2Fb", "100%": "100%25", "%2F": "%252F",
		"block": "block", "a b?c#d": "a%20b%3Fc%23d", "ÑANDÚ": "%C3%91AND%C3%9A", "+": "+", "}{": "%7D%7B", `"<b>`: "%22%3Cb%3E",
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			r.ok(nil, "PUT", "sol/20131312955/"+escaped, `{"clave": "x-y-z"}`)
			_, known := r.mock.SOLState("20131312955", name)
			require.True(t, known)
			var users []solUser
			r.ok(&users, "GET", "sol", "")
			assert.Contains(t, users, solUser{RUC: "20131312955", Usuario: name})
			r.ok(nil, "DELETE", "sol/20131312955/"+escaped+"/block", "")
			r.ok(nil, "DELETE", "sol/20131312955/"+escaped, "")
			_, known = r.mock.SOLState("20131312955", name)
			assert.False(t, known)
		})
	}
}

// A user that is named like a key is shown, and found, by the key's fingerprint.
func TestASOLUserNamedLikeAKey(t *testing.T) {
	r := start(t)
	r.ok(nil, "PUT", "sol/20600000005/s3creta", `{"clave": "x-y-z"}`)
	shown := "sol/20600000005/" + fingerprint("s3creta")
	r.ok(nil, "DELETE", shown+"/block", "")
	r.ok(nil, "PUT", shown, `{"principal": true}`)
	users := r.mock.Control().UsuariosSOL()
	assert.Equal(t, mockserver.UsuarioID{RUC: "20600000005", Usuario: "s3creta"}, mockserver.UsuarioID{RUC: users[len(users)-1].RUC, Usuario: users[len(users)-1].Usuario})
	assert.True(t, users[len(users)-1].Principal)
	r.ok(nil, "DELETE", shown, "")
	assert.Len(t, r.mock.Control().UsuariosSOL(), len(users)-1)
	assert.NotContains(t, r.log.String(), "s3creta")
}
