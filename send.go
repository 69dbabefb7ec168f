package fiscope

import (
	"cmp"
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"github.com/fiscope/fiscope/internal/exchange"
	"github.com/fiscope/fiscope/internal/quota"
)

// operation is one question to the service: what it sends, and how its answer is read.
type operation[T any] interface {
	request() request
	read(*answer) (T, error)
}

// send makes a call, and fills the caller's Response.
func send[T any, O operation[T]](ctx context.Context, s *sender, op O, set *settings) (T, error) {
	result, c, err := run(ctx, s, op, set, nil)
	c.observer.call(c.ctx, c.avoidance(err))
	if set.response != nil {
		*set.response = c.response()
	}
	return result, err
}

// run is the path of every request. It also returns the call, which has ended. progress, unless nil, is told
// what it is about to do.
func run[T any, O operation[T]](ctx context.Context, s *sender, op O, set *settings, progress *progress) (result T, _ *call, err error) {
	c := newCall(ctx, s, op.request(), set)
	c.progress = progress
	c.read = func(a *answer) (any, error) { return op.read(a) }
	if c, err = follow(c); err != nil {
		err = c.failure(err)
	} else {
		result = c.answer.result.(T)
	}
	c.end(err)
	return result, c, err
}

// follow takes a call from its input to its answer, and returns the call as its caller may have it. What
// can be refused here never leaves; a credential that is not proven goes alone, and outlives its caller.
func follow(c *call) (_ *call, err error) {
	if err = c.request.invalid; err != nil {
		return c, err
	}
	if c.request.sol == nil {
		return c, c.exchange()
	}
	waiting, cancel := c.settings.untilItLeaves(c.ctx)
	defer cancel()
	if c.turn, err = c.sol.enter(waiting, c.request.sol); err != nil {
		return c, tooLate(c.ctx, waiting, err)
	}
	if c.turn.here.Alone() {
		return outlive(c, c.learn)
	}
	return c, c.learn()
}

// learn makes the attempts of a validation, and takes note of what came of its credential.
func (c *call) learn() (err error) {
	defer func() { c.turn.leave(c.ctx, c.verdict(err)) }()
	return c.exchange()
}

// exchange makes attempts until one is answered or another makes no sense. Its error is what is wrong with
// the answer that counts, or why there is none.
func (c *call) exchange() (err error) {
	loop := exchange.Loop{Policy: c.retry, Budget: &c.budget, Post: c.request.body != nil, Attempt: c.attempt, Now: c.clock}
	if c.progress != nil {
		loop.Waiting = c.waiting
	}
	if c.sent, err = loop.Run(c.ctx); err != nil {
		return err
	}
	return c.answer.err
}

// attempt is one attempt: behind the quota of this process and of the fleet, and the limiter, whose waits
// do not count into its time.
func (c *call) attempt(ctx context.Context, number int) (a exchange.Answer, err error) {
	waiting, cancel := c.settings.untilItLeaves(ctx)
	defer cancel()
	defer func() { err = tooLate(ctx, waiting, err) }()
	ticket, err := c.quota.Enter(waiting, c.settings.reserve)
	if err != nil {
		return a, refusedBy(err, number)
	}
	var outcome quota.Outcome
	defer func() { c.quota.Leave(ticket, outcome) }()
	reservation, err := c.reserve(waiting)
	if err != nil {
		outcome = heldBack(err)
		return a, refusedBy(err, number)
	}
	var told *RateLimit
	defer func() {
		c.sender.fleet.settle(c.ctx, reservation, Outcome{Written: a.Written, StatusCode: a.Status, RateLimit: told})
	}()
	if err := c.pace(waiting); err != nil {
		return a, err
	}
	sending := ctx
	if c.turn != nil {
		if err := c.turn.maySend(waiting); err != nil {
			return a, err
		}
		if sending, err = c.turn.depart(ctx); err != nil {
			return a, err
		}
	}
	a.Written = 1 // for all that is known, should the transport panic
	r := c.httpRequest()
	a = exchange.Once(sending, c.transport, &r, c.timeout, c.maxBody, c.leaving(number))
	a.Err = notOurs(a.Err)
	if c.turn != nil {
		c.turn.returned(c.ctx, a)
	}
	c.take(a, number)
	outcome = c.answer.outcome(ticket.Look, c.clock)
	if reservation != nil {
		told = c.answer.told(c.clock)
	}
	c.tell(number)
	return a, nil
}

