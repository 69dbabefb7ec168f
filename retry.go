package fiscope

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

type retryPolicy struct {
	maxRetries int
	base, cap  time.Duration
}

var defaultRetryPolicy = retryPolicy{maxRetries: 2, base: 250 * time.Millisecond, cap: 4 * time.Second}

// shouldRetry decides from the call's own answer whether another attempt makes sense: for a GET that
// failed on the way, and never for a receipt validation, whose repetition can block a SOL user.
// The loop itself sees to the context.
func (c *call) shouldRetry(context.Context, *http.Response, error) (bool, error) {
	if c.stopped != nil || c.request.body != nil {
		return false, nil
	}
	switch c.answer.status {
	case 0:
		return passing(c.answer.err), nil
	case http.StatusOK:
		return c.answer.broken != nil && !errors.Is(c.answer.broken, errTooLong), nil
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, nil
	}
	return false, nil
}

// passing reports whether a failure to get an answer may pass by itself: a name that does not exist and
// a certificate that is wrong do not.
func passing(err error) bool {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return false
	}
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	return !errors.As(err, &record) && !errors.As(err, &certificate) && !errors.As(err, &alert)
}

// backoff waits a random part of a span that doubles (full jitter), so that the clients that failed
// together do not come back together.
func (c *call) backoff(_, _ time.Duration, retry int, _ *http.Response) time.Duration {
	p := c.client.retry
	span := p.cap
	if shifted := p.base << min(retry, 16); shifted < p.cap {
		span = shifted
	}
	return rand.N(span + 1)
}

// parseRetryAfter returns the wait that the header Retry-After asks for, and whether it could be read:
// whole seconds or one of the three forms of an HTTP date (RFC 9110, 10.2.3 and 5.6.7), and fractional
// seconds, which are seen. What lies in the past is no wait.
func parseRetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0, false
	}
	const longest = 365 * 24 * time.Hour // enough to mean "not now", and far from an overflow
	if seconds, err := strconv.ParseFloat(text, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		if seconds != seconds {
			return 0, false
		}
		return time.Duration(max(0, min(seconds, longest.Seconds())) * float64(time.Second)), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(at.Sub(now), longest)), true
	}
	return 0, false
}
