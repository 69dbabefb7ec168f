// Package memorynet is a network inside the process: a listener, and connections that can be reset like TCP's. It works in
// a testing/synctest bubble, where a socket would stop virtual time.
package memorynet

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
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
	here, there := net.Pipe()
	reset := new(atomic.Bool)
	ends := [...]end{{here, reset}, {there, reset}}
	select {
	case l.conns <- &ends[1]:
		return &ends[0], nil
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

// end is one side of an in-memory connection that can be reset.
type end struct {
	net.Conn
	reset *atomic.Bool // of both sides
}

// SetLinger works like a [net.TCPConn]'s: with 0, Close resets the connection.
func (e *end) SetLinger(seconds int) error {
	e.reset.Store(seconds == 0)
	return nil
}

func (e *end) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	return n, e.afterReset("read", err)
}

func (e *end) Write(b []byte) (int, error) {
	n, err := e.Conn.Write(b)
	return n, e.afterReset("write", err)
}

// afterReset returns the error that a socket would return on a reset connection.
func (e *end) afterReset(op string, err error) error {
	if err == nil || !e.reset.Load() || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return &net.OpError{Op: op, Net: "pipe", Source: e.LocalAddr(), Addr: e.RemoteAddr(), Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}
