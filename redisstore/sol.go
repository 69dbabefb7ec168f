package redisstore

import (
	"context"
	"crypto/rand"
	_ "embed" // the script
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fiscope/fiscope/store"
)

//go:embed sol.lua
var solLua string

var solScript = redis.NewScript(solLua)

var states = map[string]store.ClaimState{
	"granted": store.ClaimGranted,
	"claimed": store.ClaimBusy,
	"proven":  store.ClaimProven,
	"refused": store.ClaimRefused,
}

var verdicts = map[store.Verdict]string{
	store.VerdictNone:    "none",
	store.VerdictProven:  "proven",
	store.VerdictRefused: "refused",
	store.VerdictForget:  "forget",
}

// Claim asks whether a credential may be sent.
func (s *Store) Claim(ctx context.Context, credential string, hold time.Duration) (store.Claim, error) {
	return ask(ctx, "Claim", func(ctx context.Context) (c store.Claim, err error) {
		token := rand.Text()
		reply, err := s.sol(ctx, credential, "claim", token, hold).Text()
		if err != nil {
			return c, err
		}
		var state string
		var since, until int64
		_, err = fmt.Sscan(reply, &state, &since, &until)
		switch c.State = states[state]; c.State {
		case store.ClaimGranted:
			c.Token = token
		case store.ClaimRefused:
			c.Since, c.Until = at(since), at(until)
		case store.ClaimProven:
			c.Since = at(since)
		}
		return c, err
	})
}

// Record records a verdict.
func (s *Store) Record(ctx context.Context, credential string, c store.Claim, v store.Verdict, memory time.Duration) error {
	_, err := ask(ctx, "Record", func(ctx context.Context) (any, error) {
		return nil, s.sol(ctx, credential, verdicts[v], c.Token, memory).Err()
	})
	return err
}

func (s *Store) sol(ctx context.Context, credential, what, token string, life time.Duration) *redis.Cmd {
	return solScript.Run(ctx, s.client, []string{s.keys.credential(credential)}, what, token, milliseconds(life))
}
