package redisstore

import (
	"context"
	_ "embed" // the scripts
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/redis/go-redis/v9"
)

//go:embed claim.lua
var claimLua string

//go:embed conclude.lua
var concludeLua string

var (
	claimScript    = redis.NewScript(claimLua)
	concludeScript = redis.NewScript(concludeLua)
)

// owed is a refusal that Redis could not be told.
type owed struct{ until time.Time }

// How many refusals are remembered for Redis while it is away.
const mostOwed = 1000

// Claim implements [fiscope.Store].
func (s *Store) Claim(ctx context.Context, credential string, hold time.Duration) (fiscope.Claim, error) {
	s.pay(ctx)
	mine := token()
	state, err := ask(ctx, s, &s.guard, func(ctx context.Context) (string, error) {
		return claimScript.Run(ctx, s.client, []string{s.key(credential, "sol")}, mine, milliseconds(hold)).Text()
	}, func(state string) {
		if state == "granted" { // nobody sends it: the next may
			_ = s.Conclude(context.Background(), credential, fiscope.Claim{Token: mine}, fiscope.VerdictNone, 0)
		}
	})
	if err != nil {
		return fiscope.Claim{}, err
	}
	what, since, _ := strings.Cut(state, " ")
	switch what {
	case "granted":
		return fiscope.Claim{State: fiscope.ClaimGranted, Token: mine}, nil
	case "claimed":
		return fiscope.Claim{State: fiscope.ClaimBusy}, nil
	case "proven":
		return fiscope.Claim{State: fiscope.ClaimProven}, nil
	case "refused":
		seconds, _ := strconv.ParseInt(since, 10, 64)
		return fiscope.Claim{State: fiscope.ClaimRefused, Since: time.Unix(seconds, 0).UTC()}, nil
	}
	return fiscope.Claim{}, fmt.Errorf("redisstore: the key of a credential holds something foreign")
}

// Conclude implements [fiscope.Store]. A refusal that Redis cannot be told is told later, before the
// next claim.
func (s *Store) Conclude(ctx context.Context, credential string, c fiscope.Claim, v fiscope.Verdict, memory time.Duration) error {
	err := s.conclude(ctx, credential, c.Token, v, memory)
	if err != nil && v == fiscope.VerdictRefused {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.owed) < mostOwed {
			s.owed[credential] = owed{until: time.Now().Add(memory)}
		}
	}
	return err
}

func (s *Store) conclude(ctx context.Context, credential, claim string, v fiscope.Verdict, memory time.Duration) error {
	verdict := map[fiscope.Verdict]string{fiscope.VerdictProven: "proven", fiscope.VerdictRefused: "refused"}[v]
	if verdict == "" {
		verdict = "none"
	}
	_, err := ask(ctx, s, &s.guard, func(ctx context.Context) (string, error) {
		return concludeScript.Run(ctx, s.client, []string{s.key(credential, "sol")}, claim, verdict, milliseconds(memory)).Text()
	}, nil)
	return err
}

// pay tells Redis the refusals that it missed.
func (s *Store) pay(ctx context.Context) {
	s.mu.Lock()
	debts := s.owed
	if len(debts) > 0 {
		s.owed = map[string]owed{}
	}
	s.mu.Unlock()
	for credential, debt := range debts {
		if left := time.Until(debt.until); left > 0 {
			_ = s.Conclude(ctx, credential, fiscope.Claim{}, fiscope.VerdictRefused, left)
		}
	}
}

// Forget implements [fiscope.Store].
func (s *Store) Forget(ctx context.Context, credential string) error {
	s.mu.Lock()
	delete(s.owed, credential)
	s.mu.Unlock()
	_, err := ask(ctx, s, &s.guard, func(ctx context.Context) (int64, error) {
		return s.client.Del(ctx, s.key(credential, "sol")).Result()
	}, nil)
	return err
}

// milliseconds is at least 1: Redis has no shorter time.
func milliseconds(d time.Duration) int64 { return max(1, d.Milliseconds()) }
