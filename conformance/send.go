package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// answer is the answer to one request. It is not trusted.
type answer struct {
	status int
	header http.Header
	body   []byte
	cut    error     // why the body is incomplete; nil if it is complete
	came   time.Time // when its headers came
}

// mostRead is the most bytes of a body that are read: fifty taxpayers need some ten thousand.
const mostRead = 128 << 10

// sender sends each request once, over a connection of its own.
type sender struct {
	base, key string
	transport http.RoundTripper
	timeout   time.Duration // of one request and its answer
	patience  time.Duration // what is left for answers that do not come
}

// unknownKey is the key of a request with a bad key.
const unknownKey = "conformance-no-such-key"

// newTransport returns a transport that sends nothing twice: net/http repeats a request if a reused connection, or one
// of HTTP/2, turns out to be closed.
func newTransport() *http.Transport {
	http1 := new(http.Protocols)
	http1.SetHTTP1(true)
	return &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, Protocols: http1, MaxResponseHeaderBytes: 64 << 10}
}

// send returns the answer, or why none came. It reads no more of the body than mostRead.
func (s *sender) send(ctx context.Context, r request) (a answer, err error) {
	timeout, begun := min(s.timeout, s.patience), time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("nothing more came within %s", timeout))
	defer cancel()
	defer func() {
		if err != nil || a.cut != nil {
			s.patience -= time.Since(begun)
		}
	}()
	req, err := http.NewRequestWithContext(ctx, r.method(), s.base+r.target, strings.NewReader(r.body))
	if err != nil {
		return a, errors.New("the request cannot be written")
	}
	if r.op == validation {
		req.Header.Set("Content-Type", "application/json")
	} else {
		req.Body, req.ContentLength = nil, 0
	}
	req.Header.Set("User-Agent", "fiscope-conformance")
	switch r.key {
	case ownKey:
		req.Header["X-API-KEY"] = []string{s.key} // as in the contract: Set would change the case
	case badKey:
		req.Header["X-API-KEY"] = []string{unknownKey}
	}
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		return a, errors.Join(context.Cause(ctx), err)
	}
	defer resp.Body.Close()
	a = answer{status: resp.StatusCode, header: resp.Header, came: time.Now()}
	if resp.StatusCode == http.StatusSwitchingProtocols { // no body follows, and no context would end the read
		a.cut = errors.New("there is no body")
		return a, nil
	}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, mostRead))
	if err != nil {
		a.cut = fmt.Errorf("the body cannot be read to its end: %w", errors.Join(context.Cause(ctx), err))
	} else if len(a.body) == mostRead {
		a.cut = fmt.Errorf("the body has %d bytes or more", mostRead)
	}
	return a, nil
}
