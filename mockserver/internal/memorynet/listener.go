// Package memorynet is a network inside the process: a listener, and connections that can be reset like TCP's. It works in
// a testing/synctest bubble, where a socket would stop virtual time.
package memorynet

import (
	"context"
	"net"
	"sync"
)

// Listener is a [net.Listener] whose connections never leave the process.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Listen returns a new listener. For a synctest bubble, call it in that bubble.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Dial connects to the listener, whatever the network and the address. It can be an [http.Transport]'s DialContext.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p := new(pipe)
	p.client.Conn, p.server.Conn = net.Pipe()
	p.client.pipe, p.server.pipe = p, p
	select {
	case l.conns <- &p.server:
		return &p.client, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: l.Addr(), Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]. It may be called twice.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements [net.Listener].
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "mockserver", Net: "pipe"} }