// take takes what an attempt brought, and reads it: it is a result only when it is the contract's.
func (c *call) take(a exchange.Answer, number int) {
	c.sent = exchange.Result{Attempts: number, MayBeSent: c.sent.MayBeSent || !a.Unsent}
	c.answer = newAnswer(a, c.reading(), c.clock.fromReal(a.At))
	if c.answer.err = a.Err; c.answer.err == nil {
		c.answer.err = c.answer.refusal()
	}
	if c.answer.err == nil {
		c.answer.result, c.answer.err = c.read(&c.answer)
	}
}

// tell tells of the attempt that was just made.
func (c *call) tell(number int) {
	if c.answer.rateLimit != nil {
		c.rateLimit.Store(c.answer.rateLimit)
	}
	c.observer.attempt(number, c.answer.Written)
	if c.observer.watching() {
		c.observer.event(c.ctx, c.event(number))
	}
}

// tooLate returns why an attempt did not leave, which waited in the context waiting of its call's ctx.
func tooLate(ctx, waiting context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && waiting.Err() != nil && ctx.Err() == nil {
		return errNoTimeLeft
	}
	return err
}

// reserve asks the fleet for a query. Of the callers who share it, those with the deadline of the one who began it,
// or an earlier one, leave where that keeps the Store from saying whether there is one.
func (c *call) reserve(ctx context.Context) (*Reservation, error) {
	r, err := c.sender.fleet.reserve(ctx, c.settings.deadlineOf(ctx), c.settings.reserve)
	if c.progress == nil || !errors.Is(err, errNoTimeLeft) || !c.progress.waits(c, time.Until(c.settings.deadline), err) {
		return r, err
	}
	return c.sender.fleet.reserve(ctx, time.Time{}, c.settings.reserve)
}

// pace waits for the limiter. Where the context's deadline comes first it says so at once, in the
// context's own terms.
func (c *call) pace(ctx context.Context) error {
	if c.limiter == nil {
		return ctx.Err()
	}
	if c.progress != nil {
		return c.paceOfMany(ctx)
	}
	err := c.limiter.Wait(ctx)
	if err != nil && ctx.Err() == nil {
		return errNoTimeLeft
	}
	return err
}

// paceOfMany waits for the limiter with the callers of a query whose deadlines allow it.
func (c *call) paceOfMany(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	place, wait := c.takePlace()
	if place == nil {
		return errNoTimeLeft
	}
	if wait == 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		place.Cancel()
		return ctx.Err()
	}
}

// takePlace takes the limiter's next place, and returns how far ahead it is; nil where none of the callers waits
// so long. One that is given back is free again only where no other was taken meanwhile.
func (c *call) takePlace() (*rate.Reservation, time.Duration) {
	c.sender.pacing.Lock()
	defer c.sender.pacing.Unlock()
	place := c.limiter.Reserve()
	wait := place.Delay()
	if wait == 0 || c.progress.waits(c, wait, errors.Join(c.answer.Err, errNoTimeLeft)) {
		return place, wait
	}
	place.Cancel()
	return nil, 0
}

// waiting tells of a wait before the next attempt.
func (c *call) waiting(wait time.Duration, soFar exchange.Result, err error) {
	c.sent = soFar
	c.progress.waits(c, wait, cmp.Or(err, c.answer.err))
}

// leaving returns what is told whether an attempt that leaves may have been received; nil where nobody shares
// the call. What was answered before it is the answer no more.
func (c *call) leaving(number int) func(mayBeSent bool) {
	if c.progress == nil {
		return nil
	}
	return func(mayBeSent bool) {
		soFar := *c
		soFar.sent = exchange.Result{Attempts: number, MayBeSent: c.sent.MayBeSent || mayBeSent}
		soFar.answer = answer{}
		c.progress.leaves(&soFar, mayBeSent)
	}
}
