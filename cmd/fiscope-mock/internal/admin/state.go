package admin

import (
	"net/http"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// solUser is a SOL user with its state. A clave is no part of it.
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
	// The data have only what lies over the default data.
	users := append([]mockserver.SOL{
		{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL},
		{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioPrincipal, Principal: true},
	}, a.Mock.Data().Usuarios...)
	list := []solUser{}
	at := map[[2]string]int{}
	for _, u := range users {
		s, ok := a.Mock.SOLState(u.RUC, u.Usuario)
		if !ok {
			continue
		}
		user := solUser{u.RUC, u.Usuario, u.Principal, s.Attempts, s.Fails, s.Blocked, nil}
		if s.Blocked {
			until := s.BlockedUntil.In(fiscope.Lima)
			user.BlockedUntil = &until
		}
		id := [2]string{u.RUC, u.Usuario}
		if i, seen := at[id]; seen {
			list[i] = user
			continue
		}
		at[id] = len(list)
		list = append(list, user)
	}
	return list, nil
}

func (a *api) unblock(r *http.Request) (any, error) {
	if err := a.Mock.UnblockSOL(r.PathValue("ruc"), r.PathValue("usuario")); err != nil {
		return nil, notFound("vea los que hay en GET /_mock/sol", "no hay tal usuario SOL")
	}
	return nil, nil
}

func (a *api) putSUNAT(r *http.Request) (any, error) {
	const shape = `{"down": true}`
	var to struct {
		Down *bool `json:"down"`
	}
	if err := read(r, &to, shape); err != nil {
		return nil, err
	}
	if to.Down == nil {
		return nil, invalid("envíe "+shape, "no dice si SUNAT responde")
	}
	a.Mock.SetSUNATDown(*to.Down)
	return nil, nil
}

func (a *api) reset(r *http.Request) (any, error) {
	var what struct {
		Parts []mockserver.Part `json:"parts"`
	}
	if err := read(r, &what, `{"parts": ["journal"]}, o nada para todo`); err != nil {
		return nil, err
	}
	tenant, err := a.tenant(r)
	if err != nil {
		return nil, err
	}
	if tenant != nil {
		return nil, tenant.Reset(what.Parts...)
	}
	return nil, a.Mock.Reset(what.Parts...)
}
