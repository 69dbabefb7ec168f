package redisstore

import (
	"fmt"
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
