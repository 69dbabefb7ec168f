package mockserver

import (
	"net/http"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/serve"
	"github.com/fiscope/fiscope/mockserver/internal/memorynet"
)

// idlePerHost lets a burst of parallel calls keep its connections.
const idlePerHost = 100

// Client returns an SDK client with this server's URL, key and clock; opts override them. Invalid options end the test of
// [New]; after [Start], they panic.
func (s *Server) Client(opts ...fiscope.Option) *fiscope.Client {
	s.t.Helper()
	hc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: idlePerHost}} // without a proxy: it is on loopback
	if s.config.withoutSocket {
		hc.Transport = s.Transport()
	}
	client, err := fiscope.NewClient(s.URL, s.APIKey, append([]fiscope.Option{fiscope.WithHTTPClient(hc), fiscope.WithClock(s.Now)}, opts...)...)
	if err != nil {
		s.t.Fatalf("mockserver: Client: %v", err)
	}
	return client
}

// Transport returns a round tripper to this server without a socket, for any host. For a testing/synctest bubble, see
// [WithoutSocket].
func (s *Server) Transport() http.RoundTripper {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Created on first use: in a synctest bubble its channels must belong to the bubble.
	if s.network == nil {
		s.network = memorynet.Listen()
		if s.closed {
			_ = s.network.Close()
		} else {
			s.memory = serve.Start(s.network, &http.Server{Handler: s, ConnContext: s.connContext}) //nolint:gosec // nobody else can reach it
		}
	}
	return &http.Transport{DialContext: s.network.Dial, MaxIdleConnsPerHost: idlePerHost}
}
