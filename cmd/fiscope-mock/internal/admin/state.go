package admin

import (
	"fmt"
	"net/http"

	"github.com/fiscope/fiscope/mockserver"
)

// sunat is whether the tax authority does not respond.
type sunat struct {
	Down bool `json:"down"`
}

func (a *api) getSUNAT(*http.Request) (any, error) { return sunat{a.Mock.SUNATDown()}, nil }

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
	if what.Parts != nil && len(what.Parts) == 0 { // of a caller that chose nothing: it did not choose all
		return nil, invalid(fmt.Sprintf("las partes son %v; sin parts vuelve todo al inicio", mockserver.Parts()), "parts no nombra ninguna parte")
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
