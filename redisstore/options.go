package redisstore

import (
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Option sets something of a Store. A wrong value makes New fail.
type Option func(*Store) error

// WithPrefix sets what the names of all keys begin with, instead of "fiscope:". Programs with the same
// prefix and API key share everything.
func WithPrefix(prefix string) Option {
	return func(s *Store) error {
		if strings.ContainsAny(prefix, "{}") {
			return fmt.Errorf("redisstore: WithPrefix: %q holds a brace, which decides on the slot of a cluster", prefix)
		}
		s.conn.keys = keys(prefix)
		return nil
	}
}

// WithAnswers keeps the service's answers in another Redis than the one that New was given: one that may forget,
// with maxmemory and an eviction policy, while the quota and the SOL credentials must not be forgotten. Like the
// other it may be a single server, a sentinel or a cluster, and is never closed. That it is away or full concerns
// the answers alone. Answers that a client finds nowhere cost a query.
func WithAnswers(client redis.UniversalClient) Option {
	return func(s *Store) error {
		if client == nil || reflect.ValueOf(client).Kind() == reflect.Pointer && reflect.ValueOf(client).IsNil() {
			return fmt.Errorf("redisstore: WithAnswers: the client is nil")
		}
		s.answers.client = client
		return nil
	}
}

// WithLease reserves up to n queries in one round trip, for the next n attempts of this process, instead
// of one. Near the end of the quota it is fewer. What is not used within half a minute goes back; what a
// process holds that is killed is lost for the day. See docs/fleet.md for n.
func WithLease(n int) Option {
	return func(s *Store) error {
		if n < 1 {
			return fmt.Errorf("redisstore: WithLease: want 1 or more, got %d", n)
		}
		s.quota.lease = n
		return nil
	}
}

// WithShare sets how many queries of a day are set aside for this process, instead of 5: what it may
// send while Redis is away. All shares together take at most a quarter of the day; a process that comes
// too late has none. 0 sends nothing while Redis is away.
func WithShare(n int) Option {
	return func(s *Store) error {
		if n < 0 {
			return fmt.Errorf("redisstore: WithShare: want 0 or more, got %d", n)
		}
		s.quota.share = n
		return nil
	}
}

// WithName sets the name under which this process has its share, instead of the host's: one that no
// other process has at the same time, and that it has again after a restart. Of two with one name, the
// second has no share; one that was killed has none until the next day.
func WithName(name string) Option {
	return func(s *Store) error {
		if name == "" {
			return fmt.Errorf("redisstore: WithName: the name is empty")
		}
		s.quota.process.name = name
		return nil
	}
}

// WithDailyQuota says what the service grants a day, so that the fleet need not send one query first to
// find out. The day is taken to end at midnight in Lima by the clock of Redis, until a header says when it does. A header that
// says less is believed.
func WithDailyQuota(n int) Option {
	return func(s *Store) error {
		if n < 1 {
			return fmt.Errorf("redisstore: WithDailyQuota: want 1 or more, got %d", n)
		}
		s.quota.process.daily = n
		return nil
	}
}

// WithTimeout sets how long a call waits for one answer of Redis, instead of 250 ms. What Redis says of the
// quota is asked for again for a second, or for this time, if that is longer: 2.7 s at most. A Client's caller who
// has a deadline waits for half of what he has left, or 1.1 s, and then fails with fiscope.ErrUnavailable.
func WithTimeout(d time.Duration) Option {
	return func(s *Store) error {
		if d <= 0 {
			return fmt.Errorf("redisstore: WithTimeout: want more than 0, got %s", d)
		}
		s.conn.timeout = d
		return nil
	}
}

// WithProbeTime sets how long the fleet waits for the first attempt of a day before another one goes,
// instead of 35 s: longer than an attempt takes, a validation too, since the one that was first may have died.
func WithProbeTime(d time.Duration) Option {
	return func(s *Store) error {
		if d < time.Millisecond {
			return fmt.Errorf("redisstore: WithProbeTime: want 1 ms or more, got %s", d)
		}
		s.quota.process.probeTime = d
		return nil
	}
}

// WithLogger logs, once each, that Redis is away and what that means, and that it is back. Without it
// nothing is logged.
func WithLogger(l *slog.Logger) Option {
	return func(s *Store) error {
		if l == nil {
			return fmt.Errorf("redisstore: WithLogger: the logger is nil")
		}
		s.conn.log = l
		return nil
	}
}
