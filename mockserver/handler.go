package mockserver

import "net/http"

// ServeHTTP answers one request of the service.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil { // called directly: net/http's server always sets it
		r = r.WithContext(r.Context())
		r.Body = http.NoBody
	}
	c := &call{
		request: request{w: w, r: r, closing: s.closing}, log: record{journal: &s.journal, left: Unlimited},
		clock: &s.clock, assume: s.assume.Load(), data: s.data.Load(), recording: s.recording,
	}
	c.log.begin()
	defer c.end()
	c.readClock()
	c.log.came = c.now
	if c.to, c.ruc = routeOf(r.URL); c.to != nil {
		c.op = c.to.op
	}
	if keys := r.Header["X-Api-Key"]; len(keys) > 0 { // the canonical name: Get would canonicalize it for every request
		c.key = keys[0]
	}
	c.account = s.keys.account(c.key)
	c.known = s.keys.searched.Load()
	if c.keys = *c.known; c.account == nil && c.key != "" {
		c.hide(c.key)
	}
	if a := refusalOf(c); a.status != 0 {
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

// refusalOf returns the answer to a call that reaches no operation; the zero answer for others.
func refusalOf(c *call) (a answer) {
	switch {
	case c.to == nil:
		a = noRoute(&c.request)
	case !c.to.accepts(c.r.Method):
		a = wrongMethod(&c.request)
	case c.account == nil && (c.key == "" || !c.recording.asks()):
		a = refusedKey(c.r, c.assume)
	}
	return a
}
