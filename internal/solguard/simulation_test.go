package solguard

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSimulation lets callers send right and wrong claves of one user, leave, and forget refusals, while
// the clave changes at the portal and a gateway answers for it. What must hold in every interleaving:
//
//   - at most one attempt at a time is of a clave that was not accepted within the last minutes, or that
//     was refused since;
//   - such a clave is refused once, and once more after each Forget, after its time, and after an attempt
//     whose refusal nobody could learn;
//   - every call ends, and no turn is lost.
func TestSimulation(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { simulate(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

var claves = []string{"a", "b", "c"}

const mostWait = 2 * time.Second // between the guard and the sending

func simulate(t *testing.T, random *rand.Rand) {
	g := New(day, nil)
	credential := func(clave string) Credential { return g.Credential("20131312955", "MIUSER01", clave) }
	p := &portal{t: t, right: "a", accepted: map[string]time.Time{}, allowed: len(claves)}
	upTo := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) + 1 }
	var calls sync.WaitGroup
	for range 400 {
		clave := claves[random.IntN(len(claves))]
		switch n := random.IntN(100); {
		case n < 2:
			p.change(clave)
		case n < 4:
			p.allow(1)
			g.Forget(credential(clave))
		case n < 6:
			time.Sleep(upTo(time.Hour))
		case n < 7:
			p.allow(len(claves))
			time.Sleep(day)
		case n < 30:
			time.Sleep(upTo(5 * time.Second))
		default:
			if random.IntN(3) > 0 {
				clave = p.now()
			}
			c := caller{waits: upTo(mostWait), stays: upTo(20 * time.Second)}
			takes, chance := upTo(10*time.Second), random.IntN(100)
			calls.Go(func() {
				c.send(t.Context(), g, credential(clave), func(left <-chan struct{}, alone bool) Verdict {
					return p.judge(clave, takes, chance, left, alone)
				})
			})
		}
	}
	calls.Wait()
	assert.LessOrEqual(t, p.refused, p.allowed)
	assert.Empty(t, g.trying, "no turn is lost")
	assert.Empty(t, g.known.held)
	g.Forget(credential(p.right))
	turn, err := g.Enter(t.Context(), credential(p.right), time.Second)
	require.NoError(t, err, "the right clave can be sent")
	turn.Leave(Unproven)
}

// caller sends a credential as the client does: it waits for other things between the guard and the
// sending, and it leaves.
type caller struct{ waits, stays time.Duration }

func (c caller) send(ctx context.Context, g *Guard, id Credential, attempt func(left <-chan struct{}, alone bool) Verdict) {
	ctx, cancel := context.WithTimeout(ctx, c.stays)
	defer cancel()
	turn, err := g.Enter(ctx, id, 30*time.Second)
	if err != nil {
		return
	}
	verdict := Unproven
	defer func() { turn.Leave(verdict) }()
	select {
	case <-time.After(c.waits):
	case <-ctx.Done():
		return
	}
	switch {
	case turn.Refused() != nil:
	case turn.Alone():
		verdict = attempt(nil, true) // which outlives its caller
	default:
		verdict = attempt(ctx.Done(), false)
	}
}

// portal is the tax authority, behind a gateway. It judges a clave when it receives it and answers later.
type portal struct {
	t        *testing.T
	mu       sync.Mutex
	right    string
	accepted map[string]time.Time // claves, and when that was last answered; without those refused since
	alone    int                  // attempts under way of other claves
	allowed  int                  // refusals that may be, so far
	refused  int
}

func (p *portal) now() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.right
}

func (p *portal) change(right string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.right = right
}

func (p *portal) allow(refusals int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed += refusals
}

func (p *portal) judge(clave string, takes time.Duration, chance int, left <-chan struct{}, alone bool) Verdict {
	verdict := p.receive(clave, alone)
	select {
	case <-time.After(takes):
	case <-left:
		chance = 0
	}
	switch {
	case chance < 5:
		verdict = Unanswered
	case chance < 10:
		verdict = Doubtful
	}
	p.answer(clave, alone, verdict)
	return verdict
}

func (p *portal) receive(clave string, alone bool) Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	if alone {
		p.alone++
		assert.Equal(p.t, 1, p.alone, "one goes alone")
	} else {
		at, ok := p.accepted[clave]
		assert.True(p.t, ok && time.Since(at) < Recent+mostWait, "one that goes beside others is known to be good")
	}
	if clave == p.right {
		return Proven
	}
	p.refused++
	if !alone {
		p.allowed++ // nobody could know
	}
	return Rejected
}

func (p *portal) answer(clave string, alone bool, v Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if alone {
		p.alone--
	}
	switch v {
	case Proven:
		p.accepted[clave] = time.Now()
	case Rejected:
		delete(p.accepted, clave)
	case Doubtful:
		p.allowed++ // it may have been a refusal, and blocks for minutes at least
		delete(p.accepted, clave)
	case Unanswered, Unproven:
		p.allowed++ // it may have been a refusal, and those who were let in are on their way
	}
}
