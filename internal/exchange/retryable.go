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
	if errors.Is(a.Broken, ErrHeaderTooLong) {
		return false
	}
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
// exist, a certificate that is wrong, headers that are too long and a transport that is at fault stay so.
func passing(err error) bool {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return false
	}
	return !failsTLS(err) && !errors.Is(err, ErrHeaderTooLong) && !errors.Is(err, errMisuse)
}

// failsTLS reports whether the two sides could not agree on a secure connection. An alert has no exported
// type of its own where it comes over TCP: there it stands in an OpError.
func failsTLS(err error) bool {
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	var op *net.OpError
	return errors.As(err, &record) || errors.As(err, &certificate) || errors.As(err, &alert) ||
		errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
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
	if strings.Trim(text, "0123456789.+-") == "" {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, false
		}
		return time.Duration(max(0, min(seconds, longestWait.Seconds())) * float64(time.Second)), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(untilDate(at, h, now), longestWait)), true
	}
	return 0, false
}

// longestWait is enough to mean "not now", and far from an overflow.
const longestWait = 365 * 24 * time.Hour

// untilDate returns how far ahead a date of an answer lies. It is one of the service's clock, which the
// answer's Date shows: ours may be hours apart. A Date that lies a year before it is of neither clock.
func untilDate(at time.Time, h http.Header, now time.Time) time.Duration {
	date, err := http.ParseTime(h.Get("Date"))
	if ahead := at.Sub(date); err == nil && -longestWait < ahead && ahead < longestWait {
		return ahead
	}
	return at.Sub(now)
}
