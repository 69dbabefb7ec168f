package redisstore

import (
	"context"
	mathrand "math/rand/v2"
	"time"
)

// How long Redis is asked again about a credential, and how often: together with what one question takes, less than
// fiscope.Client waits for a claim.
const (
	solPatience = 1300 * time.Millisecond
	solPause    = 100 * time.Millisecond
)

// insist asks Redis a question about a credential again, for more than a second, until one is answered. A Redis that
// takes longer than one question waits is not asked in vain: what it answers to an earlier one counts, too. What it
// answers once insist has returned goes to unwanted, unless that is nil.
func insist(ctx context.Context, c *connection, a *area, question func(context.Context) (string, error), unwanted func(string)) (string, error) {
	asking, heard := context.WithCancel(ctx)
	defer heard()
	late, over := make(chan string), make(chan struct{})
	defer close(over)
	take := func(answer string) {
		heard() // nobody waits for the question that is under way
		select {
		case late <- answer:
		case <-over:
			if unwanted != nil {
				unwanted(answer)
			}
		}
	}
	for until := time.Now().Add(solPatience); ; {
		answer, err := ask(asking, c, a, question, take)
		if err == nil {
			return answer, nil
		}
		var pause time.Duration
		goesOn := ctx.Err() == nil && time.Now().Before(until)
		if goesOn {
			pause = solPause/2 + mathrand.N(solPause)
		}
		timer := time.NewTimer(pause)
		select {
		case answer = <-late:
			timer.Stop()
			return answer, nil
		case <-timer.C:
		case <-ctx.Done():
			goesOn = false
		}
		timer.Stop()
		if !goesOn {
			return "", err
		}
	}
}
