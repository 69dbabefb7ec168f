package fiscope

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope/internal/broken"
	"github.com/fiscope/fiscope/internal/exchange"
	"github.com/fiscope/fiscope/internal/quota"
	"github.com/fiscope/fiscope/internal/scrub"
	"github.com/fiscope/fiscope/internal/solguard"
)

// sender is what all calls of a client share: where a request goes, what it carries, and the guards that
// it passes.
type sender struct {
	baseURL   string   // without a slash at the end
	base      *url.URL // the same, parsed
	apiKey    Secreto
	secrets   scrub.Secrets // the API key, as no text may show it
	userAgent string
	transport http.RoundTripper
	timeouts  timeouts // of an attempt
	maxBody   int64    // bytes of an answer
	lenient   bool
	clock     clock
	defaults  settings // of a call without options

	retry   exchange.Policy
	budget  exchange.Budget
	quota   *quota.Gate   // nil for none
	fleet   *fleet        // shares the quota; nil for none
	limiter *rate.Limiter // nil for none
	pacing  sync.Mutex    // held by a query that is shared, until its place at the limiter is sure
	sol     solGuard
	background
	observer observer
	hook     Hook // nil for none

	rateLimit atomic.Pointer[RateLimit] // as the last answer that had one showed it
}

// reading is how the answers to a call with these credentials, or none, are read.
func (s *sender) reading(sol *CredencialesSOL) reading {
	r := reading{lenient: s.lenient, apiKey: s.secrets}
	if sol != nil {
		r.clave = sol.Clave
	}
	return r
}

// lost tells of a panic that is raised nowhere. message is one of our constants.
func (s *sender) lost(message string, p *broken.Panic) {
	if s.observer.logger == nil {
		return
	}
	defer func() { _ = recover() }() // it may be the logger that panics
	value := s.secrets.Line(fmt.Sprint(p.Value))
	s.observer.logger.Error(message, "panic", value, "stack", string(p.Stack)) //nolint:sloglint // see above
}

// request is what an operation asks for.
type request struct {
	op      Operation
	path    string           // after the base URL, of characters that need no escape
	query   url.Values       // nil for none
	body    []byte           // JSON, sent by POST; nil for a GET
	sol     *CredencialesSOL // what the body holds that no output may show; nil for none
	invalid error            // the rule that the input breaks: then nothing is sent
}

// call is one operation under way.
type call struct {
	*sender
	ctx      context.Context
	request  request
	settings *settings
	progress *progress                  // nil where no other call shares this one
	read     func(*answer) (any, error) // what the operation makes of a success
	turn     *solTurn                   // of a validation that may be sent; nil otherwise
	timeout  time.Duration              // of an attempt
	start    time.Time
	took     time.Duration // once it ended

	answer answer // of the last attempt
	sent   exchange.Result
}

// progress is told what a call is about to do, for those who share it and may leave it.
type progress struct {
	// waits is told of a wait, and the error of whoever cannot wait so long. It returns whether anybody stays.
	waits func(soFar *call, wait time.Duration, err error) (stays bool)
	// leaves is told that an attempt leaves, and whether it may have been sent by now.
	leaves func(soFar *call, mayBeSent bool)
}

func newCall(ctx context.Context, s *sender, r request, set *settings) *call {
	c := &call{sender: s, ctx: ctx, request: r, settings: set, timeout: s.timeouts.get, start: time.Now()}
	if r.body != nil {
		c.timeout = s.timeouts.cpe
	}
	c.request.invalid = cmp.Or(r.invalid, set.invalid)
	if ctx == nil {
		c.ctx = context.Background()
		c.request.invalid = noContext()
	}
	return c
}

// httpRequest returns the request of an attempt. It has no GetBody: with one, net/http sends a validation
// again that an HTTP/2 server refused or a connection lost.
func (c *call) httpRequest() http.Request {
	target := *c.base
	target.Path += c.request.path
	if target.RawPath != "" {
		target.RawPath += c.request.path
	}
	if c.request.query != nil {
		target.RawQuery = c.request.query.Encode()
	}
	values := []string{c.apiKey.text(), c.userAgent, "application/json"}
	r := http.Request{
		Method: http.MethodGet, URL: &target, Host: target.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"X-Api-Key": values[0:1:1], "User-Agent": values[1:2:2], "Accept": values[2:3:3]},
	}
	if c.request.body != nil {
		r.Method, r.Header["Content-Type"] = http.MethodPost, values[2:3:3]
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(c.request.body)), int64(len(c.request.body))
	}
	return r
}

func (c *call) reading() reading { return c.sender.reading(c.request.sol) }

// unanswered is the call as a caller has it who left while it goes on.
func (c *call) unanswered(attempts int) *call {
	his := newCall(c.ctx, c.sender, c.request, c.settings)
	his.start, his.sent = c.start, exchange.Result{Attempts: attempts, MayBeSent: true}
	return his
}

