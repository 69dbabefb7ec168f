package mockserver

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// meet answers a call that the fault has met.
func (f *ActiveFault) meet(c *call, e action) {
	c.log.fault = f.fault.Name
	var a answer
	switch {
	case !e.Before:
		c.sunatDown = e.sunat
		a = c.answerWith(e.Effect)
		f.hold(c, e)
	case e.replaces():
		c.undo()
		f.hold(c, e)
		a = e.Effect.over(answer{})
	default:
		f.hold(c, e)
		a = c.answerWith(e.Effect)
	}
	if e.end != "" && !e.inside {
		c.record(answer{})
		f.breakOff(c, e.end)
		return
	}
	header := c.w.Header()
	c.head(header, a)
	if e.change != nil {
		// Hide keys before the change: half of a key could not be found.
		a.kept, _ = e.rewrite([]byte(c.keys.Out(string(a.body))), http.Header{})
	}
	a.body, _ = e.rewrite(a.body, header)
	header["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	if c.r.Method == http.MethodHead {
		e.chunk = 0 // there is no body to pace
	}
	if whole := e.chunk == 0 && e.end == ""; whole {
		c.finish(a)
	} else {
		c.record(a)
	}
	c.writeHead(a.status)
	body := a.body
	if e.end != "" {
		body = body[:len(body)/2]
	}
	if !f.pace(c, e, body) {
		cut()
	}
	if e.end != "" {
		_ = http.NewResponseController(c.w).Flush()
		f.breakOff(c, e.end)
	}
}

// hold waits as long as the effect says. It does not return if the client leaves or the server closes.
func (f *ActiveFault) hold(c *call, e action) {
	if !e.waits() {
		return
	}
	c.waited = true
	there := c.readOn()
	c.record(answer{})
	if there && e.Hold {
		there = f.wait(c, nil)
	}
	if there && e.Latency > 0 {
		there = f.sleep(c, e.Latency)
	}
	if !there {
		cut()
	}
}

func (f *ActiveFault) sleep(c *call, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	return f.wait(c, timer.C)
}

// wait waits until the time or the fault's release. It returns false if the client leaves or the server closes before.
func (f *ActiveFault) wait(c *call, until <-chan time.Time) bool {
	select {
	case <-until:
	case <-f.released:
	case <-c.r.Context().Done():
	case <-c.closing:
		return false
	}
	return c.r.Context().Err() == nil // a client that leaves at the same moment counts as gone
}

// pace writes a body at the effect's speed, and reports whether all of it was written.
func (f *ActiveFault) pace(c *call, e action, body []byte) bool {
	if e.chunk == 0 {
		_, _ = c.w.Write(body) // a client that left is not the server's failure
		return true
	}
	flusher := http.NewResponseController(c.w)
	for len(body) > 0 {
		if !f.sleep(c, e.every) {
			return false
		}
		n := min(e.chunk, len(body))
		if last := n == len(body) && e.end == ""; last {
			c.finish(c.log.last)
		}
		if _, err := c.w.Write(body[:n]); err != nil {
			return false
		}
		_ = flusher.Flush()
		body = body[n:]
	}
	return true
}

// breakOff ends a call's connection.
func (f *ActiveFault) breakOff(c *call, how ending) {
	_, _ = c.readBody() // it identifies a repetition
	c.log.broken = true
	if how == hangs {
		c.record(c.log.last)
		f.wait(c, nil)
		cut()
	}
	c.end()
	hijack(c, how == resets)
}

// cut closes the connection without another byte. It does not return.
func cut() { panic(http.ErrAbortHandler) }

// hijack takes the connection from net/http and closes it, with a reset or orderly.
func hijack(c *call, reset bool) {
	// Closing a connection with unread bytes would reset it.
	_, _ = io.Copy(io.Discard, io.LimitReader(c.r.Body, bodyMost))
	conn, _, err := http.NewResponseController(c.w).Hijack()
	if err != nil { // HTTP/2, or no connection
		cut()
	}
	if reset {
		if raw, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS would send an alert first
			conn = raw.NetConn()
		}
		if linger, ok := conn.(interface{ SetLinger(int) error }); ok {
			_ = linger.SetLinger(0)
		}
	}
	_ = conn.Close()
}
