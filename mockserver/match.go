package mockserver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// Match selects the calls that a fault meets. The zero Match is every call with a valid path, method and key.
type Match struct {
	Op        Operation     `json:"op,omitempty"`
	Key       string        `json:"key,omitempty"`       // the API key
	RUC       string        `json:"ruc,omitempty"`       // of a lookup, or of either side of a receipt validation
	Text      string        `json:"text,omitempty"`      // a part of what is asked for, ignoring case; see Filter
	UserAgent string        `json:"userAgent,omitempty"` // a part of it, ignoring case
	Nth       int           `json:"nth,omitempty"`       // only the n-th such call since the fault was set; 0 means each
	Times     int           `json:"times,omitempty"`     // calls until the fault ends; 0 means no end, or the last of several steps
	For       time.Duration `json:"for,omitempty"`       // duration, by the server's clock; 0 means until it is removed
}

// Format implements [fmt.Formatter], with the key's fingerprint.
func (m Match) Format(f fmt.State, _ rune) {
	type plain Match
	if m.Key != "" {
		m.Key = redact.Fingerprint(m.Key)
	}
	_, _ = fmt.Fprintf(f, "%+v", plain(m))
}

func (m Match) check() error {
	switch {
	case m.Op != "" && !slices.Contains(operations, m.Op):
		return fmt.Errorf("no existe la operación %q: las operaciones son %v", string(m.Op), operations)
	case m.Nth < 0 || m.Times < 0 || m.For < 0:
		return errors.New("nth, times y for no pueden ser negativos")
	case m.Nth > 0 && m.Times > 1:
		return errors.New("nth es una sola llamada: times no puede ser mayor que 1")
	}
	return nil
}

// covers reports whether a call matches the fields other than counters.
func (m *Match) covers(q *request, now time.Time) bool {
	return (m.Op == "" || m.Op == q.op) &&
		(m.Key == "" || m.Key == q.key) &&
		(m.RUC == "" || q.isAbout(m.RUC)) &&
		(m.Text == "" || has(q.text(now), m.Text)) && has(q.r.UserAgent(), m.UserAgent)
}
