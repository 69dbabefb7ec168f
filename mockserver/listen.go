package mockserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// closeWait is how long Close lets an answer in flight finish.
const closeWait = time.Second

// listening is one net/http server on one listener.
type listening struct {
	server *http.Server
	ln     net.Listener
	done   chan struct{} // closed when nothing is accepted any more

	mu    sync.Mutex
	busy  map[net.Conn]struct{} // connections with an answer in flight
	quiet chan struct{}         // while closing: closed when none is busy
}

// listen puts s on a TCP address and sets s.URL to the port that was really given.
func (s *Server) listen(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.URL = "http://" + reachable(ln.Addr().String())
	s.socket = serve(ln, s, 30*time.Second)
	return nil
}

// reachable turns the address of a listener on every interface into one a client can dial.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

// serve answers with s what arrives on ln, until close. A connection that sends no whole header within
// headerTimeout is cut; 0 is never.
func serve(ln net.Listener, s *Server, headerTimeout time.Duration) *listening {
	l := &listening{ln: ln, done: make(chan struct{}), busy: map[net.Conn]struct{}{}}
	l.server = &http.Server{
		Handler:           s,
		ConnState:         l.track,
		ConnContext:       s.ConnContext,
		ReadHeaderTimeout: headerTimeout,
		// net/http would answer "OPTIONS *" by itself, with an empty 200.
		DisableGeneralOptionsHandler: true,
	}
	l.server.Protocols = new(http.Protocols)
	l.server.Protocols.SetHTTP1(true)
	go func() {
		defer close(l.done)
		_ = l.server.Serve(ln) // ends when ln is closed
	}()
	return l
}

func (l *listening) track(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if state == http.StateActive {
		l.busy[c] = struct{}{}
		return
	}
	delete(l.busy, c)
	if len(l.busy) == 0 && l.quiet != nil {
		close(l.quiet)
		l.quiet = nil
	}
}

// close stops accepting, waits for the answers in flight until ctx ends, and cuts what is left. It does
// not use http.Server.Shutdown, which polls, and waits five seconds for a connection that a client
// dialled and did not use.
func (l *listening) close(ctx context.Context) error {
	err := l.ln.Close()
	<-l.done
	l.server.SetKeepAlivesEnabled(false) // closes the idle ones, and the busy ones after their answer
	quiet := make(chan struct{})
	l.mu.Lock()
	if len(l.busy) == 0 {
		close(quiet)
	} else {
		l.quiet = quiet
	}
	l.mu.Unlock()
	select {
	case <-quiet:
	case <-ctx.Done():
	}
	_ = l.server.Close() // could report only that the listener is closed already
	return err
}

// Close stops the server: it accepts nothing more, waits at most one second for the answers in flight
// and cuts what is left. It leaves no goroutine. Closing twice is fine. After Close the Server still
// answers as an [http.Handler].
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		close(s.closing)
	}
	open := [...]*listening{s.socket, s.memory}
	s.socket, s.memory, s.closed = nil, nil, true
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	var err error
	for _, l := range open {
		if l != nil {
			err = errors.Join(err, l.close(ctx))
		}
	}
	return err
}
