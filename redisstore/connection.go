package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	tryAgain = 100 * time.Millisecond  // how often Redis is asked while it is away
	patience = 1030 * time.Millisecond // for how long a query's reservation is asked for again: more than a second
	settling = time.Second             // for how long a Redis that was stopped is not believed that nothing is left
)

// Why there is no answer of Redis.
var (
	errAway    = errors.New("redisstore: Redis is away")
	errForeign = errors.New("redisstore: not an answer of these scripts")
	errSlow    = errors.New("redisstore: Redis has not answered within the time of WithTimeout")
)

// isAway reports whether an error says that Redis is away. An error that Redis replied concerns a key, but for
// two.
func isAway(err error) bool {
	var replied redis.Error
	if err == nil || errors.Is(err, errForeign) {
		return false
	}
	return !errors.As(err, &replied) || redis.IsLoadingError(err) || redis.IsReadOnlyError(err)
}

// connection is the way to Redis. It knows whether Redis answers, so that one that is away costs the time of
// one call, and not of every one.
type connection struct {
	client  redis.UniversalClient
	keys    keys
	timeout time.Duration
	log     *slog.Logger

	mu       sync.Mutex
	away     bool
	next     time.Time     // when it is tried again
	answered time.Time     // the last time
	late     time.Time     // the last time that a call ended for which nobody waited any longer
	calls    int           // under way
	idles    chan struct{} // closed when none is; nil while nobody waits for that
}

// tries reports whether a call may try. While Redis is away, one at a time may.
func (c *connection) tries(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away && now.Before(c.next) {
		return false
	}
	c.next = now.Add(c.timeout)
	return true
}

func (c *connection) report(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.away = isAway(err); !c.away {
		c.answered = now
	}
	c.next = now.Add(tryAgain)
}

// heardSince reports whether Redis answered anybody since then: it is slow for one call only, as for one that
// makes a connection.
func (c *connection) heardSince(t time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answered.After(t)
}

// ended takes note that a call ended that began then.
func (c *connection) ended(start time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(start) > max(patience, c.timeout) {
		c.late = now
	}
}

// wasStopped reports whether Redis, a moment ago, kept a call for longer than anybody waits. Then it may have done
// so with those of all processes, and carried them out since: what they took comes back only now.
func (c *connection) wasStopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.late) < settling
}

// until returns for how long a query's reservation is asked for again: so that the answer comes before the
// context ends.
func (c *connection) until(ctx context.Context) time.Time {
	now := time.Now()
	wait := max(patience, c.timeout)
	if deadline, ok := ctx.Deadline(); ok {
		wait = max(patience, min(wait, deadline.Sub(now)/10*9))
	}
	return now.Add(wait)
}

// pauseAway returns how long is waited before Redis is asked again.
func pauseAway() time.Duration { return tryAgain/4 + rand.N(tryAgain/2) }

// area is something that goes on in another way without Redis.
type area struct {
	name, fallback string
	away, refused  atomic.Bool // it was logged
}

func (a *area) report(log *slog.Logger, err error) {
	switch {
	case isAway(err):
		if a.away.CompareAndSwap(false, true) {
			log.Warn("redisstore: Redis is away", slog.String("area", a.name), slog.String("fallback", a.fallback), slog.Any("error", err))
		}
	case a.away.CompareAndSwap(true, false):
		log.Info("redisstore: Redis is back", slog.String("area", a.name))
	case err != nil && !errors.Is(err, redis.Nil) && a.refused.CompareAndSwap(false, true):
		log.Warn("redisstore: Redis refuses a command, or holds something foreign", slog.String("area", a.name), slog.Any("error", err))
	}
}

// ask calls Redis, and waits for at most the connection's timeout. The call itself goes on, for as long as the
// Redis client allows, so that a connection that is being made is made. An answer that comes later, or when the
// caller has gone, is given to late, since Redis has acted.
func ask[T any](ctx context.Context, c *connection, a *area, f func(context.Context) (T, error), late func(T)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	start := time.Now()
	if !c.tries(start) {
		a.report(c.log, errAway)
		return none, errAway
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result) // nobody receives from it once the caller has gone
	gone := make(chan struct{})
	c.begin()
	go func() {
		defer c.end()
		value, err := f(context.WithoutCancel(ctx))
		c.report(err)
		c.ended(start)
		a.report(c.log, err)
		select {
		case done <- result{value, err}:
		case <-gone:
			if err == nil && late != nil {
				late(value)
			}
		}
	}()
	timer := time.NewTimer(c.timeout)
	defer timer.Stop()
	defer close(gone)
	select {
	case r := <-done:
		if isAway(r.err) {
			return none, fmt.Errorf("%w: %w", errAway, r.err)
		}
		return r.value, r.err
	case <-timer.C:
		if !c.heardSince(start) {
			c.report(errSlow)
			a.report(c.log, errSlow)
		}
		return none, errSlow
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (c *connection) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
}

func (c *connection) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls--; c.calls == 0 && c.idles != nil {
		close(c.idles)
		c.idles = nil
	}
}

// idle returns when no call is under way, or with the context's error.
func (c *connection) idle(ctx context.Context) error {
	c.mu.Lock()
	if c.calls == 0 {
		c.mu.Unlock()
		return nil
	}
	if c.idles == nil {
		c.idles = make(chan struct{})
	}
	idles := c.idles
	c.mu.Unlock()
	select {
	case <-idles:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// milliseconds is at least 1: Redis has no shorter time.
func milliseconds(d time.Duration) int64 { return max(1, d.Milliseconds()) }
