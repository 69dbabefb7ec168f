package mockserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/fiscope/fiscope"
)

// Control is what a program needs that serves a [Server] to others, such as fiscope-mock. Tests need none of it.
type Control struct{ s *Server }

// Control returns the server's control.
func (s *Server) Control() Control { return Control{s} }

// ConnContext numbers connections. Use it in your own [http.Server].
func (c Control) ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return c.s.connContext(ctx, conn)
}

// Changes waits for changes after the revision since that match f. 0 is the beginning. It returns at most 1000 changes,
// and the revision to continue from, also with an error: the cause of ctx. If since is beyond the journal's last
// revision, the first change has Rev 0: forget all.
func (c Control) Changes(ctx context.Context, since int64, f Filter) (changes []Change, rev int64, err error) {
	for {
		changes, rev, changed := c.s.journal.after(since, c.s.filter(f)) // each time: a key may have been added
		if len(changes) > 0 {
			return changes, rev, nil
		}
		since = rev
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, rev, context.Cause(ctx)
		}
	}
}

// Revision returns the number of the journal's last revision, 0 for none.
func (c Control) Revision() int64 {
	c.s.journal.mu.Lock()
	defer c.s.journal.mu.Unlock()
	return c.s.journal.revision
}

// Dropped returns how many requests of a key, "" for all, were dropped.
func (c Control) Dropped(key string) int { return c.s.dropped(key) }

// WithoutKeys replaces known keys, and more, in text by fingerprints.
func (c Control) WithoutKeys(text string, more ...string) string {
	return c.s.withoutKeys(text, more...)
}

// AddFault sets a fault, and replaces the one of the same name and key.
func (c Control) AddFault(f Fault) (*ActiveFault, error) { return c.s.faults.add(f) }

// Faults returns the faults of a key, "" for all, in order: ended ones too, but not removed ones.
func (c Control) Faults(key string) (list []FaultStatus) {
	for _, f := range c.s.faults.list() {
		if key == "" || f.fault.Match.Key == key {
			list = append(list, f.Status())
		}
	}
	return list
}

// FindFault returns the first fault of a key, "" for any, with a name, or nil.
func (c Control) FindFault(key, name string) *ActiveFault {
	for _, f := range c.s.faults.list() {
		if f.fault.Name == name && (key == "" || key == f.fault.Match.Key) {
			return f
		}
	}
	return nil
}

// ClearFaults removes the faults of a key, "" for all.
func (c Control) ClearFaults(key string) { c.s.faults.clear(key) }

// ResetKey resets the journal, the faults and the quota of a key, or some of them.
func (c Control) ResetKey(key string, only ...Part) error {
	a := c.s.keys.account(key)
	if a == nil {
		return c.s.checked("ResetKey", errUnknownKey)
	}
	clears := map[Part]func(){
		PartFaults: func() { c.ClearFaults(key) }, PartQuotas: a.usage.reset, PartJournal: func() { c.s.journal.forget(&a.seen, a.id, false) },
	}
	if len(only) == 0 {
		only = []Part{PartFaults, PartQuotas, PartJournal}
	}
	for _, part := range only {
		if clears[part] == nil {
			return c.s.checked("ResetKey", fmt.Errorf("la parte %q no es de una sola clave de API: quite X-API-KEY", string(part)))
		}
	}
	for _, part := range only {
		clears[part]()
	}
	return nil
}

// Keys returns the API keys with their quotas, the server's own first.
func (c Control) Keys() []Key { return c.s.keys.all() }

// Frozen reports whether the server's clock is stopped.
func (c Control) Frozen() bool {
	m := c.s.clock.moved.Load()
	return m != nil && m.frozen
}

// Assumptions returns the current readings. Quota is that of the own key.
func (c Control) Assumptions() Assumptions {
	a := *c.s.assume.Load()
	if own := c.s.keys.account(c.s.APIKey); own != nil {
		a.Quota = int(own.limit.Load())
	}
	return a
}

