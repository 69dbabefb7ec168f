package redisstore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// An answer that is larger is not shared: what is read at once has a bound.
const largestAnswer = 4 << 20

// answers shares the service's answers with the other processes.
type answers struct {
	conn   *connection
	area   area
	client redis.UniversalClient // of WithAnswers; nil for the one that has the rest
}

// load returns what is kept under a key, and nil for nothing.
func (a *answers) load(ctx context.Context, key string) ([]byte, error) {
	value, err := ask(ctx, a.conn, &a.area, func(ctx context.Context) ([]byte, error) {
		value, err := a.conn.client.GetRange(ctx, a.conn.keys.answer(key), 0, largestAnswer).Bytes()
		if _, err = refusal(err); err != nil {
			return nil, err
		}
		return value, nil
	}, nil)
	if err != nil || len(value) == 0 || len(value) > largestAnswer {
		return nil, err
	}
	return value, nil
}

// save keeps a value under a key.
func (a *answers) save(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if ttl <= 0 || len(value) > largestAnswer {
		return nil
	}
	refused, err := ask(ctx, a.conn, &a.area, func(ctx context.Context) (error, error) {
		life := time.Duration(milliseconds(ttl)) * time.Millisecond
		return refusal(a.conn.client.Set(ctx, a.conn.keys.answer(key), value, life).Err())
	}, nil)
	return cmp.Or(err, refused)
}

// refusal tells an error with which Redis refuses a command for a key, as where it is full, from one that says
// that it is away.
func refusal(err error) (refused, away error) {
	var replied redis.Error
	if errors.As(err, &replied) && !redis.IsLoadingError(err) && !redis.IsReadOnlyError(err) {
		return err, nil
	}
	return nil, err
}
