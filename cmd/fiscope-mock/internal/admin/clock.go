package admin

import (
	"net/http"
	"time"

	"github.com/fiscope/fiscope"
)

// clock is the server's time, in Lima.
type clock struct {
	Now    time.Time `json:"now"`
	Frozen bool      `json:"frozen"`
}

func (a *api) getClock(*http.Request) (any, error) {
	return clock{a.Mock.Now().In(fiscope.Lima).Round(0), a.Mock.Frozen()}, nil
}

const clockShape = `{"now": "2026-11-20T16:59:00-05:00", "frozen": true}, uno o ambos`

func (a *api) putClock(r *http.Request) (any, error) {
	var to struct {
		Now    *time.Time `json:"now"`
		Frozen *bool      `json:"frozen"`
	}
	if err := read(r, &to, clockShape); err != nil {
		return nil, err
	}
	if to.Now == nil && to.Frozen == nil || to.Now != nil && to.Now.IsZero() {
		return nil, invalid("envíe "+clockShape, "no dice qué hora poner ni si el reloj se detiene")
	}
	if to.Frozen != nil && *to.Frozen { // first: or it would run on for a moment
		a.Mock.Freeze()
	}
	if to.Now != nil {
		a.Mock.SetNow(*to.Now)
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
	a.Mock.Advance(by)
	return a.getClock(r)
}
