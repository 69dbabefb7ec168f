package redisstore

import (
	"context"
	"crypto/rand"
	_ "embed" // the scripts
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

	shared sharedClaims

	mu   sync.Mutex
	owed map[string]owed // refusals that Redis does not know of
}

// owed is a refusal that Redis could not be told.
type owed struct{ until time.Time }

// How many refusals are remembered for Redis while it is away.
const mostOwed = 1000

// How long Redis is asked again for a claim, and how often: together with what one question takes, less than
// fiscope.Client waits for a claim.
const (
	claimPatience = 1300 * time.Millisecond
	claimPause    = 100 * time.Millisecond
)

// claim asks Redis whether a credential may be sent.
func (g *guard) claim(ctx context.Context, credential string, hold time.Duration) (fiscope.Claim, error) {
	return g.shared.ask(ctx, credential, func() (fiscope.Claim, error) { return g.ask(ctx, credential, hold) })
}

// ask asks Redis whether a credential may be sent, once Redis was told what it missed. Where Redis does not
// answer, it is asked again for a second: without its word, each process would send the credential.
func (g *guard) ask(ctx context.Context, credential string, hold time.Duration) (fiscope.Claim, error) {
	g.pay(ctx)
	mine, until := rand.Text(), time.Now().Add(claimPatience)
	var failed atomic.Bool // otherwise a claim that was not waited for is granted again
	for {
		state, err := ask(ctx, g.conn, &g.area, func(ctx context.Context) (string, error) {
			return claimScript.Run(ctx, g.conn.client, []string{g.conn.keys.credential(credential)}, mine, milliseconds(hold)).Text()
		}, func(state string) {
			if state == "granted" && failed.Load() { // nobody sends it: the next may
				_ = g.conclude(context.Background(), credential, fiscope.Claim{Token: mine}, fiscope.VerdictNone, 0)
			}
		})
		if err == nil {
			return readClaim(state, mine)
		}
		if ctx.Err() != nil || !time.Now().Before(until) {
			failed.Store(true)
			return fiscope.Claim{}, err
		}
		sleep(ctx, claimPause/2+mathrand.N(claimPause))
	}
}

// readClaim reads what claim.lua returned to who claims with this token.
func readClaim(state, token string) (fiscope.Claim, error) {
	words := strings.Fields(state)
	switch {
	case state == "granted":
		return fiscope.Claim{State: fiscope.ClaimGranted, Token: token}, nil
	case state == "claimed":
		return fiscope.Claim{State: fiscope.ClaimBusy}, nil
	case len(words) != 3 || words[0] != "proven" && words[0] != "refused":
		return fiscope.Claim{}, fmt.Errorf("redisstore: not an answer of claim.lua")
	}
	now := time.Now().UTC()
	seconds, _ := strconv.ParseInt(words[1], 10, 32) // by the clock of Redis alone
	claim := fiscope.Claim{State: fiscope.ClaimProven, Since: now.Add(-time.Duration(max(0, seconds)) * time.Second)}
	if words[0] == "refused" {
		claim.State = fiscope.ClaimRefused
		if ms, err := strconv.ParseInt(words[2], 10, 64); err == nil && ms > 0 && ms < math.MaxInt64/int64(time.Millisecond) {
			claim.Until = now.Add(time.Duration(ms) * time.Millisecond)
		}
	}
	return claim, nil
}

// sleep waits for d, or for the end of the context.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
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
