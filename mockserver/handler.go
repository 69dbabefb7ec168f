package mockserver

import "net/http"

// ServeHTTP answers one request of the service, in this order: route, key, quota, the operation's
// validation, its data. Nothing of it is written before the answer is complete.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{w: w, r: r, now: s.clock.now(), data: s.data.Load(), left: Unlimited}
	c.op, c.ruc = route(r.URL)
	if keys := r.Header["X-Api-Key"]; len(keys) > 0 { // as net/http keeps the name: Get would make it so
		c.key = keys[0]
	}
	c.account = s.keys.account(c.key)
	w.Header()["Date"] = s.clock.date(c.now)
	if a, refused := s.refused(c); refused {
		s.send(c, a)
		return
	}
	c.admitted = true
	if f, effect := s.faults.take(c); f != nil {
		s.faulty(c, f, effect)
		return
	}
	s.send(c, s.charged(c))
}

func (s *Server) send(c *call, a answer) {
	s.journal.record(c, a)
	a.write(c.w)
}

// refused is the answer to a call that reaches no operation.
func (s *Server) refused(c *call) (answer, bool) {
	switch {
	case c.op == nil:
		return noRoute(c.r), true
	case c.r.Method != c.op.method:
		return wrongMethod(c.op, c.r), true
	case c.account == nil:
		return s.refusedKey(c.r), true
	}
	return answer{}, false
}

// charged takes the call from the quota and answers it.
func (s *Server) charged(c *call) answer {
	charge, ok := c.account.charge(c.now, s.assume.ResetZone)
	var a answer
	if ok {
		c.cost = 1
		a = c.op.answer(s, c)
		if a.status >= 300 && !s.assume.ChargeFailures {
			charge.refund()
			c.cost = 0
		}
	} else {
		a = s.quotaExceeded(charge)
	}
	c.left = charge.left()
	if (c.op.headers || s.assume.HeadersEverywhere) && (a.status < 300 || s.assume.HeadersOnErrors) {
		charge.setHeaders(c.w.Header())
	}
	return a
}
