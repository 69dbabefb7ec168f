package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/redis/go-redis/v9"
)

// Store is a [fiscope.Store] in Redis or Valkey. It is safe for concurrent use: make one for each
// process. It starts no goroutine that outlives a call to Redis.
type Store struct {
	conn    *connection
	answers answers
	quota   quota
	guard   guard
}

var _ fiscope.ExactStore = (*Store)(nil)

// New returns a Store on a client of yours, which may be of a single server, a sentinel or a cluster. It
// asks Redis nothing yet, and never closes the client.
func New(client redis.UniversalClient, opts ...Option) (*Store, error) {
	if client == nil || reflect.ValueOf(client).Kind() == reflect.Pointer && reflect.ValueOf(client).IsNil() {
		return nil, errors.New("redisstore: the client is nil")
	}
	conn := &connection{
		client:  client,
		keys:    "fiscope:",
		timeout: 250 * time.Millisecond,
		log:     slog.New(slog.DiscardHandler),
	}
	s := &Store{
		conn:    conn,
		answers: answers{area: area{name: "cache", fallback: "answers are not shared"}},
		quota: quota{
			scripts: scripts{
				conn:    conn,
				area:    area{name: "quota", fallback: "only what is leased and set aside for this process is sent"},
				process: process{probeTime: 35 * time.Second},
			},
			lease:    1,
			share:    5,
			accounts: map[string]*account{},
		},
		guard: guard{
			conn: conn,
			area: area{name: "SOL guard", fallback: "each process guards for itself"},
			owed: map[string]time.Time{},
			held: map[string]*time.Timer{},
		},
	}
	s.quota.process.name, _ = os.Hostname()
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("redisstore: option %d is nil", i)
		}
		if err := opt(s); err != nil {
			return nil, err
		}
	}
	if s.quota.process.name == "" {
		s.quota.process.name = rand.Text()
	}
	s.answers.conn = conn
	if s.answers.client != nil {
		s.answers.conn = &connection{client: s.answers.client, keys: conn.keys, timeout: conn.timeout, log: conn.log}
	}
	return s, nil
}

// Load implements [fiscope.Store]. What is no answer is nothing: a key of another type, or one that holds more
// than 4 MiB.
func (s *Store) Load(ctx context.Context, key string) ([]byte, error) {
	return s.answers.load(ctx, key)
}

// Save implements [fiscope.Store]. An answer for which Redis has no room, or of more than 4 MiB, is not shared.
func (s *Store) Save(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return s.answers.save(ctx, key, value, ttl)
}

// Reserve implements [fiscope.Store]. It returns no error but the context's: while Redis is away, only what was
// leased and set aside for this process is granted, and then fiscope.QuotaAway.
func (s *Store) Reserve(ctx context.Context, name string, keep int) (fiscope.Reservation, error) {
	return s.quota.reserve(ctx, name, keep, "")
}

// ReserveAgain implements [fiscope.ExactStore]: who waited for the first attempt of the day, and it failed, is told
// fiscope.QuotaAway, and does not wait for the next.
func (s *Store) ReserveAgain(ctx context.Context, name string, keep int, told fiscope.Reservation) (fiscope.Reservation, error) {
	return s.quota.reserve(ctx, name, keep, told.Token)
}

// Settle implements [fiscope.Store]. It asks Redis only where the others must know at once: after a
// probe, and where the quota turns out to be spent, to be of another day, or to be given back by a process
// without leases. Everything else goes along with the next reservation.
func (s *Store) Settle(ctx context.Context, name string, reservation fiscope.Reservation, o fiscope.Outcome) error {
	return s.quota.settle(ctx, name, reservation, o)
}

// Claim implements [fiscope.Store].
func (s *Store) Claim(ctx context.Context, credential string, hold time.Duration) (fiscope.Claim, error) {
	return s.guard.claim(ctx, credential, hold)
}

// Conclude implements [fiscope.Store]. It tells Redis again for a second. A refusal that Redis cannot be told is
// remembered here, and told with the next Claim of the credential or when it is concluded anew.
func (s *Store) Conclude(ctx context.Context, credential string, c fiscope.Claim, v fiscope.Verdict, memory time.Duration) error {
	return s.guard.conclude(ctx, credential, c, v, memory)
}

// Forget implements [fiscope.Store].
func (s *Store) Forget(ctx context.Context, credential string) error {
	return s.guard.forget(ctx, credential)
}

// Release gives back what this process holds and did not use, its leases and its share. Call it when the
// process ends, after its last call, so that nothing is lost for the day. It returns when no call to
// Redis is under way, or with the context's error. The Store can be used afterwards.
func (s *Store) Release(ctx context.Context) error {
	return errors.Join(s.quota.release(ctx), s.conn.idle(ctx), s.answers.conn.idle(ctx))
}
