package mockserver

import (
	"net/http"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/serve"
	"github.com/fiscope/fiscope/mockserver/internal/memorynet"
)

// idlePerHost lets a burst of parallel calls keep its connections.
const idlePerHost = 100

// Client returns an SDK client bound to this server and its key, with a connection pool of its own: over
// the socket, or over [Server.Transport] when there is none. Its clock is the server's
// ([fiscope.WithClock]), so that [Server.Advance] and its like move the days of both. What a client shares by
// [fiscope.WithStore] goes by real time all the same. The options come after its own, and win.
// An option that NewClient refuses ends the test of [New]; after [Start], it panics.
func (s *Server) Client(opts ...fiscope.Option) *fiscope.Client {
	s.t.Helper()
	return s.client(s.APIKey, opts...)
}

func (s *Server) client(key string, opts ...fiscope.Option) *fiscope.Client {
	s.t.Helper()
	hc := &http.Client{Transport: s.pool()}
	client, err := fiscope.NewClient(s.URL, key, append([]fiscope.Option{fiscope.WithHTTPClient(hc), fiscope.WithClock(s.Now)}, opts...)...)
	if err != nil {
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
	if s.network == nil {
		s.network = memorynet.Listen()
		if s.closed {
			_ = s.network.Close()
		} else {
			s.memory = serve.Start(s.network, serve.Config{Handler: s, ConnContext: s.ConnContext})
		}
	}
	return &http.Transport{DialContext: s.network.Dial, MaxIdleConnsPerHost: idlePerHost}
}
