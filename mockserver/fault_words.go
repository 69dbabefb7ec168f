package mockserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// words describes the calls that a fault is set for, and its steps.
func (f *Fault) words() string {
	var steps []string
	for _, e := range f.Steps {
		steps = append(steps, e.words())
	}
	return f.Match.words() + ": " + strings.Join(steps, "; then ")
}

func (m *Match) words() string {
	words := []string{"each call"}
	if m.Op != "" {
		words[0] = "each " + string(m.Op)
	}
	add := func(given bool, format string, args ...any) {
		if given {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(m.Key != "", "with key %s", redact.Fingerprint(m.Key))
	add(m.RUC != "", "about RUC %s", m.RUC)
	add(m.Text != "", "asking for %q", m.Text)
	add(m.UserAgent != "", "of a User-Agent with %q", m.UserAgent)
	add(m.Nth > 0, "number %d of them only", m.Nth)
	add(m.Times > 0, "%d in all", m.Times)
	add(m.For > 0, "for %s", m.For)
	return strings.Join(words, ", ")
}

func (e Effect) words() string {
	var words []string
	add := func(given bool, format string, args ...any) {
		if given {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(e.Preset != "", "%s", e.Preset)
	add(e.Status != 0, "status %d", e.Status)
	for _, name := range slices.Sorted(maps.Keys(e.Header)) {
		add(true, "header %s: %s", name, e.Header[name])
	}
	if e.Body != nil {
		add(true, "a body of %d bytes", len(*e.Body))
	}
	add(e.Latency > 0, "latency %s", e.Latency)
	add(e.Hold, "hold")
	add(e.Before, "uncharged")
	if len(words) == 0 {
		return "no fault"
	}
	return strings.Join(words, ", ")
}
