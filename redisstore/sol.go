package redisstore

import (
	"context"
	"crypto/rand"
	_ "embed" // the scripts
	"fmt"
	"strconv"
	"strings"
	"sync"
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

// guard shares what is known of SOL credentials with the other processes.
type guard struct {
	conn *connection
	area area

	mu   sync.Mutex
	owed map[string]owed // refusals that Redis does not know of
}

// owed is a refusal that Redis could not be told.
type owed struct{ until time.Time }

// How many refusals are remembered for Redis while it is away.
const mostOwed = 1000

// claim asks Redis whether a credential may be sent, once Redis was told what it missed.
func (g *guard) claim(ctx context.Context, credential string, hold time.Duration) (fiscope.Claim, error) {
	g.pay(ctx)
	mine := rand.Text()
	state, err := ask(ctx, g.conn, &g.area, func(ctx context.Context) (string, error) {
		return claimScript.Run(ctx, g.conn.client, []string{g.conn.keys.credential(credential)}, mine, milliseconds(hold)).Text()
	}, func(state string) {
		if state == "granted" { // nobody sends it: the next may
			_ = g.conclude(context.Background(), credential, fiscope.Claim{Token: mine}, fiscope.VerdictNone, 0)
		}
	})
	if err != nil {
		return fiscope.Claim{}, err
	}
	what, when, _ := strings.Cut(state, " ")
	said, left, _ := strings.Cut(when, " ") // when it was, and for how long it is remembered
	seconds, _ := strconv.ParseInt(said, 10, 64)
	since := time.Unix(seconds, 0).UTC()
	switch what {
	case "granted":
		return fiscope.Claim{State: fiscope.ClaimGranted, Token: mine}, nil
	case "claimed":
		return fiscope.Claim{State: fiscope.ClaimBusy}, nil
	case "proven":
		return fiscope.Claim{State: fiscope.ClaimProven, Since: since}, nil
	case "refused":
		claim := fiscope.Claim{State: fiscope.ClaimRefused, Since: since}
		if ms, err := strconv.ParseInt(left, 10, 64); err == nil && ms > 0 {
			claim.Until = time.Now().Add(time.Duration(ms) * time.Millisecond)
		}
		return claim, nil
	}
	return fiscope.Claim{}, fmt.Errorf("redisstore: the key of a credential holds something foreign")
}

// conclude tells Redis what came of a credential. A refusal that it cannot be told is owed.
func (g *guard) conclude(ctx context.Context, credential string, c fiscope.Claim, v fiscope.Verdict, memory time.Duration) error {
	err := g.tell(ctx, credential, c.Token, v, memory)
	if err != nil && v == fiscope.VerdictRefused {
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.owed) < mostOwed {
			g.owed[credential] = owed{until: time.Now().Add(memory)}
		}
	}
	return err
}

func (g *guard) tell(ctx context.Context, credential, claim string, v fiscope.Verdict, memory time.Duration) error {
	verdict := map[fiscope.Verdict]string{fiscope.VerdictProven: "proven", fiscope.VerdictRefused: "refused"}[v]
	if verdict == "" {
		verdict = "none"
	}
	_, err := ask(ctx, g.conn, &g.area, func(ctx context.Context) (string, error) {
		return concludeScript.Run(ctx, g.conn.client, []string{g.conn.keys.credential(credential)}, claim, verdict, milliseconds(memory)).Text()
	}, nil)
	return err
}

// pay tells Redis the refusals that it missed.
func (g *guard) pay(ctx context.Context) {
	g.mu.Lock()
	debts := g.owed
	if len(debts) > 0 {
		g.owed = map[string]owed{}
	}
	g.mu.Unlock()
	for credential, debt := range debts {
		if left := time.Until(debt.until); left > 0 {
			_ = g.conclude(ctx, credential, fiscope.Claim{}, fiscope.VerdictRefused, left)
		}
	}
}

// forget deletes what is known of a credential.
func (g *guard) forget(ctx context.Context, credential string) error {
	g.mu.Lock()
	delete(g.owed, credential)
	g.mu.Unlock()
	_, err := ask(ctx, g.conn, &g.area, func(ctx context.Context) (int64, error) {
		return g.conn.client.Del(ctx, g.conn.keys.credential(credential)).Result()
	}, nil)
	return err
}
