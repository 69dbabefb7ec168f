package redisstore

import (
	"context"
	"errors"
	"sync"

	"github.com/fiscope/fiscope"
)

// sharedClaims are the questions of this process about credentials.
type sharedClaims struct {
	mu       sync.Mutex
	underWay map[string]*sharedClaim // by credential
}

// sharedClaim is a question that is under way.
type sharedClaim struct {
	done  chan struct{} // closed when it is answered
	claim fiscope.Claim
	err   error
}

// ask asks a question about a credential. Those who ask about the same at the same time share one, so that many
// goroutines do not keep each other from an answer: but none takes the answer to one that was asked before he came,
// and what is granted is granted to one.
func (s *sharedClaims) ask(ctx context.Context, credential string, question func() (fiscope.Claim, error)) (fiscope.Claim, error) {
	mine := &sharedClaim{done: make(chan struct{})}
	for came := true; ; came = false {
		other := s.begin(credential, mine)
		if other == nil {
			break
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return fiscope.Claim{}, ctx.Err()
		}
		left := errors.Is(other.err, context.Canceled) || errors.Is(other.err, context.DeadlineExceeded)
		switch {
		case came, left:
		case other.err == nil && other.claim.State == fiscope.ClaimGranted:
			return fiscope.Claim{State: fiscope.ClaimBusy}, nil
		default:
			return other.claim, other.err
		}
	}
	defer s.end(credential, mine)
	mine.claim, mine.err = question()
	return mine.claim, mine.err
}

// begin returns the question about a credential that is under way. Where there is none, mine is.
func (s *sharedClaims) begin(credential string, mine *sharedClaim) *sharedClaim {
	s.mu.Lock()
	defer s.mu.Unlock()
	other := s.underWay[credential]
	if other == nil {
		if s.underWay == nil {
			s.underWay = map[string]*sharedClaim{}
		}
		s.underWay[credential] = mine
	}
	return other
}

func (s *sharedClaims) end(credential string, mine *sharedClaim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.underWay, credential)
	close(mine.done)
}
