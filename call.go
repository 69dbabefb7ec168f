package fiscope

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Operation names an operation in errors, as in "Contribuyentes.Consultar".
type Operation string

// The operations. The two of the exchange rate are one of the service's.
const (
	OpConsultarContribuyente Operation = "Contribuyentes.Consultar"
	OpBuscarContribuyentes   Operation = "Contribuyentes.Buscar"
	OpValidarCPE             Operation = "CPE.Validar"
	OpConsultarTipoCambio    Operation = "TipoCambio.Consultar"
	OpTipoCambioHoy          Operation = "TipoCambio.Hoy"
)

// request is what an operation asks for.
type request struct {
	op      Operation
	path    string           // after the base URL, escaped
	query   url.Values       // nil for none
	body    []byte           // JSON, sent by POST; nil for a GET
	sol     *CredencialesSOL // what the body holds that no output may show; nil for none
	invalid error            // the rule that the input breaks: then nothing is sent
}

// call is one operation under way. It is the RoundTripper of its own attempts, so that each of them
// passes the same guards.
type call struct {
	client   *Client
	ctx      context.Context
	request  request
	settings settings
	timeout  time.Duration // of an attempt
	start    time.Time

	attempts       int
	answer         answer        // of the last attempt
	mayBeSent      bool          // some attempt may have reached the service
	stopped        error         // why another attempt was not made
	wait           time.Duration // before the next attempt
	internalErrors int           // answers with status 500
	loop           retryablehttp.Client
	http           http.Client
}

func newCall(ctx context.Context, c *Client, r request, s settings) *call {
	call := &call{client: c, ctx: ctx, request: r, settings: s, timeout: c.timeouts.get, start: time.Now()}
	if r.body != nil {
		call.timeout = c.timeouts.cpe
	}
	call.request.invalid = cmp.Or(r.invalid, s.invalid)
	if ctx == nil {
		call.ctx = context.Background()
		call.request.invalid = invalid("the context is nil: pass context.Background() if there is none")
	}
	return call
}

