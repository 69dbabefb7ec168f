package fiscope

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fiscope/fiscope/internal/roundtrip"
	"github.com/fiscope/fiscope/internal/solguard"
)

// sender is the last layer: it sends one request and reads its answer.
type sender struct {
	base         *url.URL // without a trailing slash
	apiKey       Secreto
	userAgent    string
	transport    http.RoundTripper
	bound        time.Duration // the Timeout of the caller's http.Client; 0 for none
	lenient      bool
	report       *reporter
	sol          *solguard.Guard // learns whether lookups are refused too
	serviceClock *serviceClock   // learns the Date of each answer

	quota usage
}

func (s *sender) ask(ctx context.Context, q *question) (*answer, error) {
	err := ctx.Err()
	if q.background != nil {
		err = q.background.markSent(ctx)
	}
	if err != nil {
		return nil, err
	}
	limits := roundtrip.Limits{Timeout: q.set.timeout, MaxBytes: maxBody, Finish: q.background != nil}
	if q.request.sol != nil {
		limits.Timeout = q.set.cpeTimeout
	}
	if s.bound > 0 {
		limits.Timeout = min(limits.Timeout, s.bound)
	}
	number := s.quota.begin()
	a := &answer{Answer: roundtrip.Send(ctx, s.transport, s.signed(q), limits), attempts: q.attempt}
	switch {
	case a.Status != 0:
		a.delivery, a.source = DeliveryAnswered, SourceService
	case q.sent || !a.Unsent:
		a.delivery = DeliveryUnknown
	}
	s.serviceClock.record(a.Date, a.At)
	sol := q.request.sol != nil
	a.reading = reading{lenient: s.lenient, sol: sol, secrets: q.secrets, left: q.left, now: s.report.clock.now()}
	if a.read(q.input.read); a.outcome == found || a.outcome == notFound {
		a.asOf = a.reading.now.Round(0) // the monotonic clock stands still while a machine sleeps
		s.report.observer.accepted.Store(true)
	}
	s.quota.end(number, a.rateLimit, a.Unsent)
	if a.Status != 0 && !(sol && a.outcome == unexplained) { // otherwise it says nothing
		s.sol.KeyRefused.Store(!sol && a.Status == http.StatusUnauthorized && (a.outcome == unexplained || a.outcome == keyRefused))
	}
	return a, nil
}

// attemptHeader carries the number of the attempt, for a test server.
const attemptHeader = "Fiscope-Attempt"

// signed returns the request of an attempt, with the API key and the body. It has no GetBody: with one, net/http would
// repeat a validation by itself when an HTTP/2 server refuses it or a connection breaks.
func (s *sender) signed(q *question) *http.Request {
	target := *s.base
	target.Path += q.request.path
	if target.RawPath != "" {
		target.RawPath += q.request.path
	}
	if q.request.query != nil {
		target.RawQuery = q.request.query.Encode()
	}
	r := &http.Request{Method: http.MethodGet, URL: &target, Host: target.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	values := []string{s.apiKey.text(), s.userAgent, "application/json"} // in one allocation
	r.Header = http.Header{"X-Api-Key": values[0:1:1], "User-Agent": values[1:2:2], "Accept": values[2:3:3]}
	maps.Copy(r.Header, q.set.header)
	if q.attempt > 1 {
		r.Header[attemptHeader] = []string{strconv.Itoa(q.attempt)}
	}
	if q.request.body != nil {
		r.Method = http.MethodPost
		r.Header["Content-Type"] = values[2:3:3]
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(q.request.body)), int64(len(q.request.body))
	}
	return r
}
