package mockserver

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
	"github.com/fiscope/fiscope/mockserver/internal/strictjson"
)

// Match says which calls a fault meets, and for how long. The zero Match is every call, until the fault
// is removed. Only calls with a right path, method and key are looked at.
type Match struct {
	Op        Operation `json:"op,omitempty"`
	Key       string    `json:"key,omitempty"`       // the API key
	RUC       string    `json:"ruc,omitempty"`       // of a lookup, or of either side of a receipt validation
	UserAgent string    `json:"userAgent,omitempty"` // a part of it, in any case

	// Nth is the n-th of the calls that the fields above let through since the fault was set; 0 is each. It is
	// one call, so a fault with it has one step and no Times above 1.
	Nth int `json:"nth,omitempty"`
	// Probability is that of each call, 0 to 1, drawn from Seed: the same seed, the same calls. 0 is 1.
	Probability float64 `json:"probability,omitempty"`
	Seed        uint64  `json:"seed,omitempty"`

	// Times is how many calls the fault meets before it ends: 1 is once, 0 without end. A fault with
	// several steps ends after its last one, unless Times says otherwise.
	Times int `json:"times,omitempty"`
	// For is how long the fault lasts, by the server's clock; 0 is until it is removed. A fault that a call found
	// over does not begin again when the clock is set back.
	For time.Duration `json:"for,omitempty"`
}

// Format implements [fmt.Formatter]: it shows the key's fingerprint instead of the key.
func (m Match) Format(f fmt.State, _ rune) {
	key := ""
	if m.Key != "" {
		key = redact.Fingerprint(m.Key)
	}
	type plain Match
	p := plain(m)
	p.Key = key
	_, _ = fmt.Fprintf(f, "%+v", p)
}

func (m Match) check() error {
	switch {
	case m.Op != "" && !slices.Contains(Operations(), m.Op):
		return cannotTake("there is no operation %q: the operations are %v", "no existe la operación %q: las operaciones son %v", string(m.Op), Operations())
	case m.Nth < 0 || m.Times < 0 || m.For < 0:
		return cannotTake("nth, times and for cannot be negative", "nth, times y for no pueden ser negativos")
	case m.Nth > 0 && m.Times > 1:
		return cannotTake("nth is one call: it cannot be met several times", "nth es una sola llamada: times no puede ser mayor que 1")
	case !(m.Probability >= 0 && m.Probability <= 1):
		return cannotTake("a probability is 0 to 1", "probability va de 0 a 1")
	}
	return nil
}

// covers reports whether the fields that are no counters let a call through.
func (m *Match) covers(c *call) bool {
	return (m.Op == "" || m.Op == c.op) &&
		(m.Key == "" || m.Key == c.key) &&
		(m.RUC == "" || c.isAbout(m.RUC)) &&
		(m.UserAgent == "" || strings.Contains(strings.ToLower(c.r.UserAgent()), strings.ToLower(m.UserAgent)))
}

// possible reports whether there can be a call that m covers.
func (m *Match) possible(keys *keyring) bool {
	return (m.Key == "" || keys.account(m.Key) != nil) &&
		(m.RUC == "" || m.Op == "" || m.Op == OpConsultar || m.Op == OpValidar)
}

// draws is a random source of one fault: one for the calls that it meets, another one for how long they wait,
// so that neither changes the other.
func (m *Match) draws(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(m.Seed, stream)) }

type (
	plainMatch Match
	jsonMatch  struct {
		*plainMatch
		For strictjson.Duration `json:"for,omitempty"`
	}
)

// MarshalJSON writes the duration as text: "30m0s". The key is in it.
func (m Match) MarshalJSON() ([]byte, error) {
	plain := plainMatch(m)
	return json.Marshal(jsonMatch{&plain, strictjson.Duration(m.For)})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses an unknown member.
func (m *Match) UnmarshalJSON(text []byte) error {
	j := jsonMatch{plainMatch: new(plainMatch)}
	if err := strictjson.Decode(text, &j); err != nil {
		return err
	}
	*m = Match(*j.plainMatch)
	m.For = time.Duration(j.For)
	return nil
}
