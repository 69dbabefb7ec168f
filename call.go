package fiscope

import (
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
	path    string     // after the base URL, escaped
	query   url.Values // nil for none
	body    []byte     // JSON, sent by POST; nil for a GET
	clave   Secreto    // what the body holds that no output may show
	invalid error      // the rule that the input breaks: then nothing is sent
}

// call is one operation under way. It is the RoundTripper of its own attempts, so that each of them
// passes the same guards.
type call struct {
	client   *Client
	ctx      context.Context
	request  request
	response *Response // the caller's, see WithResponse
	timeout  time.Duration
	start    time.Time

	attempts  int
	answer    answer // of the last attempt
	mayBeSent bool   // some attempt may have reached the service
	stopped   error  // why another attempt was not made
	loop      retryablehttp.Client
	attempt   http.Client
}

func newCall(ctx context.Context, c *Client, r request, opts []CallOption) *call {
	call := &call{client: c, ctx: ctx, request: r, timeout: c.timeouts.get, start: time.Now()}
	if r.body != nil {
		call.timeout = c.timeouts.cpe
	}
	for _, opt := range opts {
		opt(call)
	}
	return call
}

// exchange runs the retry loop until there is an answer or no sense in another attempt.
func (c *call) exchange() error {
	req, err := c.httpRequest()
	if err != nil {
		return err
	}
	c.attempt = http.Client{Transport: c}
	c.loop = retryablehttp.Client{
		HTTPClient:   &c.attempt,
		RetryMax:     c.client.retry.maxRetries,
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
	if c.ctx == nil {
		return nil, invalid("the context is nil: pass context.Background() if there is none")
	}
	r, err := http.NewRequestWithContext(c.ctx, method, target, nil)
	if err != nil {
		return nil, err
	}
	r.Header["X-Api-Key"] = []string{c.client.apiKey.text()}
	r.Header["User-Agent"] = []string{c.client.userAgent}
	r.Header["Accept"] = []string{"application/json"}
	req := &retryablehttp.Request{Request: r}
	if c.request.body == nil {
		return req, nil
	}
	r.Header["Content-Type"] = []string{"application/json"}
	return req, req.SetBody(c.request.body)
}

// RoundTrip is one attempt: its turn at the limiter, its own timeout, the request, and one bounded
// read. The answer is kept in the call, since the loop drops it when its wait is interrupted; what goes
// back, always a bare 200, keeps net/http from acting on it: a redirect is an answer like any other.
func (c *call) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.stopped = c.waitTurn(r.Context()); c.stopped != nil {
		return nil, c.stopped
	}
	c.attempts++
	ctx, cancel := context.WithTimeout(r.Context(), c.timeout)
	defer cancel()
	wire := new(wire)
	resp, err := c.client.transport.RoundTrip(r.WithContext(wire.watch(ctx)))
	c.mayBeSent = c.mayBeSent || err == nil || !wire.unsent(ctx)
	if err != nil {
		c.answer = answer{err: err}
		return nil, err
	}
	c.answer = receive(resp, c.client.maxBody)
	if c.answer.rateLimit != nil {
		c.client.rateLimit.Store(c.answer.rateLimit)
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
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
func (c *call) failure(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		e = c.unanswered(err)
	}
	e.Op = c.request.op
	e.Attempts = c.attempts
	e.Delivery = c.delivery()
	if e.Delivery == Answered {
		e.StatusCode = c.answer.status
		e.RateLimit = c.answer.rateLimit
		e.RetryAfter, _ = parseRetryAfter(c.answer.header, time.Now())
		e.body = c.scrubber().body(c.answer.body, c.answer.broken != nil)
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

func (c *call) scrubber() scrubber { return scrubber{[]Secreto{c.client.apiKey, c.request.clave}} }

// safeCause is an error of net/http: what it is can be asked, what it says is cleaned.
type safeCause struct {
	err  error
	text string
}

func (s *safeCause) Error() string        { return s.text }
func (s *safeCause) Is(target error) bool { return errors.Is(s.err, target) }
func (s *safeCause) As(target any) bool   { return errors.As(s.err, target) }
