package admin

import (
	"net/http"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// solUser is a SOL user with its state, without its clave.
type solUser struct {
	RUC          string     `json:"ruc"`
	Usuario      string     `json:"usuario"`
	Principal    bool       `json:"principal"`
	Attempts     int        `json:"attempts"`
	Fails        int        `json:"fails"`
	Blocked      bool       `json:"blocked"`
	BlockedUntil *time.Time `json:"blockedUntil,omitempty"`
}

func (a *api) getSOL(*http.Request) (any, error) {
	own, others := []solUser{}, []solUser(nil) // the sample user first
	for _, u := range a.control.UsuariosSOL() {
		state, _ := a.Mock.SOLState(u.RUC, u.Usuario)
		user := solUser{a.control.WithoutKeys(u.RUC), a.control.WithoutKeys(u.Usuario), u.Principal, state.Attempts, state.Fails, state.Blocked, nil}
		if state.Blocked {
			until := state.BlockedUntil.In(fiscope.Lima)
			user.BlockedUntil = &until
		}
		if u.RUC == mockserver.RUCSolicitante {
			own = append(own, user)
		} else {
			others = append(others, user)
		}
	}
	return append(own, others...), nil
}

// usuario returns the SOL user in the path, by its name or the name shown, and whether it exists.
func (a *api) usuario(r *http.Request) (mockserver.SOL, bool) {
	id := mockserver.SOL{RUC: r.PathValue("ruc"), Usuario: r.PathValue("usuario")}
	users := a.control.UsuariosSOL()
	for _, shown := range []func(string) string{func(s string) string { return s }, func(s string) string { return a.control.WithoutKeys(s) }} {
		for _, u := range users {
			if shown(u.RUC) == id.RUC && shown(u.Usuario) == id.Usuario {
				return u, true
			}
		}
	}
	return id, false
}

var errNoUser = notFound("vea los que hay en GET /_mock/sol", "no hay tal usuario SOL")

// putUsuario adds a user, or changes the members in the body; its attempts are cleared.
func (a *api) putUsuario(r *http.Request) (any, error) {
	const shape = `{"clave": "…", "principal": false}; sin ella, un usuario que ya existe se queda con la suya`
	var to struct {
		Clave     *string `json:"clave"`
		Principal *bool   `json:"principal"`
	}
	if err := readSecret(r, &to, shape); err != nil {
		return nil, err
	}
	user, known := a.usuario(r)
	switch {
	case !known && to.Clave == nil:
		return nil, invalid("envíe "+shape, "un usuario nuevo necesita una clave SOL")
	case to.Clave != nil && *to.Clave == "":
		return nil, invalid("envíe "+shape, "la clave SOL está vacía") // without the user: its name may be a misplaced clave
	case to.Clave == nil && to.Principal == nil:
		return nil, invalid("envíe "+shape, "no dice qué cambia del usuario")
	}
	if to.Clave != nil {
		user.Clave = *to.Clave
	}
	if to.Principal != nil {
		user.Principal = *to.Principal
	}
	return nil, a.Mock.PutUsuarioSOL(user)
}

func (a *api) deleteUsuario(r *http.Request) (any, error) {
	id, known := a.usuario(r)
	if !known {
		return nil, errNoUser
	}
	return nil, a.Mock.DeleteUsuarioSOL(id.RUC, id.Usuario)
}

func (a *api) unblock(r *http.Request) (any, error) {
	id, _ := a.usuario(r)
	if err := a.control.UnblockSOL(id.RUC, id.Usuario); err != nil {
		return nil, errNoUser
	}
	return nil, nil
}
