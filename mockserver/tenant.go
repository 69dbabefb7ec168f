package mockserver

import (
	"fmt"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// Tenant is one API key's quota, faults and journal on a shared server. Data, clock and SOL users are the server's.
type Tenant struct {
	APIKey string `json:"-"`
	server *Server
}

// Tenant returns the view of one API key. See [Server.PutKey].
func (s *Server) Tenant(key string) *Tenant { return &Tenant{APIKey: key, server: s} }

// Format implements [fmt.Formatter]: it shows the key's fingerprint.
func (t *Tenant) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprint(f, "Tenant("+redact.Fingerprint(t.APIKey)+")")
}

// Client returns an SDK client with the tenant's key; see [Server.Client].
func (t *Tenant) Client(opts ...fiscope.Option) *fiscope.Client {
	t.server.t.Helper()
	return t.server.client(t.APIKey, opts...)
}

// Fault sets a fault for the tenant's calls only; see [Server.Fault].
func (t *Tenant) Fault(m Match, steps ...Step) *ActiveFault {
	t.server.t.Helper()
	m.Key = t.APIKey
	return t.server.Fault(m, steps...)
}

// Faults returns the tenant's own faults.
func (t *Tenant) Faults() []FaultStatus {
	var own []FaultStatus
	for _, f := range t.server.Faults() {
		if f.Match.Key == t.APIKey {
			own = append(own, f)
		}
	}
	return own
}

// FindFault returns the tenant's fault with a name, or nil.
func (t *Tenant) FindFault(name string) *ActiveFault { return t.server.faults.find(t.APIKey, name) }

// ClearFaults removes the tenant's faults.
func (t *Tenant) ClearFaults() { t.server.faults.removeOf(t.APIKey) }

// Requests returns the tenant's requests; see [Server.Requests].
func (t *Tenant) Requests(filters ...Filter) []Request {
	if len(filters) == 0 {
		filters = []Filter{{}}
	}
	own := make([]Filter, len(filters))
	for i, f := range filters {
		f.Key = t.APIKey
		own[i] = f
	}
	return t.server.Requests(own...)
}

// Reset resets the tenant's journal, faults and quota, or some of them.
func (t *Tenant) Reset(parts ...Part) error {
	t.server.t.Helper()
	if len(parts) == 0 {
		parts = []Part{PartFaults, PartQuotas, PartJournal}
	}
	a := t.server.keys.account(t.APIKey)
	if a == nil {
		return t.server.checked("Reset", errUnknownKey)
	}
	resets := map[Part]func(){
		PartFaults: t.ClearFaults, PartQuotas: a.usage.reset, PartJournal: func() { t.server.journal.forgetKey(&a.seen, a.id) },
	}
	for _, part := range parts {
		if resets[part] == nil {
			return t.server.checked("Reset", fmt.Errorf("la parte %q no es de una sola clave de API: quite X-API-KEY", string(part)))
		}
	}
	for _, part := range parts {
		resets[part]()
	}
	return nil
}
