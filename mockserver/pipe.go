package mockserver

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// pipe is a connection in memory that can be reset, as TCP can.
type pipe struct {
	client pipeEnd
	server pipeEnd
	reset  atomic.Bool
}

// pipeEnd is one side of a pipe.
type pipeEnd struct {
	net.Conn
	pipe *pipe
}

// SetLinger is that of a [net.TCPConn]: with 0, Close resets the connection.
func (e *pipeEnd) SetLinger(seconds int) error {
	e.pipe.reset.Store(seconds == 0)
	return nil
}

func (e *pipeEnd) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	return n, e.afterReset("read", err)
}

func (e *pipeEnd) Write(b []byte) (int, error) {
	n, err := e.Conn.Write(b)
	return n, e.afterReset("write", err)
}

// afterReset makes the end of a pipe that was reset look as it does on a socket.
func (e *pipeEnd) afterReset(op string, err error) error {
	if err == nil || !e.pipe.reset.Load() || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return &net.OpError{Op: op, Net: "pipe", Source: e.LocalAddr(), Addr: e.RemoteAddr(), Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}
