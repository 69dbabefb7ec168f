package mockserver

import (
	"net/http"
	"time"
)

// ServeHTTP answers one request of the service, in this order: route, key, quota, the operation's
// validation, its data. Nothing of it is written before the answer is complete.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil { // of a caller of its own: net/http's server always gives one
		r = r.WithContext(r.Context())
		r.Body = http.NoBody
	}
	assume := s.assume.Load() // one reading for all of the call
	c := &call{w: w, r: r, clock: &s.clock, data: s.data.Load(), journal: &s.journal, closing: s.closing, left: Unlimited}
	c.begin()
	defer c.end()
	c.readClock()
	c.came = c.now
	to, ruc := routeOf(r.URL)
	if c.ruc = ruc; to != nil {
		c.op, c.words = to.op, to.words()
	}
	if keys := r.Header["X-Api-Key"]; len(keys) > 0 { // the name as net/http keeps it: Get would convert it for every request
		c.key = keys[0]
	}
	c.account = s.keys.account(c.key)
	c.known = s.keys.searched.Load()
	if c.keys = *c.known; c.account == nil && c.key != "" {
		c.keys = c.keys.And(c.key)
	}
	if a, refused := refused(c, to, assume); refused {
		c.send(a)
		return
	}
	c.admitted = true
	if f, effect := s.faults.take(c); f != nil {
		f.meet(c, effect, func() answer {
			c.readClock() // again: the fault may have kept the call waiting past midnight
			return charged(c, to, assume, effect)
		})
		return
	}
	if c.wasRead && !c.arrived() { // a fault asked whom the call is about, and the client left before it said so
		c.send(unreadable())
		return
	}
	c.send(charged(c, to, assume, OK))
}

// refused is the answer to a call that reaches no operation.
func refused(c *call, to *route, assume *Assumptions) (answer, bool) {
	switch {
	case to == nil:
		return noRoute(c), true
	case c.r.Method != to.method:
		return wrongMethod(to, c), true
	case c.account == nil:
		return refusedKey(c.r, assume), true
	}
	return answer{}, false
}

// refusedKey is the answer to a missing or unknown key.
func refusedKey(r *http.Request, assume *Assumptions) answer {
	if r.Header.Get("X-API-KEY") == "" {
		hint := ""
		if r.Header.Get("Authorization") != "" {
			hint = " (el encabezado Authorization no se lee)"
		}
		return assume.KeyBody.refusal(assume.MissingKey,
			"falta el encabezado X-API-KEY%s: envíe en él su clave de API, en cada llamada (docs/contrato.md, 5)", hint)
	}
	return assume.KeyBody.refusal(assume.InvalidKey,
		"la clave de API del encabezado X-API-KEY no es válida en este servidor: revise cuál le corresponde (docs/contrato.md, 5)")
}

// charged takes the call from the quota and answers it, or refuses it when nothing is left. What the effect of
// a fault puts in the place of the answer is charged, and has the headers, as an answer of the service is.
func charged(c *call, to *route, assume *Assumptions, e Effect) answer {
	charge, ok := c.account.charge(c.now, assume)
	c.charge = charge
	var a answer
	if ok {
		a = replaced(to.answer(c, assume), e)
	} else {
		a = replaced(quotaExceeded(charge, c.now, assume), e)
	}
	if c.charged = ok; ok && !assume.charges(a.status) {
		charge.refund()
		c.charged = false
	}
	c.left = charge.left()
	if (to.headers || assume.HeadersEverywhere) && (a.status < 300 || assume.HeadersOnErrors) {
		charge.setHeaders(c.w.Header())
	}
	return a
}

func quotaExceeded(c charge, now time.Time, assume *Assumptions) answer {
	a := assume.QuotaBody.refusal(assume.QuotaExceeded,
		"se agotó la cuota diaria de %d consultas de esta clave: se renueva el %s; esta llamada no consumió nada (docs/contrato.md, 8)",
		c.limit, c.reset)
	a.retryAfter = assume.QuotaRetryAfter.write(c.day.until, now)
	return a
}
