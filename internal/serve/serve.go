// Package serve runs a net/http server on a listener, and finishes the answers in flight when it closes.
package serve

import (
	"context"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Config configures a server.
type Config struct {
	Handler     http.Handler
	ConnContext func(context.Context, net.Conn) context.Context
	// HeaderTimeout cuts a connection that sends no complete header for this long; 0 means never.
	HeaderTimeout time.Duration
	// ReadTimeout cuts a connection that sends no complete request, with its body, for this long; 0 means never. An answer
	// may take any time.
	ReadTimeout time.Duration
	// WriteTimeout cuts a connection whose answer is not written this long after its request's header; 0 means never.
	WriteTimeout time.Duration
	// IdleTimeout closes a connection that has been idle for this long; 0 means ReadTimeout.
	IdleTimeout time.Duration
	ErrorLog    *log.Logger // nil for the standard one
}

// Server is one net/http server on one listener. It speaks HTTP/1.1 only.
type Server struct {
	http *http.Server
	ln   net.Listener
	done chan struct{} // closed when it stops accepting

	mu    sync.Mutex
	busy  map[net.Conn]struct{} // connections with an answer in flight
	quiet chan struct{}         // while closing: closed once none is busy
}

// Start serves ln until [Server.Close].
func Start(ln net.Listener, c Config) *Server {
	s := &Server{ln: ln, done: make(chan struct{}), busy: map[net.Conn]struct{}{}}
	s.http = &http.Server{
		Handler:           c.Handler,
		ConnState:         s.track,
		ConnContext:       c.ConnContext,
		ReadHeaderTimeout: c.HeaderTimeout,
		ReadTimeout:       c.ReadTimeout,
		WriteTimeout:      c.WriteTimeout,
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

// Close stops accepting, waits for the answers in flight until ctx ends, and cuts the rest. Its error is the
// listener's. It does not use [http.Server.Shutdown], which polls, and waits five seconds for a connection that a
// client dialled and did not use.
func (s *Server) Close(ctx context.Context) error {
	err := s.ln.Close()
	<-s.done
	s.http.SetKeepAlivesEnabled(false) // closes idle connections, and busy ones after their answer
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
	_ = s.http.Close() // its only error: the listener is already closed
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
