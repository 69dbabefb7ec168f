package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// How often Redis is asked while it is away.
const tryAgain = time.Second

var errAway = errors.New("redisstore: Redis is away")

// link knows whether Redis answers, so that a dead one costs a call's time once a second and not for
// every call.
type link struct {
	mu   sync.Mutex
	away bool
	next time.Time // when it is tried again
}

// open reports whether a call may try. While Redis is away, one may each second.
func (l *link) open(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away && now.Before(l.next) {
		return false
	}
	l.next = now.Add(tryAgain)
	return true
}

func (l *link) report(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = err != nil
	l.next = time.Now().Add(tryAgain)
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

// ask calls Redis, and waits for at most the Store's timeout, whatever the timeouts of the client are.
// An answer that comes later, or when the caller has gone, is given to late, since Redis has acted.
func ask[T any](ctx context.Context, s *Store, a *area, f func(context.Context) (T, error), late func(T)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if !s.link.open(time.Now()) {
		a.report(s.log, errAway)
		return none, errAway
	}
	type result struct {
		value T
		err   error
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	done := make(chan result) // nobody receives from it once the caller has gone
	gone := make(chan struct{})
	s.calls.Go(func() {
		defer cancel()
		value, err := f(limited)
		s.link.report(err)
		a.report(s.log, err)
		select {
		case done <- result{value, err}:
		case <-gone:
			if err == nil && late != nil {
				late(value)
			}
		}
	})
	timer := time.NewTimer(s.timeout)
	defer timer.Stop()
	defer close(gone)
	select {
	case r := <-done:
		if r.err != nil {
			return none, fmt.Errorf("%w: %w", errAway, r.err)
		}
		return r.value, nil
	case <-timer.C:
		s.link.report(errAway)
		a.report(s.log, errAway)
		return none, errAway
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
