package fiscope

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/fiscope/fiscope/internal/exchange"
	"github.com/fiscope/fiscope/internal/quota"
)

// operation is one question to the service: what it sends, and how its answer is read.
type operation[T any] interface {
	request() request
	read(*answer) (T, error)
}

// send makes a call, and fills the caller's Response.
func send[T any, O operation[T]](ctx context.Context, s *sender, op O, set settings) (T, error) {
	result, c, err := run(ctx, s, op, set, nil)
	c.observer.call(c.ctx, c.request.op, c.avoided(err), c.took)
	if set.response != nil {
		*set.response = c.response()
	}
	return result, err
}

// run is the path of every request. It also returns the call, which has ended. told, unless nil, is told
// what it is about to do.
func run[T any, O operation[T]](ctx context.Context, s *sender, op O, set settings, told progress) (result T, _ *call, err error) {
	c := newCall(ctx, s, op.request(), set)
	c.told = told
	if result, err = follow(c, op.read); err != nil {
		var none T
		result, err = none, c.failure(err)
	}
	c.end(err)
	return result, c, err
}

// follow takes a call from its input to its result. What can be refused here never leaves; a credential
// that is not proven goes alone; and what comes back is a result only when it is the contract's.
func follow[T any](c *call, read func(*answer) (T, error)) (result T, err error) {
	if err = c.request.invalid; err != nil {
		return result, err
	}
	leave, err := c.sol.enter(c.ctx, c.request.sol, c.timeout)
	if err != nil {
		return result, err
	}
	defer func() { leave(c.verdict(err)) }()
	if err = c.exchange(); err != nil {
		return result, err
	}
	if err = c.answer.refusal(); err != nil {
		return result, err
	}
	return read(&c.answer)
}

// exchange makes attempts until one is answered or another makes no sense.
func (c *call) exchange() error {
	r, err := c.httpRequest()
	if err != nil {
		return err
	}
	loop := exchange.Loop{Policy: c.retry, Budget: &c.budget, Attempt: c.attempt}
	if c.told != nil {
		loop.Waiting = c.waiting
	}
	c.sent, err = loop.Run(r, c.request.body)
	var spent *quota.Spent
	if kept := c.sent.Kept; kept != nil && !(errors.As(kept, &spent) && c.sent.Attempts > 0) && !errors.Is(err, kept) {
		err = errors.Join(err, kept) // but of a retry that the quota does not allow, what came before counts
	}
	return err
}

// attempt is one attempt: behind the quota of this process and of the fleet, and the limiter, whose waits
// do not count into its time.
func (c *call) attempt(r *http.Request, number int) (a exchange.Answer, err error) {
	ticket, err := c.quota.Enter(r.Context(), c.settings.reserve)
	if err != nil {
		return a, err
	}
	var seen *RateLimit
	defer func() {
		c.quota.Leave(ticket, quota.Outcome{Written: a.Written, Status: a.Status, Headers: (*quota.Headers)(seen)})
	}()
	reservation, err := c.sender.fleet.reserve(r.Context(), c.settings.reserve)
	if err != nil {
		return a, err
	}
	defer func() {
		c.sender.fleet.settle(c.ctx, reservation, Outcome{Written: a.Written, StatusCode: a.Status, RateLimit: seen.copy()})
	}()
	if err := c.pace(r.Context()); err != nil {
		return a, err
	}
	c.sending(number)
	a = exchange.Once(c.transport, r, c.timeout, c.maxBody)
	seen = c.take(a, number)
	return a, nil
}

// take makes an attempt's answer that of the call, tells of it, and returns the quota that it shows.
func (c *call) take(a exchange.Answer, number int) *RateLimit {
	c.answer = newAnswer(a, c.reading(), time.Now())
	if c.answer.rateLimit != nil {
		c.rateLimit.Store(c.answer.rateLimit)
	}
	c.observer.attempt(number, a.Written)
	if c.observer.watching() {
		c.observer.event(c.ctx, c.event(number))
	}
	return c.answer.rateLimit
}

// pace waits for the limiter. Where the context's deadline comes first it says so at once, in the
// context's own terms.
func (c *call) pace(ctx context.Context) error {
	if c.told != nil {
		return c.paceOfMany(ctx)
	}
	err := c.limiter.Wait(ctx)
	if err != nil && ctx.Err() == nil {
		return context.DeadlineExceeded
	}
	return err
}

// paceOfMany waits for the limiter with the callers of a query whose deadlines allow it.
func (c *call) paceOfMany(ctx context.Context) error {
	turn := c.limiter.Reserve()
	wait := turn.Delay()
	if wait == 0 {
		return ctx.Err()
	}
	c.told(c, wait, context.DeadlineExceeded)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		turn.Cancel()
		return ctx.Err()
	}
}

// waiting tells of a wait before the next attempt.
func (c *call) waiting(wait time.Duration, soFar exchange.Result, err error) {
	c.sent = soFar
	c.told(c, wait, cmp.Or(err, c.answer.refusal()))
}

// sending tells that an attempt leaves: from now on it may have been received, and what was answered
// before it is the answer no more.
func (c *call) sending(number int) {
	if c.told == nil {
		return
	}
	soFar := *c
	soFar.sent = exchange.Result{Attempts: number, MayBeSent: true}
	soFar.answer = answer{}
	c.told(&soFar, 0, nil)
}
