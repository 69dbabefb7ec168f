// Package serve runs a net/http server on a listener, and finishes the answers in flight when it closes.
package serve

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Server is one net/http server on one listener. It speaks HTTP/1.1 only.
type Server struct {
	http *http.Server
	ln   net.Listener
	done chan struct{} // closed when it stops accepting

	mu    sync.Mutex
	busy  map[net.Conn]struct{} // connections with an answer in flight
	quiet func()                // called whenever none is busy
}

// Start serves ln with a server's Handler, ConnContext, ErrorLog and timeouts, until [Server.Close].
func Start(ln net.Listener, of *http.Server) *Server {
	s := &Server{http: of, ln: ln, done: make(chan struct{}), busy: map[net.Conn]struct{}{}, quiet: func() {}}
	s.http.ConnState = s.track
	s.http.DisableGeneralOptionsHandler = true // net/http would answer "OPTIONS *" by itself, with an empty 200
	s.http.Protocols = new(http.Protocols)
	s.http.Protocols.SetHTTP1(true)
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // ends when ln is closed
	}()
	return s
}

func (s *Server) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateActive {
		s.busy[c] = struct{}{}
		return
	}
	if delete(s.busy, c); len(s.busy) == 0 {
		s.quiet()
	}
}

// Close stops accepting, waits for the answers in flight until ctx ends, and cuts the rest. Its error is the
// listener's. It does not use [http.Server.Shutdown], which polls, and waits five seconds for a connection that a
// client dialled and did not use.
func (s *Server) Close(ctx context.Context) error {
	err := s.ln.Close()
	<-s.done
	s.http.SetKeepAlivesEnabled(false) // closes idle connections, and busy ones after their answer
	ctx, end := context.WithCancel(ctx)
	defer end()
	s.mu.Lock()
	if s.quiet = end; len(s.busy) == 0 {
		end()
	}
	s.mu.Unlock()
	<-ctx.Done()
	_ = s.http.Close() // its only error: the listener is already closed
	return err
}

// Host returns the host and port at which a client reaches a listener, even one on every interface.
func Host(ln net.Listener) string {
	addr := ln.Addr().String()
	host, port, _ := net.SplitHostPort(addr)
	if net.ParseIP(host).IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}
