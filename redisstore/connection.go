package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// How often Redis is asked while it is away.
const tryAgain = time.Second

var errAway = errors.New("redisstore: Redis is away")

// connection is the way to Redis. It knows whether Redis answers, so that a dead one costs a call's time
// once a second and not for every call.
type connection struct {
	client  redis.UniversalClient
	keys    keys
	timeout time.Duration
	log     *slog.Logger
	calls   sync.WaitGroup // under way

	mu   sync.Mutex
	away bool
	next time.Time // when it is tried again
}

// open reports whether a call may try. While Redis is away, one may each second.
func (c *connection) open(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away && now.Before(c.next) {
		return false
	}
	c.next = now.Add(tryAgain)
	return true
}

func (c *connection) report(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = err != nil
	c.next = time.Now().Add(tryAgain)
}

// area is something that goes on in another way without Redis.
type area struct {
	name, fallback string
	away           atomic.Bool // it was logged
}

func (a *area) report(log *slog.Logger, err error) {
	switch {
	case err != nil && a.away.CompareAndSwap(false, true):
		log.Warn("redisstore: Redis is away", slog.String("area", a.name), slog.String("fallback", a.fallback), slog.Any("error", err))
	case err == nil && a.away.CompareAndSwap(true, false):
		log.Info("redisstore: Redis is back", slog.String("area", a.name))
	}
}

// ask calls Redis, and waits for at most the connection's timeout, whatever the timeouts of the client are.
// An answer that comes later, or when the caller has gone, is given to late, since Redis has acted.
func ask[T any](ctx context.Context, c *connection, a *area, f func(context.Context) (T, error), late func(T)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if !c.open(time.Now()) {
		a.report(c.log, errAway)
		return none, errAway
	}
	type result struct {
		value T
		err   error
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	done := make(chan result) // nobody receives from it once the caller has gone
	gone := make(chan struct{})
	c.calls.Go(func() {
		defer cancel()
		value, err := f(limited)
		c.report(err)
		a.report(c.log, err)
		select {
		case done <- result{value, err}:
		case <-gone:
			if err == nil && late != nil {
				late(value)
			}
		}
	})
	timer := time.NewTimer(c.timeout)
	defer timer.Stop()
	defer close(gone)
	select {
	case r := <-done:
		if r.err != nil {
			return none, fmt.Errorf("%w: %w", errAway, r.err)
		}
		return r.value, nil
	case <-timer.C:
		c.report(errAway)
		a.report(c.log, errAway)
		return none, errAway
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// idle returns when no call is under way, or with the context's error.
func (c *connection) idle(ctx context.Context) error {
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		c.calls.Wait()
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// milliseconds is at least 1: Redis has no shorter time.
func milliseconds(d time.Duration) int64 { return max(1, d.Milliseconds()) }
