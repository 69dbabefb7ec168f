package mockserver

import (
	"maps"
	"net/http"
	"strconv"
	"time"
)

// call is a request on its way through the server: what came, what it costs, and what the journal keeps of it.
type call struct {
	request
	cost charge
	log  record

	clock     *clock
	now       time.Time // when it arrived; once charged, when it was charged, so that no answer straddles midnight
	waited    bool      // a fault has delayed it since
	assume    *Assumptions
	data      *dataset
	recording *recording // nil for none

	answered  bool // own is its answer, which was charged or refused
	own       answer
	sunatDown bool // a fault takes the tax authority down for it
	replaced  bool // a fault's answer replaces its own
}

// readClock sets the time of the call and of its answer.
func (c *call) readClock() {
	c.now = c.clock.now()
	c.w.Header()["Date"] = c.clock.dateHeader(c.now)
}

// answer returns the call's own answer. The first time, it charges the call and computes the answer.
func (c *call) answer() answer {
	if c.answered {
		return c.own
	}
	c.answered = true
	if c.waited || c.wasRead { // perhaps past midnight
		c.readClock()
	}
	down := c.op == OpValidar && (c.sunatDown || c.data.sunatDown.Load())
	switch real := c.recording; {
	case real.serves(c.op) && !down:
		c.own, c.cost = real.answer(&c.request, &c.log.remark, c.assume, c.now, c.replaced)
		return c.own
	case real.serves(c.op):
		c.cost = charge{limit: Unlimited}
	default:
		if c.cost = c.account.charge(c.now, c.assume); !c.cost.paid {
			c.own = quotaExceeded(c.cost, c.assume)
			return c.own
		}
	}
	switch c.op {
	case OpConsultar:
		c.own = consultar(&c.request, c.data, c.assume)
	case OpBuscar:
		c.own = buscar(&c.request, c.data, c.assume)
	case OpValidar:
		c.own = validar(&c.request, &c.log.remark, c.data, c.assume, c.now, down)
	case OpTipoCambio:
		c.own = tipoCambio(&c.request, c.data, c.assume, c.now)
	}
	return c.own
}

// answerWith returns the effect's answer, at the same cost as an answer of the service.
func (c *call) answerWith(e Effect) answer {
	c.replaced = e.Status >= 300 || e.Body != nil
	a := e.over(c.answer())
	if !c.assume.charges(a.status) {
		c.cost.refund()
	}
	c.log.left = c.cost.left()
	return a
}

// undo undoes the call's answer and its charge.
func (c *call) undo() {
	c.cost.refund()
	c.answered = false
}

// head writes an answer's header.
func (c *call) head(h http.Header, a answer) {
	if a.passed != nil {
		maps.Copy(h, a.passed)
		return
	}
	h["Content-Type"] = jsonType // canonical names: Set would canonicalize them for every answer
	h["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	if a.allow != "" {
		h.Set("Allow", a.allow)
	}
	if c.answered && c.assume.limits(c.op) && (a.status < 300 || c.assume.HeadersOnErrors) {
		c.cost.setHeaders(h)
	}
}

// send writes the call's answer.
func (c *call) send(a answer) {
	c.head(c.w.Header(), a)
	c.finish(a)
	c.writeHead(a.status)
	_, _ = c.w.Write(a.body) // a client that left is not the server's failure
}

// record adds the call to the journal, or updates its entry; a is zero while there is no answer. It comes before the
// answer is written, so that a client with an answer finds its request in the journal.
func (c *call) record(a answer) { c.log.write(&c.request, &c.cost, c.now, a) }

// finish records the call with its final state, before the last of the answer is written: a client that then sends its
// next request never has two in flight.
func (c *call) finish(a answer) {
	if n := c.r.ContentLength; c.admitted && c.op == OpValidar && !c.wasRead && 0 < n && n <= bodyMost && c.r.Header.Get("Expect") == "" {
		c.readOn() // the body identifies a repetition; net/http would read it now anyway
	}
	c.log.end()
	c.record(a)
}

// end finishes a call that was cut off or hung.
func (c *call) end() {
	if c.log.endedTurn == 0 {
		c.log.broken, c.log.span.left = true, c.r.Context().Err() != nil
		c.finish(c.log.last)
	}
}
