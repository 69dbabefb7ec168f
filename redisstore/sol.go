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
	"busy":    store.ClaimBusy,
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
		c = store.Claim{State: states[state], Since: at(since), Until: at(until)}
		if c.State == store.ClaimGranted {
			c.Token = token
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

// sol runs the script of credentials.
func (s *Store) sol(ctx context.Context, credential, what, token string, life time.Duration) *redis.Cmd {
	names := []string{s.keys.credential(credential), s.keys.claim(credential)}
	return solScript.Run(ctx, s.client, names, what, token, milliseconds(life), milliseconds(store.Recent))
}
