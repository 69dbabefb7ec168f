package redisstore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fiscope/fiscope/store"
)

// Store is a [store.Store] in Redis or Valkey. It is safe for concurrent use: make one for each process.
type Store struct {
	client redis.UniversalClient
	keys   keys
}

var _ store.Store = (*Store)(nil)

// New returns a Store that uses your client of a single server, a Sentinel or a cluster. It sends nothing to Redis yet,
// and never closes the client.
func New(client redis.UniversalClient, opts ...Option) (*Store, error) {
	if client == nil || reflect.ValueOf(client).Kind() == reflect.Pointer && reflect.ValueOf(client).IsNil() {
		return nil, errors.New("redisstore: the client is nil")
	}
	s := &Store{client: client, keys: "fiscope:"}
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("redisstore: option %d is nil", i)
		}
		if err := opt(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// longest bounds a call whose context has ended. It goes on, because the Redis client needs about two seconds to say why
// it cannot connect, and because Redis may grant something: the Client, which does not wait, gives that back.
const longest = 5 * time.Second

func ask[T any](ctx context.Context, method string, f func(context.Context) (T, error)) (answer T, err error) {
	if err = ctx.Err(); err == nil {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
		defer cancel()
		answer, err = f(limited)
	}
	if err != nil {
		err = fmt.Errorf("redisstore: %s: %w", method, err)
	}
	return answer, err
}

// Load returns what Save kept.
func (s *Store) Load(ctx context.Context, key string) ([]byte, error) {
	return ask(ctx, "Load", func(ctx context.Context) ([]byte, error) {
		value, err := s.client.Get(ctx, s.keys.answer(key)).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil, nil
		}
		return value, err
	})
}

// Save keeps an answer. If Redis is full, it does not, and returns no error.
func (s *Store) Save(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	_, err := ask(ctx, "Save", func(ctx context.Context) (string, error) {
		return s.client.Set(ctx, s.keys.answer(key), value, time.Duration(milliseconds(ttl))*time.Millisecond).Result()
	})
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
