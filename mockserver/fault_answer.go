package mockserver

import (
	"io"
	"net"
	"net/http"
	"time"
)

// meet answers a call that the fault has met. charged takes the call from the quota and computes its answer, with
// the effect's status and body in it.
func (f *ActiveFault) meet(c *call, e Effect, charged func() answer) {
	c.fault = f.fault.Name
	var a answer
	if e.Before {
		f.hold(c, e)
		if e.replaces() {
			a = replaced(answer{}, e)
		} else {
			a = charged()
		}
	} else {
		c.sunatDown = e.SUNATDown
		a = charged()
		if e.Rewrite != "" {
			rewrite := rewrites[e.Rewrite]
			// Without the keys before it is changed: half of a key is found by nobody.
			a.kept = rewrite([]byte(c.keys.Out(string(a.body))), http.Header{})
			a.body = rewrite(a.body, c.w.Header())
		}
		f.hold(c, e)
	}
	if e.Break != "" && !e.Break.inside() {
		c.record(answer{})
		f.breakOff(c, e.Break)
		return
	}
	if whole := e.Chunk == 0 && e.Break == ""; whole {
		c.finish(a)
	} else {
		c.record(a)
	}
	h := c.w.Header()
	a.header(h)
	for name, value := range e.Header {
		if h.Set(name, value); value == "" {
			h[http.CanonicalHeaderKey(name)] = nil // net/http would add Date by itself
		}
	}
	c.w.WriteHeader(a.status)
	body := a.body
	if e.Break != "" {
		body = body[:len(body)/2]
	}
	if !f.pace(c, e, body) {
		cut()
	}
	if e.Break != "" {
		_ = http.NewResponseController(c.w).Flush()
		f.breakOff(c, e.Break)
	}
}

// replaced puts the status and the body of an effect in the place of an answer's own.
func replaced(a answer, e Effect) answer {
	switch {
	case e.Status >= 300 && e.Body == nil:
		a = refusal(e.Status, "MOCK_FAULT", "falla simulada: %d %s", e.Status, http.StatusText(e.Status))
	case e.Status != 0:
		a.status, a.code, a.retryAfter = e.Status, "", ""
	}
	if e.Body != nil {
		a.body, a.code, a.contentType = []byte(*e.Body), "", nil
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a
}

// hold waits as long as the effect says. It does not return when the client leaves or the server closes.
func (f *ActiveFault) hold(c *call, e Effect) {
	if e.waits() && !c.readOn() {
		c.record(answer{})
		cut()
	}
	if e.Hold {
		c.record(answer{})
		if f.holdMost > 0 {
			defer time.AfterFunc(f.holdMost, f.Release).Stop()
		}
		if !f.wait(c, nil) {
			cut()
		}
	}
	if e.Latency > 0 {
		c.record(answer{})
		if !f.sleep(c, e.Latency) {
			cut()
		}
	}
}

func (f *ActiveFault) sleep(c *call, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	return f.wait(c, timer.C)
}

// wait reports whether its time came, or the fault let go, before the client left and the server closed.
func (f *ActiveFault) wait(c *call, until <-chan time.Time) bool {
	select {
	case <-until:
	case <-f.released:
	case <-c.r.Context().Done():
	case <-c.closing:
		return false
	}
	return c.r.Context().Err() == nil // a client that left counts as gone, also in the moment in which its time came
}

// pace writes a body as fast as the effect says, and reports whether all of it was written.
func (f *ActiveFault) pace(c *call, e Effect, body []byte) bool {
	if e.Chunk == 0 {
		_, _ = c.w.Write(body) // a client that left is not the server's failure
		return true
	}
	flusher := http.NewResponseController(c.w)
	for len(body) > 0 {
		if !f.sleep(c, e.Every) {
			return false
		}
		n := min(e.Chunk, len(body))
		if last := n == len(body) && e.Break == ""; last {
			c.finish(c.recorded)
		}
		if _, err := c.w.Write(body[:n]); err != nil {
			return false
		}
		_ = flusher.Flush()
		body = body[n:]
	}
	return true
}

// breakOff ends the connection of a call.
func (f *ActiveFault) breakOff(c *call, how Break) {
	_, _ = c.readBody() // by which one knows the same call when it comes again
	switch how {
	case BreakHang, BreakHangInside:
		c.wasCut() // from now on: whoever gives up may ask again sooner than the server sees that they left
		f.wait(c, nil)
		cut()
	case BreakReset, BreakResetInside:
		c.end()
		hijack(c, true)
	case BreakClose, BreakCloseInside:
		c.end()
		hijack(c, false)
	}
}

// cut closes the connection without another byte; it does not return.
func cut() { panic(http.ErrAbortHandler) }

// hijack takes the connection from net/http and closes it: with a reset, or with an orderly end.
func hijack(c *call, reset bool) {
	// Closing a connection with unread bytes would reset it.
	_, _ = io.Copy(io.Discard, io.LimitReader(c.r.Body, bodyMost))
	conn, _, err := http.NewResponseController(c.w).Hijack()
	if err != nil { // HTTP/2, or no connection at all
		cut()
	}
	if reset {
		if raw, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS would end with an alert first
			conn = raw.NetConn()
		}
		if linger, ok := conn.(interface{ SetLinger(int) error }); ok {
			_ = linger.SetLinger(0)
		}
	}
	_ = conn.Close()
}
