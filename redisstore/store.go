package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/redis/go-redis/v9"
)

// Store is a [fiscope.Store] in Redis or Valkey. It is safe for concurrent use: make one for each
// process. It starts no goroutine that outlives a call to Redis.
type Store struct {
	client    redis.UniversalClient
	prefix    string
	lease     int
	share     int
	name      string
	holder    string // random: this process, and not another one of the same name
	daily     int
	timeout   time.Duration
	probeTime time.Duration
	log       *slog.Logger

	link                link
	cache, quota, guard area
	calls               sync.WaitGroup // to Redis, under way

	mu       sync.Mutex
	accounts map[string]*account
	owed     map[string]owed // refusals that Redis does not know of
}

var _ fiscope.Store = (*Store)(nil)

// New returns a Store on a client of yours, which may be of a single server, a sentinel or a cluster. It
// asks Redis nothing yet, and never closes the client.
func New(client redis.UniversalClient, opts ...Option) (*Store, error) {
	if client == nil {
		return nil, errors.New("redisstore: the client is nil")
	}
	s := &Store{
		client:    client,
		prefix:    "fiscope:",
		lease:     1,
		share:     5,
		holder:    token(),
		timeout:   250 * time.Millisecond,
		probeTime: 15 * time.Second,
		log:       slog.New(slog.DiscardHandler),
		cache:     area{name: "cache", fallback: "answers are not shared"},
		quota:     area{name: "quota", fallback: "only what is set aside for this process is sent"},
		guard:     area{name: "SOL guard", fallback: "each process guards for itself"},
		accounts:  map[string]*account{},
		owed:      map[string]owed{},
	}
	s.name, _ = os.Hostname()
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("redisstore: option %d is nil", i)
		}
		if err := opt(s); err != nil {
			return nil, err
		}
	}
	if s.name == "" {
		s.name = s.holder
	}
	return s, nil
}

// token returns a random name that nobody else has.
func token() string { return rand.Text() }

// key returns the name of a key. What belongs to one id is in one slot of a cluster.
func (s *Store) key(id, what string) string { return s.prefix + "{" + id + "}:" + what }

// Load implements [fiscope.Store].
func (s *Store) Load(ctx context.Context, key string) ([]byte, error) {
	return ask(ctx, s, &s.cache, func(ctx context.Context) ([]byte, error) {
		value, err := s.client.Get(ctx, s.key(key, "answer")).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil, nil
		}
		return value, err
	}, nil)
}

// Save implements [fiscope.Store].
func (s *Store) Save(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if ttl < time.Millisecond {
		return nil
	}
	_, err := ask(ctx, s, &s.cache, func(ctx context.Context) (string, error) {
		return s.client.Set(ctx, s.key(key, "answer"), value, ttl).Result()
	}, nil)
	return err
}

// Release gives back what this process holds and did not use, its leases and its share. Call it when the
// process ends, after its last call, so that nothing is lost for the day. It returns when no call to
// Redis is under way, or with the context's error. The Store can be used afterwards.
func (s *Store) Release(ctx context.Context) error {
	s.mu.Lock()
	accounts := make(map[string]*account, len(s.accounts))
	for name, a := range s.accounts {
		accounts[name] = a
	}
	s.mu.Unlock()
	var errs []error
	for name, a := range accounts {
		errs = append(errs, s.release(ctx, name, a))
	}
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		s.calls.Wait()
	}()
	select {
	case <-idle:
	case <-ctx.Done():
		errs = append(errs, ctx.Err())
	}
	return errors.Join(errs...)
}