// verdict says what the end of a validation proves of its credential. An answer that is a refusal counts
// however the call ended. A 401 that does not say what it refuses may mean the clave; one more try could
// be the one that blocks the user.
func (c *call) verdict(err error) solguard.Verdict {
	a := c.answer
	switch {
	case a.Refused:
		a.Status = http.StatusUnauthorized
	case a.Status == 0 && c.turn.sent:
		return solguard.Unanswered
	case a.Status == 0:
		return solguard.Unproven
	}
	err = cmp.Or(a.refusal(), err)
	switch {
	case err == nil && a.provesSOL:
		return solguard.Proven
	case errors.Is(err, ErrInvalidSOLCredentials):
		return solguard.Rejected
	case errors.Is(err, ErrQuotaExceeded) && a.Broken == nil: // a 401 that tells of the quota is not about the clave
		return solguard.Unproven
	case a.Refused && !namesReason(err):
		return solguard.Doubtful
	}
	return solguard.Unproven
}

// namesReason reports whether a refusal has a code, of which 401 is none.
func namesReason(err error) bool {
	var e *Error
	return !errors.As(err, &e) || strings.Trim(scrub.Visible(e.Code), "0123456789") != ""
}

// refuse ends an operation that is made of others before any of them, because of err.
func (s *sender) refuse(ctx context.Context, op Operation, err error) *Error {
	e := s.failed(op, err)
	if ctx == nil {
		ctx = context.Background()
	}
	s.observer.call(ctx, Event{Op: op, Avoided: avoidedBy(e), Err: e})
	return e
}

// failed is the error of an operation that is made of others.
func (s *sender) failed(op Operation, err error) *Error {
	e, _ := newError(err, s.clock)
	return circumstances{op: op, secrets: s.reading(nil).secrets()}.of(e)
}

// event is the attempt that was just made.
func (c *call) event(number int) Event {
	a := &c.answer
	e := Event{Op: c.request.op, Attempt: number, StatusCode: a.Status, Duration: a.Took, RateLimit: a.rateLimit, Warnings: a.warnings}
	switch {
	case a.Status != 0:
		e.Delivery = DeliveryAnswered
	case !a.Unsent:
		e.Delivery = DeliveryUnknown
	}
	if a.err != nil {
		e.Err = c.failure(a.err)
	}
	return e
}

// end takes note that the call has its result, or err.
func (c *call) end(err error) {
	c.took = time.Since(c.start)
	if err == nil {
		c.budget.Earn()
	}
}

// avoidance is the event of a call, which ended with err, that spent no query. It has no reason where it may
// have spent one.
func (c *call) avoidance(err error) Event {
	e := Event{Op: c.request.op, Duration: c.took, Err: err}
	if err != nil && c.sent.Attempts == 0 {
		e.Avoided = avoidedBy(err)
	}
	return e
}

// response is what the caller may know of a call that ended.
func (c *call) response() Response {
	return Response{
		StatusCode: c.answer.Status,
		Header:     c.reading().secrets().Header(c.answer.Header),
		RateLimit:  c.answer.rateLimit.copy(),
		Attempts:   c.sent.Attempts,
		Duration:   c.took,
		Warnings:   slices.Clone(c.answer.warnings),
	}
}

// failure makes what went wrong the error of the call.
func (c *call) failure(err error) *Error {
	err = withEndOf(c.ctx, err)
	e, classified := newError(err, c.clock)
	var byHand *Error
	if c.progress != nil || c.observer.watching() { // it may be the answer's own, of which others are told too
		own := *e
		e = &own
	}
	switch {
	case classified:
	case c.answer.Status != 0: // the wait after this answer was interrupted
		e.classifyAs(c.answer.err)
	case c.sent.Attempts == 0, c.cancelled() && errors.Is(err, context.Canceled):
		// The caller's own doing says nothing about the service.
	case c.ctx.Err() == nil && errors.As(c.answer.Err, &byHand) && byHand != nil: // a test's transport made it
		e.classifyAs(byHand)
	default:
		e.classifyAs(ErrUnavailable)
	}
	return c.circumstances().of(e)
}

// cancelled reports whether the call was given up. A query that is shared is cancelled when its last caller
// leaves: if he ran out of time, so did the query.
func (c *call) cancelled() bool {
	shared := c.progress != nil
	return c.ctx.Err() != nil && !(shared && errors.Is(context.Cause(c.ctx), context.DeadlineExceeded))
}

func (c *call) circumstances() circumstances {
	k := circumstances{op: c.request.op, attempts: c.sent.Attempts, secrets: c.reading().secrets()}
	switch {
	case c.answer.Status != 0:
		k.delivery, k.status, k.rateLimit, k.body = DeliveryAnswered, c.answer.Status, c.answer.rateLimit.copy(), c.answer.Body
		k.asked = c.answer.Began
		k.retryAfter, _ = exchange.RetryAfter(c.answer.Header, c.clock.now())
	case c.sent.MayBeSent:
		k.delivery = DeliveryUnknown
	}
	return k
}
