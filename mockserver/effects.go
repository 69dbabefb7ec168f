package mockserver

import (
	"net/http"
	"time"
)

// Step is what happens to one call: an [Effect] or a [Preset].
type Step interface{ effect() Effect }

func (e Effect) effect() Effect { return e }

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
