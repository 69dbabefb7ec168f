package mockserver

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"
)

// Effect is what happens to one call, after it was charged. Make it with [Status], [Latency] and the like or from a
// [Preset]; combine with [Effect.And].
type Effect struct {
	Preset  Preset            `json:"preset,omitempty"`  // the base, or several with "+" between; the other fields override it
	Before  bool              `json:"before,omitempty"`  // act before the charge: a replaced answer costs nothing
	Latency time.Duration     `json:"latency,omitempty"` // wait this long
	Hold    bool              `json:"hold,omitempty"`    // wait until ActiveFault.Release
	Status  int               `json:"status,omitempty"`  // replaces the answer's status, 200 to 599
	Header  map[string]string `json:"header,omitempty"`  // set on the answer; "" removes a header
	Body    *string           `json:"body,omitempty"`    // replaces the answer's body, byte by byte
}

// OK is the step without a fault, for sequences.
var OK = Effect{}

// Status answers with a status. An error status has the contract's error body.
func Status(status int) Effect { return Effect{Status: status} }

// Answer answers with a status and a body, byte by byte.
func Answer(status int, body string) Effect { return Effect{Status: status, Body: &body} }

// Header sets a header of the answer; "" removes it.
func Header(name, value string) Effect { return Effect{Header: map[string]string{name: value}} }

// RetryAfter sets the header Retry-After to any text.
func RetryAfter(text string) Effect { return Header("Retry-After", text) }

// Latency waits before the answer, in real time.
func Latency(d time.Duration) Effect { return Effect{Latency: d} }

// Hold makes the answer wait until [ActiveFault.Release].
func Hold() Effect { return Effect{Hold: true} }

// Step is what happens to one call: an [Effect] or a [Preset].
type Step interface{ effect() Effect }

func (e Effect) effect() Effect { return e }

// Uncharged returns the effect, acting before the charge.
func (e Effect) Uncharged() Effect {
	e.Before = true
	return e
}

// And returns the effect combined with other, whose fields win.
func (e Effect) And(other Step) Effect {
	o := other.effect()
	if e.Preset != "" && o.Preset != "" {
		o.Preset = e.Preset + "+" + o.Preset
	}
	e.Preset = cmp.Or(o.Preset, e.Preset)
	e.Before = e.Before || o.Before
	e.Hold = e.Hold || o.Hold
	e.Latency = cmp.Or(o.Latency, e.Latency)
	e.Status = cmp.Or(o.Status, e.Status)
	e.Body = cmp.Or(o.Body, e.Body)
	if o.Header != nil {
		header := map[string]string{}
		maps.Copy(header, e.Header)
		maps.Copy(header, o.Header)
		e.Header = header
	}
	return e
}

// over returns an answer with the effect's status and body.
func (e Effect) over(a answer) answer {
	switch {
	case e.Status >= 300 && e.Body == nil:
		a = refusal(e.Status, "MOCK_FAULT", "falla simulada: %d %s", e.Status, http.StatusText(e.Status))
	case e.Status != 0:
		a.status, a.code = e.Status, ""
	}
	if e.Body != nil {
		a.body, a.code = []byte(*e.Body), ""
	}
	a.status = cmp.Or(a.status, http.StatusOK)
	return a
}

// check returns an error for fields that no answer can have.
func (e Effect) check() error {
	switch {
	case e.Status != 0 && (e.Status < 200 || e.Status > 599):
		return fmt.Errorf("status %d: debe ser de 200 a 599", e.Status)
	case e.Latency < 0:
		return errors.New("latency no puede ser negativa")
	}
	for name, value := range e.Header {
		switch canonical := http.CanonicalHeaderKey(name); {
		case strings.Trim(name, tokenCharacters) != "" || name == "":
			return fmt.Errorf("el encabezado %q: ningún encabezado tiene ese nombre", name)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return fmt.Errorf("el encabezado %s: su valor tiene un carácter de control, como un fin de línea", name)
		case canonical == "Content-Length" || canonical == "Transfer-Encoding" || canonical == "Trailer":
			return fmt.Errorf("el encabezado %q no se puede poner: lo pone el servidor; para cortar la respuesta, use un preset", name)
		}
	}
	return nil
}

// tokenCharacters are the characters of a header name (RFC 9110, 5.6.2).
const tokenCharacters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
