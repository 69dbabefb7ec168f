package redisstore

import (
	"context"
	"crypto/rand"
	_ "embed" // the scripts
	"fmt"
	"math"
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

	shared sharedClaims

	mu   sync.Mutex
	owed map[string]time.Time   // refusals that Redis could not be told, and when they end
	held map[string]*time.Timer // the claims of this process, by token, and what ends them
}

// How many refusals are remembered for Redis while it is away.
const mostOwed = 1000

// claim asks Redis whether a credential may be sent.
func (g *guard) claim(ctx context.Context, credential string, hold time.Duration) (fiscope.Claim, error) {
	return g.shared.ask(ctx, credential, func() (fiscope.Claim, error) { return g.ask(ctx, credential, hold) })
}

// ask asks Redis whether a credential may be sent. Where Redis does not answer, it is asked again for a second: without
// its word, each process would send the credential.
func (g *guard) ask(ctx context.Context, credential string, hold time.Duration) (claim fiscope.Claim, err error) {
	if until := g.owedUntil(credential); time.Now().Before(until) {
		_ = g.conclude(ctx, credential, fiscope.Claim{}, fiscope.VerdictRefused, time.Until(until))
		return fiscope.Claim{State: fiscope.ClaimRefused, Until: until.UTC()}, nil
	}
	mine, decided := rand.Text(), make(chan struct{})
	defer close(decided)
	state, err := insist(ctx, g.conn, &g.area, func(ctx context.Context) (string, error) {
		return claimScript.Run(ctx, g.conn.client, []string{g.conn.keys.credential(credential)}, mine, milliseconds(hold)).Text()
	}, func(state string) {
		<-decided
		if state == "granted" && !g.holds(mine) { // nobody sends it: the next may
			_ = g.conclude(context.Background(), credential, fiscope.Claim{Token: mine}, fiscope.VerdictNone, 0)
		}
	})
	if err != nil {
		return fiscope.Claim{}, err
	}
	if claim, err = readClaim(state, mine); err == nil && claim.State == fiscope.ClaimGranted {
		g.hold(mine, hold)
	}
	return claim, err
}

// hold takes note that this process holds a claim, until it is concluded or over.
func (g *guard) hold(token string, d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held[token] = time.AfterFunc(d, func() { g.letGo(token) })
}

func (g *guard) holds(token string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held[token] != nil
}

func (g *guard) letGo(token string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if timer := g.held[token]; timer != nil {
		timer.Stop()
		delete(g.held, token)
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

// conclude tells Redis what came of a credential. A refusal that it cannot be told is owed.
func (g *guard) conclude(ctx context.Context, credential string, c fiscope.Claim, v fiscope.Verdict, memory time.Duration) error {
	g.letGo(c.Token)
	until := time.Now().Add(memory)
	err := g.tell(ctx, credential, c.Token, v, memory)
	if v != fiscope.VerdictRefused {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch owed := g.owed[credential]; {
	case err == nil && !owed.After(until):
		delete(g.owed, credential)
	case err != nil && until.After(owed) && len(g.owed) < mostOwed:
		g.owed[credential] = until
	}
	return err
}

// owedUntil returns until when Redis is to remember a refusal that it could not be told, and zero for none.
func (g *guard) owedUntil(credential string) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.owed[credential]
}

func (g *guard) tell(ctx context.Context, credential, claim string, v fiscope.Verdict, memory time.Duration) error {
	verdict := map[fiscope.Verdict]string{fiscope.VerdictProven: "proven", fiscope.VerdictRefused: "refused"}[v]
	if verdict == "" {
		verdict = "none"
	}
	_, err := insist(ctx, g.conn, &g.area, func(ctx context.Context) (string, error) {
		return concludeScript.Run(ctx, g.conn.client, []string{g.conn.keys.credential(credential)}, claim, verdict, milliseconds(memory)).Text()
	}, nil)
	return err
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
