package mockserver

import (
	"fmt"
	"net/http"

	"github.com/fiscope/fiscope"
)

// Client returns an SDK client bound to this server and its key, with a connection pool of its own: over
// the socket, or over [Server.Transport] when there is none. The options come after its own, and win.
// An option that NewClient refuses ends the test of [New]; after [Start], it panics.
func (s *Server) Client(opts ...fiscope.Option) *fiscope.Client {
	if s.t != nil {
		s.t.Helper()
	}
	return s.client(s.APIKey, opts...)
}

func (s *Server) client(key string, opts ...fiscope.Option) *fiscope.Client {
	if s.t != nil {
		s.t.Helper()
	}
	hc := &http.Client{Transport: s.pool()}
	client, err := fiscope.NewClient(s.URL, key, append([]fiscope.Option{fiscope.WithHTTPClient(hc)}, opts...)...)
	if err != nil {
		if s.t == nil {
			panic(fmt.Sprintf("mockserver: Client: %v", err))
		}
		s.t.Fatalf("mockserver: Client: %v", err)
	}
	return client
}

// pool returns a transport that reaches the server; its idle connections end when the server closes.
func (s *Server) pool() http.RoundTripper {
	s.mu.Lock()
	socket := s.socket != nil
	s.mu.Unlock()
	if !socket {
		return s.Transport()
	}
	return &http.Transport{MaxIdleConnsPerHost: idlePerHost} // without a proxy: it is on loopback
}
