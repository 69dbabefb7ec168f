package fiscope

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

const (
	defaultUserAgent = "fiscope-go/0.1"
	defaultMaxBody   = 1 << 20
)

// Option sets something of a Client. A wrong value makes NewClient fail.
type Option func(*Client) error

// CallOption sets something of one call.
type CallOption func(*call)

type timeouts struct{ get, cpe time.Duration }

var defaultTimeouts = timeouts{get: 10 * time.Second, cpe: 30 * time.Second}

// WithHTTPClient makes the calls with the transport and the timeout of hc, for a proxy, a CA or a
// tracer of your own. hc itself is not changed. Its CheckRedirect and its Jar do not apply: redirects
// are never followed, and the service has no cookies. Its Timeout, if set, bounds each attempt where it
// is shorter than ours.
func WithHTTPClient(hc *http.Client) Option {
	return func(c *Client) error {
		if hc == nil {
			return errors.New("fiscope: WithHTTPClient: the client is nil")
		}
		c.transport = hc.Transport
		if c.transport == nil {
			c.transport = http.DefaultTransport
		}
		if hc.Timeout > 0 {
			c.timeouts = timeouts{get: min(c.timeouts.get, hc.Timeout), cpe: min(c.timeouts.cpe, hc.Timeout)}
		}
		return nil
	}
}

// WithUserAgent sends ua as the User-Agent instead of "fiscope-go/VERSION".
func WithUserAgent(ua string) Option {
	return func(c *Client) error {
		if strings.TrimSpace(ua) == "" || strings.ContainsFunc(ua, func(r rune) bool { return r < ' ' || r > '~' }) {
			return fmt.Errorf("fiscope: WithUserAgent: want printable ASCII, got %q", cut(ua, 40))
		}
		c.userAgent = ua
		return nil
	}
}

// WithRateLimit lets at most limit attempts a second leave, and burst at once. By default nothing is
// limited. A wait that the context's deadline does not allow ends the call at once, not sent.
func WithRateLimit(limit rate.Limit, burst int) Option {
	return func(c *Client) error {
		if limit <= 0 || math.IsNaN(float64(limit)) || burst < 1 {
			return fmt.Errorf("fiscope: WithRateLimit: want a limit above 0 and a burst of at least 1, got %v and %d", limit, burst)
		}
		c.limiter = rate.NewLimiter(limit, burst)
		return nil
	}
}

// WithResponse fills r with what is known of the call besides its result, also when the call fails.
func WithResponse(r *Response) CallOption {
	return func(c *call) { c.response = r }
}
