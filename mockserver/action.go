package mockserver

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// action is an effect, with the parts of presets that no field of Effect expresses.
type action struct {
	Effect
	change *rewriting    // of the answer's body or header
	sunat  bool          // the tax authority is down
	sigma  float64       // of the log-normal distribution of the latency, whose median is Latency; 0 for a fixed latency
	chunk  int           // bytes of each piece of the body; 0 for all at once
	every  time.Duration // the pause before each piece
	end    ending        // how the answer or its connection ends
	inside bool          // end after the header and half of the body, with the Content-Length of the whole
}

// ending is how an answer or its connection fails. A reset is a TCP RST, also over [Server.Transport]; a close is a FIN.
type ending string

const (
	hangs  ending = "hang" // no answer; see ActiveFault.Release
	resets ending = "reset"
	closes ending = "close"
)

// action returns the effect with its presets applied, or the reason why it is invalid.
func (e Effect) action() (action, error) {
	a := action{Effect: e}
	if e.Preset != "" {
		a = action{}
		for name := range strings.SplitSeq(string(e.Preset), "+") {
			i := slices.IndexFunc(presets, func(p preset) bool { return p.Name == Preset(name) })
			if i < 0 {
				return a, fmt.Errorf("no existe el preset %q", name)
			}
			if err := a.add(presets[i].action); err != nil {
				return a, err
			}
		}
		if e.Latency != 0 {
			a.sigma = 0
		}
		e.Preset = ""
		a.Effect = a.Effect.And(e)
	}
	if a.Before && (a.change != nil || a.sunat || !a.replaces() && (a.Header != nil || a.chunk > 0 || a.end != "")) {
		return a, errors.New("con before todavía no hay respuesta que cambiar: dé status o body")
	}
	return a, a.Effect.check()
}

// add applies a preset's action over another one.
func (a *action) add(o action) error {
	if a.change != nil && o.change != nil || a.end != "" && o.end != "" {
		return errors.New("dos de los presets cambian lo mismo: deje uno")
	}
	effect := a.Effect.And(o.Effect)
	o.change = cmp.Or(a.change, o.change)
	if a.end != "" {
		o.end, o.inside = a.end, a.inside
	}
	if o.Latency == 0 {
		o.sigma = a.sigma
	}
	if o.chunk == 0 {
		o.chunk, o.every = a.chunk, a.every
	}
	o.sunat = o.sunat || a.sunat
	*a, a.Effect = o, effect
	return nil
}

// drawn returns the action with the latency drawn for one call.
func (a action) drawn(from *rand.Rand) action {
	if a.sigma > 0 {
		const longest = 10 * time.Minute
		a.Latency = time.Duration(min(float64(a.Latency)*math.Exp(a.sigma*from.NormFloat64()), float64(longest)))
	}
	return a
}

// replaces reports whether the action makes the whole answer, without the call's own.
func (a action) replaces() bool { return a.Status != 0 || a.Body != nil || a.end != "" && !a.inside }

// waits reports whether the action delays an answer.
func (a action) waits() bool { return a.Hold || a.Latency > 0 || a.every > 0 || a.end == hangs }

// acts reports whether the action changes any answer.
func (a action) acts() bool {
	nothing := a.Header == nil && a.change == nil && !a.sunat
	return nothing || a.replaces() || a.waits() || a.end != "" || a.chunk > 0
}

// canTouch reports whether the action can change the answers of an operation.
func (a action) canTouch(op Operation, assume *Assumptions) bool {
	return a.acts() || a.Header != nil || a.sunat && op == OpValidar || a.change != nil && a.change.canTouch(op, assume)
}

// rewrite applies the action to a body and a header, which it may modify.
func (a action) rewrite(body []byte, h http.Header) ([]byte, http.Header) {
	if a.change != nil {
		body = a.change.change(body, h)
	}
	for name, value := range a.Header {
		if name = http.CanonicalHeaderKey(name); value != "" {
			h[name] = []string{value}
		} else if h[name] != nil {
			h[name] = nil // otherwise net/http adds Date
		}
	}
	return body, h
}
