package exchange

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryable reports whether an attempt failed in a way that may pass by itself.
func (a *Answer) retryable() bool {
	switch a.Status {
	case 0:
		return passing(a.Err)
	case http.StatusOK:
		return brokeOff(a.Broken)
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	case http.StatusTooManyRequests:
		_, asked := RetryAfter(a.Header, time.Now())
		return asked
	}
	return false
}

// passing reports whether a request that got no answer may get one the next time: a name that does not
// exist and a certificate that is wrong stay so.
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

// brokeOff reports whether a body ended too soon, as a connection does. One that is too long, or no
// gzip, would be so again.
func brokeOff(err error) bool {
	if err == nil {
		return false
	}
	var network net.Error
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}

// RetryAfter returns the wait that the header Retry-After asks for, and whether it could be read:
// whole seconds or one of the three forms of an HTTP date (RFC 9110, 10.2.3 and 5.6.7), and fractional
// seconds, which are seen. What lies in the past is no wait.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
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
