package mockserver

import (
	"context"
	"fmt"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// Tenant is what one API key sees of a server: a quota, faults and a journal of its own, so that test
// processes that run at the same time share a server without seeing each other. Data, clock and SOL users
// are the server's.
type Tenant struct {
	APIKey string
	server *Server
}

// Tenant returns the view of an API key; see [Server.PutKey] for adding one.
func (s *Server) Tenant(key string) *Tenant { return &Tenant{APIKey: key, server: s} }

// Format implements [fmt.Formatter]: whatever the verb, it shows the key's fingerprint.
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

// AddFault sets a fault for the tenant's calls only. Its name is the tenant's own: it replaces no other
// tenant's fault.
func (t *Tenant) AddFault(f Fault) (*ActiveFault, error) {
	f.Match.Key = t.APIKey
	return t.server.AddFault(f)
}

// Faults returns the tenant's faults; those of the whole server are not in it, though they meet it too.
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

// WaitRequests waits for the tenant's requests; see [Server.WaitRequests].
func (t *Tenant) WaitRequests(ctx context.Context, f Filter, n int) ([]Request, error) {
	f.Key = t.APIKey
	return t.server.WaitRequests(ctx, f, n)
}

// Quota returns where the tenant stands.
func (t *Tenant) Quota() Quota {
	q, _ := t.server.Quota(t.APIKey)
	return q
}

// Reset resets the tenant's own journal, faults and quota, or the parts of them that are given. It is an
// error for the parts that are the server's.
func (t *Tenant) Reset(parts ...Part) error {
	t.server.t.Helper()
	if len(parts) == 0 {
		parts = []Part{PartFaults, PartQuotas, PartJournal}
	}
	a := t.server.keys.account(t.APIKey)
	if a == nil {
		return t.server.checked("Reset", errUnknownKey)
	}
	for _, part := range parts {
		switch part {
		case PartFaults, PartQuotas, PartJournal:
		default:
			return t.server.checked("Reset", cannotTake("the part %q is not a tenant's own", "la parte %q no es de una sola clave: quite X-API-KEY", string(part)))
		}
	}
	for _, part := range parts {
		switch part {
		case PartFaults:
			t.ClearFaults()
		case PartQuotas:
			a.usage.reset()
		default:
			t.server.journal.forgetKey(&a.seen, a.id)
		}
	}
	return nil
}
