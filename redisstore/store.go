package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fiscope/fiscope/store"
)

// Store is a [store.Store] in Redis or Valkey. It is safe for concurrent use: make one for each process.
type Store struct {
	client redis.UniversalClient
	keys   keys
	outage outage
	dials  dials
}

var _ store.Store = (*Store)(nil)

// New returns a Store that uses your client of a single server, a Sentinel or a cluster. It sends nothing to Redis yet,
// and never closes the client.
func New(client redis.UniversalClient, opts ...Option) (*Store, error) {
	if client == nil || reflect.ValueOf(client).Kind() == reflect.Pointer && reflect.ValueOf(client).IsNil() {
		return nil, errors.New("redisstore: the client is nil")
	}
	s := &Store{
		client: client,
		keys:   "fiscope:",
		outage: outage{log: slog.New(slog.DiscardHandler), failing: map[string]failure{}},
	}
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("redisstore: option %d is nil", i)
		}
		if err := opt(s); err != nil {
			return nil, err
		}
	}
	s.dials.watch(client)
	return s, nil
}

// lateTime is how long a call may go on after its caller left: what it reserves or claims is given back.
const lateTime = 10 * time.Second

// ask calls Redis and waits until ctx ends. The Redis client may take longer, whatever its options: then late, if not
// nil, gets the answer.
func ask[T any](ctx context.Context, s *Store, method string, f func(context.Context) (T, error), late func(context.Context, T)) (answer T, err error) {
	if err = ctx.Err(); err != nil {
		return answer, err
	}
	type result struct {
		answer T
		err    error
	}
	start, done, gone := time.Now(), make(chan result), make(chan struct{})
	defer close(gone)
	go func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateTime)
		defer cancel()
		answer, err := f(limited)
		select {
		case done <- result{answer, err}:
		case <-gone:
			if err == nil && late != nil {
				late(limited, answer)
			}
		}
	}()
	select {
	case r := <-done:
		answer, err = r.answer, r.err
	case <-ctx.Done():
		err = ctx.Err()
		if errors.Is(err, context.Canceled) { // the caller left: that says nothing about Redis
			return answer, err
		}
		if reason := s.dials.failed(); reason != nil {
			err = fmt.Errorf("%w: %w", reason, err)
		} else {
			err = fmt.Errorf("no answer of Redis within %s: %w", time.Since(start).Round(time.Millisecond), err)
		}
	}
	s.outage.report(method, err)
	if err != nil {
		err = fmt.Errorf("redisstore: %s: %w", method, err)
	}
	return answer, err
}

// Load returns what Save kept.
func (s *Store) Load(ctx context.Context, key string) ([]byte, error) {
	return ask(ctx, s, "Load", func(ctx context.Context) ([]byte, error) {
		value, err := s.client.Get(ctx, s.keys.answer(key)).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil, nil
		}
		return value, err
	}, nil)
}

// Save keeps an answer. If Redis is full, it does not, and returns no error.
func (s *Store) Save(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	_, err := ask(ctx, s, "Save", func(ctx context.Context) (string, error) {
		return s.client.Set(ctx, s.keys.answer(key), value, time.Duration(milliseconds(ttl))*time.Millisecond).Result()
	}, nil)
	if redis.IsOOMError(err) {
		return nil
	}
	return err
}

// milliseconds returns at least 1: Redis has no shorter time.
func milliseconds(d time.Duration) int64 { return max(1, d.Milliseconds()) }

// unix returns a time for the scripts.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// at returns a time from the scripts.
func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
