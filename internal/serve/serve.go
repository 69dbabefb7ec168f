// Package serve runs a net/http server on a listener, and ends it so that answers in flight are finished.
package serve

import (
	"context"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Config is what a server does.
type Config struct {
	Handler     http.Handler
	ConnContext func(context.Context, net.Conn) context.Context
	// HeaderTimeout cuts a connection that sends no whole header for so long; 0 is never.
	HeaderTimeout time.Duration
	// ReadTimeout cuts a connection that sends no whole request for so long, its body included; 0 is never.
	// An answer may take as long as it wants.
	ReadTimeout time.Duration
	// IdleTimeout closes a connection that has sent nothing more for so long; 0 is never, or ReadTimeout.
	IdleTimeout time.Duration
	ErrorLog    *log.Logger // nil for the standard one
}

// Server is one net/http server on one listener. It speaks HTTP/1.1 only.
type Server struct {
	http *http.Server
	ln   net.Listener
	done chan struct{} // closed when nothing is accepted any more

	mu    sync.Mutex
	busy  map[net.Conn]struct{} // connections with an answer in flight
	quiet chan struct{}         // while closing: closed when none is busy
}

// Start answers what arrives on ln, until [Server.Close].
func Start(ln net.Listener, c Config) *Server {
	s := &Server{ln: ln, done: make(chan struct{}), busy: map[net.Conn]struct{}{}}
	s.http = &http.Server{
		Handler:           c.Handler,
		ConnState:         s.track,
		ConnContext:       c.ConnContext,
		ReadHeaderTimeout: c.HeaderTimeout,
		ReadTimeout:       c.ReadTimeout,
		IdleTimeout:       c.IdleTimeout,
		ErrorLog:          c.ErrorLog,
		// net/http would answer "OPTIONS *" by itself, with an empty 200.
		DisableGeneralOptionsHandler: true,
		Protocols:                    new(http.Protocols),
	}
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
	delete(s.busy, c)
	if len(s.busy) == 0 && s.quiet != nil {
		close(s.quiet)
		s.quiet = nil
	}
}

// Close stops accepting, waits for the answers in flight until ctx ends, and cuts what is left. Its error
// is that of closing the listener. It is not [http.Server.Shutdown], which polls, and waits five seconds
// for a connection that a client dialled and did not use.
func (s *Server) Close(ctx context.Context) error {
	err := s.ln.Close()
	<-s.done
	s.http.SetKeepAlivesEnabled(false) // closes the idle ones, and the busy ones after their answer
	quiet := make(chan struct{})
	s.mu.Lock()
	if len(s.busy) == 0 {
		close(quiet)
	} else {
		s.quiet = quiet
	}
	s.mu.Unlock()
	select {
	case <-quiet:
	case <-ctx.Done():
	}
	_ = s.http.Close() // could report only that the listener is closed already
	return err
}

// Host returns the host and port at which a client reaches a listener, also one on every interface.
func Host(ln net.Listener) string {
	addr := ln.Addr().String()
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}
