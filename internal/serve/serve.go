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

	mu     sync.Mutex
	unused map[net.Conn]struct{} // connections without a request so far
}

// Start serves ln with a server's Handler, ConnContext, ErrorLog and timeouts, until [Server.Close].
func Start(ln net.Listener, of *http.Server) *Server {
	s := &Server{http: of, ln: ln, done: make(chan struct{}), unused: map[net.Conn]struct{}{}}
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
	if state == http.StateNew {
		s.unused[c] = struct{}{}
	} else {
		delete(s.unused, c)
	}
}

// Close stops accepting, waits for the answers in flight until ctx ends, and cuts the rest. Its error is the
// listener's.
func (s *Server) Close(ctx context.Context) error {
	err := s.ln.Close()
	<-s.done
	s.mu.Lock()
	for c := range s.unused { // Shutdown would wait five seconds for them
		_ = c.Close()
	}
	s.mu.Unlock()
	_ = s.http.Shutdown(ctx) // the listener is already closed
	_ = s.http.Close()
	return err
}

// Host returns the host and port at which a client reaches a listener, even one on every interface.
func Host(ln net.Listener) string {
	addr := ln.Addr().String()
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}
