package mockserver

import (
	"net/http"

	"github.com/fiscope/fiscope"
)

// ServeHTTP answers one request of the service.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil { // called directly: net/http's server always sets it
		r = r.WithContext(r.Context())
		r.Body = http.NoBody
	}
	c := &call{
		w: w, r: r, clock: &s.clock, assume: s.assume.Load(), data: s.data.Load(), journal: &s.journal, closing: s.closing, left: Unlimited,
	}
	c.up = s.upstream
	c.begin()
	defer c.end()
	c.readClock()
	c.came = c.now
	if c.to, c.ruc = routeOf(r.URL); c.to != nil {
		c.op, c.words = c.to.op, c.to.words()
	}
	if keys := r.Header["X-Api-Key"]; len(keys) > 0 { // the canonical name: Get would canonicalize it for every request
		c.key = keys[0]
	}
	c.account = s.keys.account(c.key)
	c.known = s.keys.searched.Load()
	if c.keys = *c.known; c.account == nil && c.key != "" {
		c.keys = c.keys.And(c.key)
	}
	if c.account == nil && c.key != "" && c.up != nil {
		c.account = &c.up.account
	}
	if a, refused := refused(c); refused {
		c.send(a)
		return
	}
	c.admitted = true
	if f, effect := s.faults.match(c); f != nil {
		f.meet(c, effect)
		return
	}
	if c.wasRead && !c.arrived() { // a fault needed the body, and the client left before it arrived
		c.send(unreadable())
		return
	}
	c.send(c.answerWith(OK))
}

// refused returns the answer to a call that reaches no operation.
func refused(c *call) (answer, bool) {
	switch {
	case c.to == nil:
		return noRoute(c), true
	case !c.to.accepts(c.r.Method):
		return wrongMethod(c.to, c), true
	case c.account == nil, c.op == OpValidar && c.verdict() == false: // the upstream checks no validation
		return refusedKey(c.r, c.assume), true
	}
	return answer{}, false
}

// refusedKey returns the answer to a missing or unknown key.
func refusedKey(r *http.Request, assume *Assumptions) answer {
	if r.Header.Get("X-API-KEY") == "" {
		hint := ""
		if r.Header.Get("Authorization") != "" {
			hint = " (el encabezado Authorization no se lee)"
		}
		return assume.MissingKey.refusal(
			"falta el encabezado X-API-KEY%s: envíe en él su clave de API, en cada llamada (docs/contract.md, 5)", hint)
	}
	return assume.InvalidKey.refusal(
		"la clave de API del encabezado X-API-KEY no es válida en este servidor: revise cuál le corresponde (docs/contract.md, 5)")
}

func quotaExceeded(c charge, assume *Assumptions) answer {
	return assume.QuotaExceeded.refusal(
		"se agotó la cuota diaria de %d consultas de esta clave de API: se renueva el %s (Lima); esta llamada no consumió nada (docs/contract.md, 8)",
		c.limit, c.day.until.In(fiscope.Lima).Format("2006-01-02 a las 15:04"))
}

// bodyMost is the largest accepted body; the seven fields of a receipt validation take about 200 bytes.
const bodyMost = 64 << 10
