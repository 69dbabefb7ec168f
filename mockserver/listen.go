package mockserver

import (
	"context"
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
	fresh map[net.Conn]struct{} // connections that never carried a request
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

// serve answers with h what arrives on ln, until close. A connection that sends no whole header within
// headerTimeout is cut; 0 is never.
func serve(ln net.Listener, h http.Handler, headerTimeout time.Duration) *listening {
	l := &listening{ln: ln, done: make(chan struct{}), fresh: map[net.Conn]struct{}{}}
	l.server = &http.Server{
		Handler:           h,
		ConnState:         l.track,
		ReadHeaderTimeout: headerTimeout,
		// net/http would answer "OPTIONS *" by itself, with an empty 200.
		DisableGeneralOptionsHandler: true,
	}
	go func() {
		defer close(l.done)
		_ = l.server.Serve(ln) // ends when ln is closed
	}()
	return l
}

func (l *listening) track(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if state == http.StateNew {
		l.fresh[c] = struct{}{}
	} else {
		delete(l.fresh, c)
	}
}

// close stops accepting, waits for the answers in flight until ctx ends, and cuts what is left.
// Connections that a client dialled and did not use are cut at once: http.Server.Shutdown would wait
// five seconds for each.
func (l *listening) close(ctx context.Context) error {
	_ = l.ln.Close()
	<-l.done
	l.mu.Lock()
	for c := range l.fresh {
		_ = c.Close()
	}
	l.mu.Unlock()
	if l.server.Shutdown(ctx) != nil {
		return l.server.Close()
	}
	return nil
}

// Close stops the server: it accepts nothing more, waits at most one second for the answers in flight
// and cuts what is left. It leaves no goroutine. Closing twice is fine. After Close the Server still
// answers as an [http.Handler].
func (s *Server) Close() error {
	s.mu.Lock()
	open := [...]*listening{s.socket, s.memory}
	s.socket, s.memory, s.closed = nil, nil, true
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	var first error
	for _, l := range open {
		if l == nil {
			continue
		}
		if err := l.close(ctx); err != nil && first == nil {
			first = err
		}
	}
	return first
}
