package mockserver

import (
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/strictjson"
)

// Effect is what goes wrong with one call, as plain data with a JSON form. Make it with the functions of
// this package ([Status], [Latency], [Reset], ...), take a [Preset], and combine them with [Effect.And].
// The zero Effect is a call without a fault.
//
// An effect acts after the call was charged and its answer computed, so what it breaks is an answer that
// was paid for, unless it is [Effect.Uncharged]. An answer of its own is charged, and has the rate-limit
// headers, as [Assumptions.ChargeFailures] and [Assumptions.HeadersOnErrors] have it for its status.
type Effect struct {
	Preset Preset `json:"preset,omitempty"` // the effect it begins with; the other fields lie over it

	// Before makes it act before the call is charged. An answer of its own, a hang and a break then cost
	// nothing and reach no data; a mere latency goes on to the charge, unless the client leaves.
	Before bool `json:"before,omitempty"`

	Latency time.Duration `json:"latency,omitempty"` // wait this long; where Sigma is above 0, the median
	Sigma   float64       `json:"sigma,omitempty"`   // of the log-normal distribution of the latency
	Hold    bool          `json:"hold,omitempty"`    // wait until ActiveFault.Release; see WithHoldLimit

	Status int               `json:"status,omitempty"` // instead of the answer's own, 200 to 599
	Header map[string]string `json:"header,omitempty"` // set on the answer; "" takes one away
	Body   *string           `json:"body,omitempty"`   // instead of the answer's own, byte by byte

	Rewrite   Rewrite       `json:"rewrite,omitempty"`   // a change of the answer's own body
	SUNATDown bool          `json:"sunatDown,omitempty"` // the tax authority does not respond to this validation
	Chunk     int           `json:"chunk,omitempty"`     // send the body in pieces of so many bytes...
	Every     time.Duration `json:"every,omitempty"`     // ... with this pause before each
	Break     Break         `json:"break,omitempty"`     // how the answer or its connection ends
}

// Break is how an answer ends that does not end well. Inside means after the header and half of the body,
// with the Content-Length of the whole.
type Break string

// The breaks. A reset is a TCP RST, also over [Server.Transport]; a close is a FIN.
const (
	BreakHang        Break = "hang" // nothing is sent; then the connection is closed, see ActiveFault.Release
	BreakReset       Break = "reset"
	BreakClose       Break = "close"
	BreakHangInside  Break = "hang-inside"
	BreakResetInside Break = "reset-inside"
	BreakCloseInside Break = "close-inside"
)

func (b Break) inside() bool {
	return b == BreakHangInside || b == BreakResetInside || b == BreakCloseInside
}

func (b Break) known() bool {
	switch b {
	case "", BreakHang, BreakReset, BreakClose:
		return true
	}
	return b.inside()
}

// OK is the step without a fault, for sequences.
var OK = Effect{}

// Status answers with a status; where it is no success, with an error body of the contract's form.
func Status(status int) Effect { return Effect{Status: status} }

// Answer answers with a status and a body, byte by byte.
func Answer(status int, body string) Effect { return Effect{Status: status, Body: &body} }

// Header sets a header of the answer; "" takes it away.
func Header(name, value string) Effect { return Effect{Header: map[string]string{name: value}} }

// RetryAfter sets the header Retry-After to any text: seconds, a date, or what no standard allows.
func RetryAfter(text string) Effect { return Header("Retry-After", text) }

// RetryAfterDate sets the header Retry-After to a date.
func RetryAfterDate(t time.Time) Effect { return RetryAfter(t.UTC().Format(http.TimeFormat)) }

// Redirect answers with a redirect to location.
func Redirect(status int, location string) Effect {
	return Answer(status, "").And(Header("Location", location))
}

// Latency waits before the answer, in real time (virtual in a testing/synctest bubble).
func Latency(d time.Duration) Effect { return Effect{Latency: d} }

// LogNormal waits for a time drawn from a log-normal distribution, which has the long tail of real
// services: half of the calls take less than the median, and with a sigma of 0.6 one in twenty more than
// 2.7 times as much.
func LogNormal(median time.Duration, sigma float64) Effect {
	return Effect{Latency: median, Sigma: sigma}
}

// Hold makes the answer wait until [ActiveFault.Release].
func Hold() Effect { return Effect{Hold: true} }

// Broken ends the answer or its connection.
func Broken(how Break) Effect { return Effect{Break: how} }

// Dribble sends the body in pieces of so many bytes, with a pause before each.
func Dribble(bytes int, every time.Duration) Effect { return Effect{Chunk: bytes, Every: every} }

// Step is what happens to one call: an [Effect] or a [Preset].
type Step interface{ effect() Effect }