// SetAssumptions changes the readings, and the quota of the own key.
func (c Control) SetAssumptions(a Assumptions) error {
	if err := a.validate(); err != nil {
		return c.s.checked("SetAssumptions", err)
	}
	c.s.writing.Lock()
	defer c.s.writing.Unlock()
	if own := c.s.keys.account(c.s.APIKey); own != nil {
		own.limit.Store(int64(a.Quota))
	}
	c.s.assume.Store(&a)
	return nil
}

// ReadData reads the JSON of [Data] strictly. Errors begin with name and line.
func (Control) ReadData(r io.Reader, name string) (Data, error) { return readData(r, name) }

// PutData adds d to the server's data: all of it, or nothing and an error.
func (c Control) PutData(d Data) error {
	return c.s.put("PutData", d)
}

// Reload replaces the data and keys with those of the options.
func (c Control) Reload(opts ...Option) error {
	to, err := newConfig(opts)
	if err != nil {
		return c.s.checked("Reload", err)
	}
	c.s.writing.Lock()
	c.s.config.data, c.s.config.defaultData = to.data, to.defaultData
	c.s.writing.Unlock()
	return c.s.loadData()
}

// Contribuyente returns a stored taxpayer. Errors are the [Registro]'s.
func (c Control) Contribuyente(ctx context.Context, ruc string) (Contribuyente, bool, error) {
	return c.s.data.Load().contribuyentes.porRUC(ctx, ruc)
}

// First returns the first limite taxpayers whose RUC begins with prefijo, sorted: those that were set, then those of the
// default data. Another [Registro] cannot be asked for them.
func (c Control) First(prefijo string, limite int) []Contribuyente {
	return c.s.data.Load().contribuyentes.first(prefijo, limite)
}

// Buscar returns what a search finds.
func (c Control) Buscar(ctx context.Context, texto string, limite int) ([]Contribuyente, error) {
	return c.s.data.Load().contribuyentes.buscar(ctx, texto, limite)
}

// Comprobantes returns the receipts of an issuer, or all for "", sorted.
func (c Control) Comprobantes(rucEmisor string) []Comprobante {
	return c.s.data.Load().comprobantes.list(rucEmisor)
}

// DeleteComprobante deletes a receipt: its answer is 98, No Existe.
func (c Control) DeleteComprobante(rucEmisor, tipo, serie string, numero int) error {
	r := Comprobante{RUCEmisor: rucEmisor, Tipo: tipo, Serie: serie, Numero: numero, Codigo: CodigoNoExiste}
	if err := r.check(); err != nil {
		return c.s.checked("DeleteComprobante", err)
	}
	c.s.writing.Lock()
	defer c.s.writing.Unlock()
	c.s.data.Load().comprobantes.remove(r.id())
	return nil
}

// RestoreTipoCambio restores the default rate of a day, YYYY-MM-DD.
func (c Control) RestoreTipoCambio(fecha string) error {
	day, err := diaDeTipoCambio(fecha)
	if err != nil {
		return c.s.checked("RestoreTipoCambio", err)
	}
	c.s.writing.Lock()
	defer c.s.writing.Unlock()
	c.s.data.Load().tiposCambio.restore(day)
	return nil
}

// TipoCambio returns the server's present answer for a day.
func (c Control) TipoCambio(fecha fiscope.Fecha) TipoCambioDelDia {
	return c.s.data.Load().tiposCambio.delDia(fecha, c.s.Now())
}

// UsuariosSOL returns the SOL users with their claves, sorted.
func (c Control) UsuariosSOL() []SOL { return c.s.data.Load().sol.all() }

// UnblockSOL ends a SOL user's block and clears its wrong attempts.
func (c Control) UnblockSOL(ruc, usuario string) error {
	if !c.s.data.Load().sol.unblock(UsuarioID{ruc, usuario}) {
		return c.s.checked("UnblockSOL", errors.New("el servidor no conoce ese usuario SOL"))
	}
	return nil
}

// Recorded reports whether lookups, searches and rates are answered by a recording or a real service instead of the data.
func (c Control) Recorded() bool { return c.s.recording != nil }

// SUNATDown reports whether the tax authority is down.
func (c Control) SUNATDown() bool { return c.s.data.Load().sunatDown.Load() }
