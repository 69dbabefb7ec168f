package mockserver

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// faulty answers a call that a fault has met.
func (s *Server) faulty(c *call, f *ActiveFault, e Effect) {
	c.fault = f.fault.Name
	var a answer
	if e.Before {
		s.hold(c, f, e)
		if e.replaces() {
			a = e.ownAnswer(answer{})
		} else {
			a = s.charged(c)
		}
	} else {
		c.sunatDown = e.SUNATDown
		a = e.ownAnswer(s.charged(c))
		a.body = e.rewritten(a.body, c.w.Header())
		s.hold(c, f, e)
	}
	switch e.Break {
	case BreakHang, BreakReset, BreakClose:
		s.journal.record(c, answer{})
		s.breakOff(c, f, e.Break)
		return
	}
	s.journal.record(c, a)
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
	if !s.pace(c, f, body, e) {
		cut()
	}
	if e.Break != "" {
		_ = http.NewResponseController(c.w).Flush()
		s.breakOff(c, f, e.Break)
	}
}

// ownAnswer is the effect's answer in place of the computed one.
func (e Effect) ownAnswer(a answer) answer {
	switch {
	case e.Status >= 300 && e.Body == nil:
		a = refusal(e.Status, "MOCK_FAULT", "falla simulada: %d %s", e.Status, http.StatusText(e.Status))
	case e.Status != 0:
		a.status, a.code = e.Status, ""
	}
	if e.Body != nil {
		a.body, a.code = []byte(*e.Body), ""
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a
}

func (e Effect) rewritten(body []byte, h http.Header) []byte {
	if e.Rewrite == "" {
		return body
	}
	return rewrites[e.Rewrite](body, h)
}

// hold waits as long as the effect says. It does not return when the client leaves or the server closes.
func (s *Server) hold(c *call, f *ActiveFault, e Effect) {
	if e.Hold {
		s.journal.record(c, answer{})
		if !s.wait(c, f, nil) {
			cut()
		}
	}
	if e.Latency > 0 {
		s.journal.record(c, answer{})
		if !s.sleep(c, f, e.Latency) {
			cut()
		}
	}
}

func (s *Server) sleep(c *call, f *ActiveFault, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	return s.wait(c, f, timer.C)
}

// wait reports whether its time came, or the fault let go, before the client left and the server closed.
func (s *Server) wait(c *call, f *ActiveFault, until <-chan time.Time) bool {
	select {
	case <-until:
		return true
	case <-f.released:
		return true
	case <-c.r.Context().Done():
	case <-s.closing:
	}
	return false
}

// pace writes a body as fast as the effect says, and reports whether all of it was written.
func (s *Server) pace(c *call, f *ActiveFault, body []byte, e Effect) bool {
	if e.Chunk == 0 {
		_, _ = c.w.Write(body) // a client that left is not the server's failure
		return true
	}
	flusher := http.NewResponseController(c.w)
	for len(body) > 0 {
		if !s.sleep(c, f, e.Every) {
			return false
		}
		n := min(e.Chunk, len(body))
		if _, err := c.w.Write(body[:n]); err != nil {
			return false
		}
		_ = flusher.Flush()
		body = body[n:]
	}
	return true
}

// breakOff ends the connection of a call.
func (s *Server) breakOff(c *call, f *ActiveFault, how Break) {
	switch how {
	case BreakHang, BreakHangInside:
		s.wait(c, f, nil)
		cut()
	case BreakReset, BreakResetInside:
		hijack(c, true)
	case BreakClose, BreakCloseInside:
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
		if raw, ok := conn.(interface{ NetConn() net.Conn }); ok { // a TLS connection would say goodbye
			conn = raw.NetConn()
		}
		if linger, ok := conn.(interface{ SetLinger(int) error }); ok {
			_ = linger.SetLinger(0)
		}
	}
	_ = conn.Close()
}

// connKey finds what the server knows of a request's connection.
type connKey struct{}

type connInfo struct {
	id       int64
	requests atomic.Int64
}

// ConnContext numbers the connections, for the journal, in an [http.Server] of your own that serves s:
// give it as its ConnContext.
func (s *Server) ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, &connInfo{id: s.conns.Add(1)})
}
