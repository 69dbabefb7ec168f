package admin

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// sunat is the state of the tax authority.
type sunat struct {
	Down bool `json:"down"`
}

func (a *api) getSUNAT(*http.Request) (any, error) { return sunat{a.control.SUNATDown()}, nil }

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
	if what.Parts != nil && len(what.Parts) == 0 { // an empty list must not mean all
		return nil, invalid("las partes son [faults clock data locks quotas journal]; sin parts vuelve todo al inicio", "parts no nombra ninguna parte")
	}
	tenant, err := a.tenant(r)
	if err != nil {
		return nil, err
	}
	if tenant != "" {
		return nil, a.control.ResetKey(tenant, what.Parts...)
	}
	return nil, a.Mock.Reset(what.Parts...)
}

func (a *api) getData(*http.Request) (any, error) {
	var b strings.Builder
	if err := a.Mock.Data().Write(&b); err != nil {
		return nil, err
	}
	return document{"application/json", b.String()}, nil
}

func (a *api) putData(r *http.Request) (any, error) {
	d, err := a.control.ReadData(http.MaxBytesReader(nil, r.Body, bodyMost), "cuerpo")
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, &problem{http.StatusRequestEntityTooLarge, codeTooLarge, "los datos son demasiados para una petición", "repártalos en varias, o inicie el servidor con -data"}
	}
	if err != nil {
		return nil, err
	}
	return nil, a.control.PutData(d)
}

func (a *api) deleteData(*http.Request) (any, error) { return nil, a.Mock.Reset(mockserver.PartData) }

// clock is the server's time, in Lima.
type clock struct {
	Now    time.Time `json:"now"`
	Frozen bool      `json:"frozen"`
}

func (a *api) getClock(*http.Request) (any, error) {
	return clock{a.Mock.Now().In(fiscope.Lima).Round(0), a.control.Frozen()}, nil
}

const clockShape = `{"now": "2026-11-20T16:59:00-05:00", "frozen": true}, uno o ambos`

const clockRange = "envíe una hora desde 1970-01-01T00:00:00Z hasta 9000-01-01T00:00:00Z"

func (a *api) putClock(r *http.Request) (any, error) {
	var to struct {
		Now    *time.Time `json:"now"`
		Frozen *bool      `json:"frozen"`
	}
	if err := read(r, &to, clockShape); err != nil {
		return nil, err
	}
	if to.Now == nil && to.Frozen == nil {
		return nil, invalid("envíe "+clockShape, "no dice qué hora poner ni si el reloj se detiene")
	}
	if to.Now != nil {
		if err := a.Mock.SetNow(*to.Now); err != nil { // first: a refused time changes nothing
			return nil, invalid(clockRange, "el reloj no se puede poner a esa hora")
		}
	}
	if to.Frozen != nil && *to.Frozen {
		a.Mock.Freeze()
		if to.Now != nil {
			_ = a.Mock.SetNow(*to.Now) // again, since it ran on for a moment
		}
	}
	if to.Frozen != nil && !*to.Frozen {
		a.Mock.Resume()
	}
	return a.getClock(r)
}

func (a *api) advance(r *http.Request) (any, error) {
	const shape = `{"by": "24h"}`
	var to struct {
		By string `json:"by"`
	}
	if err := read(r, &to, shape); err != nil {
		return nil, err
	}
	by, err := time.ParseDuration(to.By)
	if err != nil {
		return nil, invalid("envíe "+shape, "by no es una duración como 90s, 30m o 24h")
	}
	if err := a.Mock.Advance(by); err != nil {
		return nil, invalid(clockRange, "el reloj no se puede mover tanto")
	}
	return a.getClock(r)
}
