package mockserver

import (
	"io"
	"net"
	"net/http"
)

// breakOff ends a call's connection.
func (f *ActiveFault) breakOff(c *call, how ending) {
	_, _ = c.readBody() // it identifies a repetition
	c.log.broken = true
	switch how {
	case hangs:
		c.record(c.log.last)
		f.wait(c, nil)
		cut()
	case resets:
		c.end()
		hijack(c, true)
	case closes:
		c.end()
		hijack(c, false)
	}
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