func (e Effect) effect() Effect { return e }

// Uncharged returns the effect acting before the call is charged.
func (e Effect) Uncharged() Effect {
	e.Before = true
	return e
}

// And returns the effect with another one over it: what both set is the other's.
func (e Effect) And(other Step) Effect {
	e, o := e.resolved(), other.effect().resolved()
	e.Before = e.Before || o.Before
	e.Hold = e.Hold || o.Hold
	e.SUNATDown = e.SUNATDown || o.SUNATDown
	if o.Latency != 0 {
		e.Latency, e.Sigma = o.Latency, o.Sigma
	}
	if o.Status != 0 {
		e.Status = o.Status
	}
	if o.Header != nil {
		header := maps.Clone(e.Header)
		if header == nil {
			header = map[string]string{}
		}
		maps.Copy(header, o.Header)
		e.Header = header
	}
	if o.Body != nil {
		e.Body = o.Body
	}
	if o.Rewrite != "" {
		e.Rewrite = o.Rewrite
	}
	if o.Chunk != 0 {
		e.Chunk, e.Every = o.Chunk, o.Every
	}
	if o.Break != "" {
		e.Break = o.Break
	}
	return e
}

// resolved puts the preset's effect under the others; an unknown one stays, for check to find.
func (e Effect) resolved() Effect {
	if e.Preset == "" {
		return e
	}
	base, ok := e.Preset.lookup()
	if !ok {
		return e
	}
	e.Preset = ""
	return base.And(e)
}

// replaces reports whether an answer needs nothing of the call.
func (e Effect) replaces() bool {
	return e.Status != 0 || e.Body != nil || e.Break != "" && !e.Break.inside()
}

// waits reports whether an answer is kept waiting for longer than it takes to write it.
func (e Effect) waits() bool {
	return e.Hold || e.Latency > 0 || e.Every > 0 || e.Break == BreakHang || e.Break == BreakHangInside
}

// check returns what cannot be in a resolved effect.
func (e Effect) check() error {
	switch {
	case e.Preset != "":
		return cannotTake("there is no preset %q: see Presets", "no existe el preset %q", string(e.Preset))
	case e.Status != 0 && (e.Status < 200 || e.Status > 599):
		return cannotTake("status %d: want 200 to 599", "status %d: debe ser de 200 a 599", e.Status)
	case e.Latency < 0 || e.Every < 0 || e.Chunk < 0:
		return cannotTake("a latency, a pause and a piece cannot be negative", "latency, every y chunk no pueden ser negativos")
	case e.Sigma < 0 || e.Sigma > 5 || math.IsNaN(e.Sigma), e.Sigma > 0 && e.Latency == 0:
		return cannotTake("sigma: want 0 to 5, and a latency, the median", "sigma va de 0 a 5, y necesita latency, que es la mediana")
	case e.Every > 0 && e.Chunk == 0:
		return cannotTake("every: want a chunk too, the bytes of each piece", "every necesita chunk, los bytes de cada parte")
	case !e.Rewrite.known():
		return cannotTake("there is no rewrite %q", "no existe el rewrite %q", string(e.Rewrite))
	case !e.Break.known():
		return cannotTake("there is no break %q", "no existe el break %q", string(e.Break))
	case e.Before && (e.Rewrite != "" || e.SUNATDown || !e.replaces() && (e.Header != nil || e.Chunk > 0 || e.Break != "")):
		return cannotTake("before the charge there is no answer to change: give a status or a body",
			"con before todavía no hay respuesta que cambiar: dé status o body")
	}
	for name := range e.Header {
		if name == "" || http.CanonicalHeaderKey(name) == "Content-Length" {
			return cannotTake("header %q cannot be set: see Break for a body that is cut", "el encabezado %q no se puede poner: para cortar el cuerpo, use break", name)
		}
	}
	return nil
}

type (
	plainEffect Effect
	jsonEffect  struct {
		*plainEffect
		Latency strictjson.Duration `json:"latency,omitempty"`
		Every   strictjson.Duration `json:"every,omitempty"`
	}
)

// MarshalJSON writes durations as text: "1.5s".
func (e Effect) MarshalJSON() ([]byte, error) {
	plain := plainEffect(e)
	return json.Marshal(jsonEffect{&plain, strictjson.Duration(e.Latency), strictjson.Duration(e.Every)})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses an unknown member.
func (e *Effect) UnmarshalJSON(text []byte) error {
	j := jsonEffect{plainEffect: new(plainEffect)}
	if err := strictjson.Decode(text, &j); err != nil {
		return err
	}
	*e = Effect(*j.plainEffect)
	e.Latency, e.Every = time.Duration(j.Latency), time.Duration(j.Every)
	return nil
}
