package fiscope

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// RetryPolicy says what is tried again. Begin with [DefaultRetryPolicy] and change a field.
//
// A GET is tried again after a 502, 503 or 504, a 500 (once), a connection that failed or an answer that
// broke off, and a 429 that says to come back within MaxRetryAfter. A name that does not exist, a TLS
// failure and every other status are final. The waits are random parts of a span that doubles (full
// jitter), after whatever the service asked for with Retry-After; a wait that is longer than
// MaxRetryAfter or than the context allows ends the call at once with the service's error.
//
// All calls of a Client share a budget: an outage is met with at most ten retries, and every call that
// succeeds earns a tenth of one.
type RetryPolicy struct {
	MaxRetries      int           // how often an attempt is repeated: 0 for never
	Base            time.Duration // the span of the first wait, above 0
	Cap             time.Duration // the longest span, at least Base
	MaxRetryAfter   time.Duration // the longest Retry-After that is waited for
	RetryUnsentPOST bool          // repeat a receipt validation that provably was not sent: never another one
}

// DefaultRetryPolicy returns 2 retries, with spans from 250 ms to 4 s and a Retry-After of up to 10 s,
// and none of a receipt validation.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{MaxRetries: 2, Base: 250 * time.Millisecond, Cap: 4 * time.Second, MaxRetryAfter: 10 * time.Second}
}

// WithRetry sets what is tried again.
func WithRetry(p RetryPolicy) Option {
	return option(func(c *Client) error {
		if p.MaxRetries < 0 || p.Base <= 0 || p.Cap < p.Base || p.MaxRetryAfter < 0 {
			return fmt.Errorf("fiscope: WithRetry: want MaxRetries >= 0, Base > 0, Cap >= Base and MaxRetryAfter >= 0, got %+v: begin with DefaultRetryPolicy()", p)
		}
		c.retry = p
		return nil
	})
}

// shouldRetry decides from the call's own answer; the loop itself sees to the context.
func (c *call) shouldRetry(context.Context, *http.Response, error) (bool, error) {
	p := c.client.retry
	retry := c.stopped == nil && c.attempts <= p.MaxRetries && c.repeatable() && c.passing() && c.waitFits() && c.client.budget.take()
	return retry, nil
}

// repeatable: a lookup changes nothing. A validation that was received twice can be two refusals of the
// same clave.
func (c *call) repeatable() bool {
	return c.request.body == nil || c.client.retry.RetryUnsentPOST && !c.mayBeSent
}

// passing reports whether the failure may pass by itself.
func (c *call) passing() bool {
	switch c.answer.status {
	case 0:
		return passing(c.answer.err)
	case http.StatusOK:
		return brokeOff(c.answer.broken)
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	case http.StatusInternalServerError: // once: it may also be the answer to this very request
		c.internalErrors++
		return c.internalErrors == 1
	case http.StatusTooManyRequests:
		_, asked := parseRetryAfter(c.answer.header, time.Now())
		return asked
	}
	return false
}

// brokeOff reports whether an answer ended too soon, as a connection does. One that is too long, or no
// gzip, would be so again.
func brokeOff(err error) bool {
	var network net.Error
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}

// passing: a name that does not exist and a certificate that is wrong stay so.
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

// waitFits draws the wait before the next attempt, and reports whether it is worth beginning.
func (c *call) waitFits() bool {
	p := c.client.retry
	span := p.Cap
	if doubled := p.Base << min(c.attempts-1, 16); doubled > 0 && doubled < p.Cap {
		span = doubled
	}
	asked, _ := parseRetryAfter(c.answer.header, time.Now())
	c.wait = asked + rand.N(span+1)
	deadline, bounded := c.ctx.Deadline()
	return asked <= p.MaxRetryAfter && (!bounded || time.Until(deadline) > c.wait)
}

func (c *call) backoff(time.Duration, time.Duration, int, *http.Response) time.Duration {
	return c.wait
}

// retryBudget is a token bucket that keeps retries from multiplying an outage.
type retryBudget struct {
	mu    sync.Mutex
	spent float64
}

const (
	budgetSize   = 10
	budgetEarned = 0.1
)

func (b *retryBudget) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spent > budgetSize-1 {
		return false
	}
	b.spent++
	return true
}

func (b *retryBudget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = max(0, b.spent-budgetEarned)
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
	if strings.Trim(text, "0123456789.+-") == "" {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, false
		}
		return time.Duration(max(0, min(seconds, longest.Seconds())) * float64(time.Second)), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(at.Sub(now), longest)), true
	}
	return 0, false
}
