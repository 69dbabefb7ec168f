package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// answer is what came for one request. Nothing of it is believed.
type answer struct {
	status int
	header http.Header
	body   []byte
	cut    error     // why the body is not whole; nil when it is
	came   time.Time // when it had come
}

// mostRead is how much of a body is read, in bytes: fifty taxpayers need some ten thousand.
const mostRead = 128 << 10

// sender sends each request once, over a connection of its own.
type sender struct {
	base, key string
	transport http.RoundTripper
	timeout   time.Duration // of one request and its answer, which the transport keeps
}

// unknownKey is the key of a request that carries somebody else's.
const unknownKey = "conformance-no-such-key"

// newTransport returns a transport that sends nothing twice: net/http sends a request again where a connection
// that it has kept, or one of HTTP/2, turns out to be closed. It follows no redirect either, as a client would. A
// request and its answer take no longer than timeout.
func newTransport(timeout time.Duration) *http.Transport {
	http1 := new(http.Protocols)
	http1.SetHTTP1(true)
	dialer := net.Dialer{Timeout: timeout}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DisableKeepAlives:      true,
		Protocols:              http1,
		MaxResponseHeaderBytes: 64 << 10,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return conn, conn.SetDeadline(time.Now().Add(timeout))
		},
	}
}

// send returns the answer, or why there is none. It reads no more of it than mostRead and the transport allow.
func (s *sender) send(ctx context.Context, r request) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, r.method(), s.base+r.target, strings.NewReader(r.body))
	if err != nil {
		return answer{}, errors.New("the request cannot be written")
	}
	if r.op != validation {
		req.Body, req.ContentLength = nil, 0
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", "fiscope-conformance")
	switch r.key {
	case ownKey:
		req.Header["X-API-KEY"] = []string{s.key} // as the contract writes it: Set would change the case
	case badKey:
		req.Header["X-API-KEY"] = []string{unknownKey}
	}
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		return answer{}, s.why(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols { // what follows is no body, and no context ends the reading
		return answer{status: resp.StatusCode, header: resp.Header, cut: errors.New("there is no body"), came: time.Now()}, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostRead+1))
	a := answer{status: resp.StatusCode, header: resp.Header, body: body, came: time.Now()}
	switch {
	case err != nil:
		a.cut = fmt.Errorf("the body cannot be read to its end: %w", s.why(ctx, err))
	case len(body) > mostRead:
		a.body, a.cut = body[:mostRead], fmt.Errorf("the body has more than %d bytes", mostRead)
	}
	return a, nil
}

var errSilent = errors.New("nothing more came")

// why puts the end of the time into words.
func (s *sender) why(ctx context.Context, err error) error {
	timedOut := net.Error(nil)
	if ctx.Err() != nil || errors.As(err, &timedOut) && timedOut.Timeout() {
		return fmt.Errorf("%w within %s", errSilent, s.timeout)
	}
	return err
}