// exchange runs the retry loop until there is an answer or no sense in another attempt.
func (c *call) exchange() error {
	req, err := c.httpRequest()
	if err != nil {
		return err
	}
	c.http = http.Client{Transport: c}
	c.loop = retryablehttp.Client{
		HTTPClient:   &c.http,
		RetryMax:     c.client.retry.MaxRetries,
		CheckRetry:   c.shouldRetry,
		Backoff:      c.backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	resp, err := c.loop.Do(req)
	if err == nil {
		return resp.Body.Close() // it was read within its attempt
	}
	// The loop's own error carries the URL. What it can say is known here.
	err = c.answer.err
	if refused := (*Error)(nil); errors.As(c.stopped, &refused) && c.attempts > 0 {
		c.stopped = nil // a retry that the quota does not allow: what counts is what came before
	}
	for _, reason := range []error{c.stopped, c.ctx.Err(), context.Cause(c.ctx)} {
		if reason != nil && !errors.Is(err, reason) {
			err = errors.Join(err, reason)
		}
	}
	return err
}

func (c *call) httpRequest() (*retryablehttp.Request, error) {
	method, target := http.MethodGet, c.client.baseURL+c.request.path
	if c.request.query != nil {
		target += "?" + c.request.query.Encode()
	}
	if c.request.body != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(c.ctx, method, target, nil)
	if err != nil {
		return nil, err
	}
	values := []string{c.client.apiKey.text(), c.client.userAgent, "application/json"}
	r.Header["X-Api-Key"] = values[0:1:1]
	r.Header["User-Agent"] = values[1:2:2]
	r.Header["Accept"] = values[2:3:3]
	req := &retryablehttp.Request{Request: r}
	if c.request.body == nil {
		return req, nil
	}
	r.Header.Set("Content-Type", "application/json")
	return req, req.SetBody(c.request.body)
}

// RoundTrip is one attempt, behind the quota gate and the limiter, whose waits do not count into its
// time. What goes back, always a bare 200, keeps net/http from acting on the answer: a redirect is an
// answer like any other.
func (c *call) RoundTrip(r *http.Request) (*http.Response, error) {
	var got answer
	wire := new(wire)
	ticket, err := c.client.quota.enter(r.Context(), c.settings.reserve)
	if err != nil {
		c.stopped = err
		return nil, err
	}
	defer func() { c.client.quota.leave(ticket, wire.written(), &got) }()
	reservation, err := c.reserve(r.Context())
	if err != nil {
		wire.unsent, c.stopped = true, err
		return nil, err
	}
	defer func() { c.settle(reservation, wire.written(), &got) }()
	if err := c.waitTurn(r.Context()); err != nil {
		wire.unsent, c.stopped = true, err
		return nil, err
	}
	got = c.attempt(r, wire)
	if got.err != nil {
		return nil, got.err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// attempt sends the request once, and reads the answer within the attempt's time. The call keeps it,
// since the retry loop drops it when its wait is interrupted.
func (c *call) attempt(r *http.Request, wire *wire) answer {
	c.attempts++
	start := time.Now()
	ctx, cancel := context.WithTimeout(r.Context(), c.timeout)
	defer cancel()
	resp, err := c.client.transport.RoundTrip(r.WithContext(wire.watch(ctx)))
	wire.end(ctx, err)
	c.mayBeSent = c.mayBeSent || !wire.unsent
	if c.answer = (answer{call: c, err: err}); err == nil {
		c.answer.receive(resp, c.client.maxBody)
	}
	if c.answer.rateLimit != nil {
		c.client.rateLimit.Store(c.answer.rateLimit)
	}
	c.attempted(wire, time.Since(start))
	return c.answer
}

// waitTurn waits for the limiter. Where the context's deadline comes first it says so at once, in the
// context's own terms.
func (c *call) waitTurn(ctx context.Context) error {
	err := c.client.limiter.Wait(ctx)
	if err != nil && ctx.Err() == nil {
		return context.DeadlineExceeded
	}
	return err
}

// delivery says whether the service can have received the call.
func (c *call) delivery() Delivery {
	switch {
	case c.answer.status != 0:
		return Answered
	case c.mayBeSent:
		return Unknown
	}
	return NotSent
}

// failure adds the circumstances of the call to what went wrong.
func (c *call) failure(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = c.unanswered(err)
	}
	e.Op = c.request.op
	e.Attempts = c.attempts
	e.Delivery = c.delivery()
	if e.Delivery == Answered {
		e.StatusCode = c.answer.status
		e.RateLimit = c.answer.rateLimit.copy()
		e.RetryAfter, _ = parseRetryAfter(c.answer.header, time.Now())
		e.body = c.scrubber().body(c.answer.body)
	}
	e.Code, e.Message = c.scrubber().line(e.Code), c.scrubber().line(e.Message)
	if e.cause != nil {
		e.cause = &safeCause{e.cause, c.scrubber().line(e.cause.Error())}
	}
	return e
}

// unanswered is the error of a call to which no usable answer came.
func (c *call) unanswered(err error) *Error {
	e := &Error{cause: err}
	switch {
	case c.answer.status != 0: // the wait after this answer was interrupted
		if refused := (*Error)(nil); errors.As(c.answer.refusal(), &refused) {
			e.kind, e.Code, e.Message = refused.kind, refused.Code, refused.Message
		}
	case c.attempts == 0, c.ctx.Err() != nil && errors.Is(err, context.Canceled):
		// The caller's own doing says nothing about the service.
	default:
		e.kind = ErrUnavailable
	}
	return e
}

func (c *call) scrubber() scrubber {
	s := scrubber{[]Secreto{c.client.apiKey}}
	if c.request.sol != nil {
		s.secrets = append(s.secrets, c.request.sol.Clave)
	}
	return s
}

// safeCause is an error of net/http: what it is can be asked, what it says is cleaned.
type safeCause struct {
	err  error
	text string
}

func (s *safeCause) Error() string        { return s.text }
func (s *safeCause) Is(target error) bool { return errors.Is(s.err, target) }
func (s *safeCause) As(target any) bool   { return errors.As(s.err, target) }
