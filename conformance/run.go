package conformance

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
)

// Run tells a target by the contract: a subtest for each sentence, named by its section and what it is about, as in
// "4.2/limit is 10 by default". It returns what was seen of all that the contract leaves open, one [Observation] for
// each field of mockserver.Assumptions, in their order, and logs it as a table and as Go. A target that cannot be
// asked, or a plan larger than its Budget, ends the test before anything is sent.
func Run(t *testing.T, target Target) []Observation {
	t.Helper()
	e, err := newExamination(target)
	if err != nil {
		t.Fatalf("conformance: nothing was sent: %v", err)
	}
	// Not in the log of the test, which comes at its end: this is said before the first request.
	_, _ = fmt.Fprintf(os.Stdout, "conformance: %s\n", e.budget())
	if err := e.affordable(); err != nil {
		t.Fatalf("conformance: nothing was sent: %v", err)
	}
	results, seen := e.run(t.Context(), nil)
	for _, r := range results {
		t.Run(r.subtest(), func(t *testing.T) {
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

// examination is a target with the plan of what it is asked.
type examination struct {
	target Target
	plan   []question
	most   int // requests
	wait   patience
}

func newExamination(target Target) (*examination, error) {
	target, err := target.ready()
	if err != nil {
		return nil, err
	}
	if target.CPE != nil {
		if err := target.CPE.check(); err != nil {
			return nil, fmt.Errorf("-cpe: %w", err)
		}
	}
	e := &examination{target: target, plan: target.plan(), wait: target.patience()}
	for _, q := range e.plan {
		if q.never == nil {
			e.most++
		}
	}
	return e, nil
}

// budget says the most queries that the plan makes. Those with another key or none, which are refused, count too.
func (e *examination) budget() string {
	return fmt.Sprintf("budget: at most %d queries", e.most)
}

func (e *examination) affordable() error {
	if e.target.Budget > 0 && e.most > e.target.Budget {
		return fmt.Errorf("-budget allows %d queries and the plan needs %d: give -budget %d, or none", e.target.Budget, e.most, e.most)
	}
	return nil
}

// run asks and judges; transport is nil for the network.
func (e *examination) run(ctx context.Context, transport http.RoundTripper) ([]result, []Observation) {
	if transport == nil {
		network := newTransport(e.wait.request)
		defer network.CloseIdleConnections()
		transport = network
	}
	ctx, cancel := context.WithTimeout(ctx, e.wait.all)
	defer cancel()
	to := &sender{e.target.BaseURL, e.target.APIKey, transport, e.wait.request}
	r := send(ctx, e.plan, to, newSecrets(e.target.secrets()...))
	return judge(r), observe(r)
}

// secrets are what no text may show.
func (t Target) secrets() []string {
	texts := []string{t.APIKey}
	if t.CPE != nil {
		texts = append(texts, t.CPE.Usuario.Clave)
	}
	if t.WrongClave { // nobody has it, but it stands where a clave does
		texts = append(texts, t.wrongClave().clave)
	}
	return texts
}
