package mockserver

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// idlePerHost lets a burst of parallel calls keep its connections.
const idlePerHost = 100

// Transport returns a new round tripper, with a connection pool of its own, that reaches this server
// without a socket, whatever the host of the request's URL. Between the two runs a real
// [http.Transport] and a real [http.Server] over [net.Pipe], so framing, keep-alive and httptrace are
// those of HTTP/1.1.
//
// It works inside a testing/synctest bubble when the server was made in that bubble too, with
// [WithoutSocket]: time.Now, and with it the server's clock, is then the bubble's virtual time.
// The connections end with [Server.Close].
func (s *Server) Transport() http.RoundTripper {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Made on the first call: in a synctest bubble the channels must be born in the bubble.
	if s.pipes == nil {
		s.pipes = newPipeListener()
		if s.closed {
			_ = s.pipes.Close()
		} else {
			s.memory = serve(s.pipes, s, 0)
		}
	}
	return &http.Transport{DialContext: s.pipes.dial, MaxIdleConnsPerHost: idlePerHost}
}

// pipeListener is a net.Listener whose connections never leave the process.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
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

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "mockserver" }
