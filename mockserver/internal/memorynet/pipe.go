package memorynet

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// pipe is an in-memory connection that can be reset.
type pipe struct {
	client end
	server end
	reset  atomic.Bool
}

// end is one side of a pipe.
type end struct {
	net.Conn
	pipe *pipe
}

// SetLinger works like a [net.TCPConn]'s: with 0, Close resets the connection.
func (e *end) SetLinger(seconds int) error {
	e.pipe.reset.Store(seconds == 0)
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
	if err == nil || !e.pipe.reset.Load() || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return &net.OpError{Op: op, Net: "pipe", Source: e.LocalAddr(), Addr: e.RemoteAddr(), Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}
