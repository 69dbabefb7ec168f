package conformance

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// Run checks a target against the contract: a subtest for each rule, named as in "4.2/limit is 10 by default". It
// returns and logs what it saw of everything that the contract leaves open: one [Observation] for each field of
// mockserver.Assumptions. An invalid target, or a plan larger than its Budget, ends the test before anything is sent.
//
// It does not judge the fields of an answer, their types or its media type: the module contracttest does.
func Run(t *testing.T, target Target) []Observation {
	t.Helper()
	e, err := newExamination(target)
	if err != nil {
		t.Fatalf("conformance: nothing was sent: %v", err)
	}
	// Not with t.Logf, which may print at the end: this must appear before the first request.
	_, _ = fmt.Fprintf(os.Stdout, "conformance: budget: at most %d queries\n", e.most)
	if target.Budget > 0 && e.most > target.Budget {
		t.Fatalf("conformance: nothing was sent: -budget allows %d queries and the plan needs %d", target.Budget, e.most)
	}
	results, seen := e.run(t.Context())
	for _, r := range results {
		t.Run(r.name, func(t *testing.T) {
			for _, failure := range r.failures {
				t.Errorf("\n%s", failure)
			}
			if r.skipped != "" {
				t.Skip(r.skipped)
			}
		})
	}
	t.Logf("what the contract leaves open:\n%s\nas Go:\n%s", table(seen), literal(seen))
	return seen
}

// examination is a target with its plan of questions.
type examination struct {
	target Target
	plan   []question
	most   int // requests, including those with a bad key or none
	wait   patience
}

func newExamination(target Target) (*examination, error) {
	target, err := target.ready()
	if err != nil {
		return nil, err
	}
	e := &examination{target: target, plan: target.plan(), wait: target.patience()}
	for _, q := range e.plan {
		if q.never == "" {
			e.most++
		}
	}
	return e, nil
}

// run asks and judges.
func (e *examination) run(ctx context.Context) ([]*verdict, []Observation) {
	transport := e.target.Transport
	if transport == nil {
		network := newTransport()
		defer network.CloseIdleConnections()
		transport = network
	}
	to := &sender{e.target.BaseURL, e.target.APIKey, transport, e.wait.request, e.wait.all}
	_, user := e.target.receipt()
	r := send(ctx, e.plan, to, newSecrets(e.target.APIKey, user.Clave, wrongClave))
	return judgeAll(r, inOrder(e.plan)), observe(r)
}
