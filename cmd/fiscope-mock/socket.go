package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// socket is the program's one net/http server.
type socket struct {
	url    string
	server *http.Server
	ln     net.Listener
	done   chan struct{} // closed when nothing is accepted any more

	mu    sync.Mutex
	busy  map[net.Conn]struct{} // connections with an answer in flight
	quiet chan struct{}         // while closing: closed when none is busy
}

// listen takes the address: from here on connections are queued, and answered once serve is called.
func listen(addr string, https *tls.Config) (*socket, error) {
	if addr == "" {
		return nil, errors.New("the address is empty") // net.Listen would take it for any port of any interface
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &socket{url: "http://" + reachable(ln.Addr().String()), ln: ln, done: make(chan struct{}), busy: map[net.Conn]struct{}{}}
	if https != nil {
		s.url = "https" + s.url[len("http"):]
		s.ln = tls.NewListener(ln, https)
	}
	return s, nil
}

// serve answers with h until close. numbered prepares the context of a connection.
func (s *socket) serve(h http.Handler, numbered func(context.Context, net.Conn) context.Context, errorLog *log.Logger) {
	s.server = &http.Server{
		Handler:           h,
		ConnState:         s.track,
		ConnContext:       numbered,
		ErrorLog:          errorLog,
		ReadHeaderTimeout: 30 * time.Second,
		// net/http would answer "OPTIONS *" by itself, with an empty 200.
		DisableGeneralOptionsHandler: true,
	}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(s.ln) // ends when ln is closed
	}()
}

func (s *socket) track(c net.Conn, state http.ConnState) {
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

// close stops accepting, waits for the answers in flight at most for drain, and cuts what is left. It is
// not http.Server.Shutdown, which polls, and waits five seconds for a connection that a client dialled
// and did not use.
func (s *socket) close(drain time.Duration) error {
	err := s.ln.Close()
	<-s.done
	s.server.SetKeepAlivesEnabled(false) // closes the idle ones, and the busy ones after their answer
	quiet := make(chan struct{})
	s.mu.Lock()
	if len(s.busy) == 0 {
		close(quiet)
	} else {
		s.quiet = quiet
	}
	s.mu.Unlock()
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case <-quiet:
	case <-timer.C:
	}
	_ = s.server.Close() // could report only that the listener is closed already
	return err
}

// reachable turns the address of a listener on every interface into one a client can dial.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}
