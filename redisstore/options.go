package redisstore

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Option configures a Store. New fails if its value is invalid.
type Option func(*Store) error

// WithPrefix sets the prefix of all keys, instead of "fiscope:". Programs with the same prefix and API key share
// everything.
func WithPrefix(prefix string) Option {
	return func(s *Store) error {
		if strings.ContainsAny(prefix, "{}") {
			return fmt.Errorf("redisstore: WithPrefix: %q holds a brace, which would decide on the slot in a cluster", prefix)
		}
		s.keys = keys(prefix)
		return nil
	}
}

// WithLogger logs when an outage of Redis begins, with its reason, and when it is over. By default nothing is logged.
func WithLogger(l *slog.Logger) Option {
	return func(s *Store) error {
		if l == nil {
			return errors.New("redisstore: WithLogger: the logger is nil")
		}
		s.outage.log = l
		return nil
	}
}
