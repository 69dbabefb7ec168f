package mockserver

import (
	"net/http"
	"time"
)

// call is one authenticated and charged request, as an operation sees it.
type call struct {
	w   http.ResponseWriter // only to bound the request's body
	r   *http.Request
	now time.Time // read once, so that one answer never straddles midnight
}

// ServeHTTP answers one request of the service, in this order: route, key, quota, the operation's
// validation, its data. Nothing of it is written before the answer is complete.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The mux would answer these itself: with an HTML redirect, or an empty 400.
	if !routable(r) {
		noRoute(r).write(w)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// serve runs one request of op through the order that every operation shares.
func (s *Server) serve(op *operation, w http.ResponseWriter, r *http.Request) {
	if r.Method != op.method {
		wrongMethod(op, r).write(w)
		return
	}
	account, refused := s.account(r)
	if account == nil {
		refused.write(w)
		return
	}
	now := s.now()
	charge, charged := account.charge(now, s.assume.ResetZone)
	var a answer
	if charged {
		a = op.answer(s, &call{w: w, r: r, now: now})
		if a.status >= 300 && !s.assume.ChargeFailures {
			charge.refund()
		}
	} else {
		a = s.quotaExceeded(charge)
	}
	if (op.headers || s.assume.HeadersEverywhere) && (a.status < 300 || s.assume.HeadersOnErrors) {
		charge.setHeaders(w.Header())
	}
	a.write(w)
}
