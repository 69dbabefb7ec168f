package fiscope

import (
	"cmp"
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
type Option interface{ applyToClient(*Client) error }

// CallOption sets something of one call. A wrong value makes the call fail; nothing is sent.
type CallOption interface{ applyToCall(*settings) error }

type option func(*Client) error

func (o option) applyToClient(c *Client) error { return o(c) }

type callOption func(*settings) error

func (o callOption) applyToCall(s *settings) error { return o(s) }

// settings are what the options of a call decide.
type settings struct {
	response *Response // to be filled; nil for none
	reserve  int       // queries that are left to others
	fresh    bool      // the cache does not answer
	learned  *learned  // to be filled, for the cache; nil for none
	invalid  error     // an option's wrong value
}

func (c *Client) settings(opts []CallOption) settings {
	if len(opts) == 0 {
		return settings{reserve: c.reserve}
	}
	s := &settings{reserve: c.reserve}
	for _, opt := range opts {
		err := invalid("an option of the call is nil")
		if opt != nil {
			err = opt.applyToCall(s)
		}
		s.invalid = cmp.Or(s.invalid, err)
	}
	return *s
}

type timeouts struct{ get, cpe time.Duration }

var defaultTimeouts = timeouts{get: 10 * time.Second, cpe: 30 * time.Second}

// WithHTTPClient makes the calls with the transport and the timeout of hc, for a proxy, a CA or a
// tracer of your own. hc itself is not changed. Its CheckRedirect and its Jar do not apply: redirects
// are never followed, and the service has no cookies. Its Timeout, if set, bounds each attempt where it
// is shorter than ours.
func WithHTTPClient(hc *http.Client) Option {
	return option(func(c *Client) error {
		if hc == nil {
			return errors.New("fiscope: WithHTTPClient: the client is nil")
		}
		c.transport = hc.Transport
		if c.transport == nil {
			c.transport = http.DefaultTransport
		}
		c.attemptLimit = hc.Timeout
		return nil
	})
}

// WithUserAgent sends ua as the User-Agent instead of "fiscope-go/VERSION".
func WithUserAgent(ua string) Option {
	return option(func(c *Client) error {
		if strings.TrimSpace(ua) == "" || strings.ContainsFunc(ua, func(r rune) bool { return r < ' ' || r > '~' }) {
			return fmt.Errorf("fiscope: WithUserAgent: want printable ASCII, got %q", cut(ua, 40))
		}
		c.userAgent = ua
		return nil
	})
}

// WithRateLimit lets at most limit attempts a second leave, and burst at once. By default nothing is
// limited. A wait that the context's deadline does not allow ends the call at once, not sent.
func WithRateLimit(limit rate.Limit, burst int) Option {
	return option(func(c *Client) error {
		if limit <= 0 || math.IsNaN(float64(limit)) || burst < 1 {
			return fmt.Errorf("fiscope: WithRateLimit: want a limit above 0 and a burst of at least 1, got %v and %d", limit, burst)
		}
		c.limiter = rate.NewLimiter(limit, burst)
		return nil
	})
}

// WithTimeout bounds each attempt: that of a GET, 10 seconds by default, and that of a receipt
// validation, 30 seconds by default, since the tax authority can be slow. The context bounds the call
// as a whole, with its retries and waits.
func WithTimeout(get, cpe time.Duration) Option {
	return option(func(c *Client) error {
		if get <= 0 || cpe <= 0 {
			return fmt.Errorf("fiscope: WithTimeout: want more than 0, got %s and %s", get, cpe)
		}
		c.timeouts = timeouts{get: get, cpe: cpe}
		return nil
	})
}

// WithInsecureHTTP accepts a base URL with plain http to any host. Whoever is on the way reads the API
// key and the clave: it is for a private network whose transport is encrypted otherwise.
func WithInsecureHTTP() Option {
	return option(func(c *Client) error {
		c.insecure = true
		return nil
	})
}

// WithMaxResponseBytes sets how much of an answer is read at most, after decompression: 1 MiB by
// default. A longer answer is [ErrMalformedResponse].
func WithMaxResponseBytes(n int64) Option {
	return option(func(c *Client) error {
		if n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("fiscope: WithMaxResponseBytes: want 1 to %d, got %d", math.MaxInt32, n)
		}
		c.maxBody = n
		return nil
	})
}

// WithLenientReading turns the contradictions of an answer (a RUC, a date or a currency other than the
// one asked for, a code and a status that exclude each other) into warnings of its Response. It is for
// the day on which the service drifts from its contract, and for whoever reads the warnings.
func WithLenientReading() Option {
	return option(func(c *Client) error {
		c.lenient = true
		return nil
	})
}

// WithStrictRUC makes Consultar refuse a RUC, and Validar refuse its rucEmisor and rucSolicitante, that
// [ValidarRUC] does not accept, before a query is spent on it. The error is an [ErrInvalidRequest]. By
// default the client asks for 11 digits and no more, as the service does (service.md, 4.1): the registry
// is said to have rows with prefixes that this refuses.
func WithStrictRUC() Option {
	return option(func(c *Client) error {
		c.strictRUC = true
		return nil
	})
}

// WithResponse fills r with what is known of the call besides its result, also when the call fails.
func WithResponse(r *Response) CallOption {
	return callOption(func(s *settings) error {
		s.response = r
		return nil
	})
}
