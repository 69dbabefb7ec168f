package mockserver

import (
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// PutContribuyente adds or replaces taxpayers, from the next request on. As in every setter, an invalid value is an error
// and fails the test of [New].
func (s *Server) PutContribuyente(cs ...Contribuyente) error {
	s.t.Helper()
	return s.put("PutContribuyente", Data{Contribuyentes: cs})
}

// DeleteContribuyente deletes taxpayers. A missing one is not an error.
func (s *Server) DeleteContribuyente(rucs ...string) error {
	s.t.Helper()
	return s.put("DeleteContribuyente", Data{Deleted: Deleted{Contribuyentes: rucs}})
}

// PutComprobante adds or replaces receipts. Others are 98, No Existe.
func (s *Server) PutComprobante(cs ...Comprobante) error {
	s.t.Helper()
	return s.put("PutComprobante", Data{Comprobantes: cs})
}

// PutTipoCambio sets a business day's rate, such as "3.750" and "3.760".
func (s *Server) PutTipoCambio(fecha, compra, venta string) error {
	s.t.Helper()
	return s.put("PutTipoCambio", Data{TiposCambio: []TipoCambio{{fecha, json.Number(compra), json.Number(venta)}}})
}

// DeleteTipoCambio removes the rate of a day, YYYY-MM-DD.
func (s *Server) DeleteTipoCambio(fecha string) error {
	s.t.Helper()
	return s.put("DeleteTipoCambio", Data{Deleted: Deleted{TiposCambio: []string{fecha}}})
}

// PutUsuarioSOL adds or replaces SOL users, without attempts or block.
func (s *Server) PutUsuarioSOL(us ...SOL) error {
	s.t.Helper()
	return s.put("PutUsuarioSOL", Data{Usuarios: us})
}

// DeleteUsuarioSOL deletes a SOL user, with its attempts and its block.
func (s *Server) DeleteUsuarioSOL(ruc, usuario string) error {
	s.t.Helper()
	return s.put("DeleteUsuarioSOL", Data{Deleted: Deleted{Usuarios: []UsuarioID{{ruc, usuario}}}})
}

// SOLState returns the state of a user, and whether the server knows it.
func (s *Server) SOLState(ruc, usuario string) (SOLState, bool) {
	return s.data.Load().sol.state(UsuarioID{ruc, usuario}, s.Now())
}

// SetSUNATDown makes the tax authority fail (500, no SOL attempt) or recover.
func (s *Server) SetSUNATDown(down bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.data.Load().sunatDown.Store(down)
}

// PutKey adds a key, or changes its quota and keeps today's usage.
func (s *Server) PutKey(key string, quota int) error {
	s.t.Helper()
	return s.put("PutKey", Data{Keys: []Key{{key, quota}}})
}

// DeleteKey deletes a key, with its quota, faults and requests.
func (s *Server) DeleteKey(key string) error {
	s.t.Helper()
	a := s.keys.account(key)
	if a == nil {
		return s.checked("DeleteKey", errUnknownKey)
	}
	s.forgetKey(key, a)
	return nil
}

// Quota returns a key's quota, and whether the server knows the key.
func (s *Server) Quota(key string) (Quota, bool) {
	a := s.keys.account(key)
	if a == nil {
		return Quota{}, false
	}
	return a.quota(s.Now(), s.assume.Load().ResetZone), true
}

// SetQuotaUsed sets how many calls a key has made today.
func (s *Server) SetQuotaUsed(key string, used int) error {
	s.t.Helper()
	a := s.keys.account(key)
	switch {
	case a == nil:
		return s.checked("SetQuotaUsed", errUnknownKey)
	case used < 0:
		return s.checked("SetQuotaUsed", errors.New("un número menor que 0"))
	}
	a.setUsed(used, s.Now(), s.assume.Load().ResetZone)
	return nil
}

// SetNow sets the server's clock, from 1970 to 9000-01-01. It keeps running.
func (s *Server) SetNow(t time.Time) error {
	s.t.Helper()
	return s.checked("SetNow", s.clock.change(func(to *shift) { to.at = t }))
}

// Advance moves the server's clock by d, also if negative; see [Server.SetNow].
func (s *Server) Advance(d time.Duration) error {
	s.t.Helper()
	return s.checked("Advance", s.clock.change(func(to *shift) { to.at = to.at.Add(d) }))
}

// Freeze stops the server's clock.
func (s *Server) Freeze() { _ = s.clock.change(func(to *shift) { to.frozen = true }) }

// Resume starts a frozen clock again.
func (s *Server) Resume() { _ = s.clock.change(func(to *shift) { to.frozen = false }) }

// Fault sets a fault: the calls that match m get its steps in turn, or a single step each. The first fault that is due and
// changes the answer meets a call. An invalid fault ends the test of [New]; after [Start], it panics.
func (s *Server) Fault(m Match, steps ...Step) *ActiveFault {
	s.t.Helper()
	f := Fault{Match: m}
	for _, step := range steps {
		f.Steps = append(f.Steps, step.effect())
	}
	active, err := s.faults.add(f)
	if err != nil {
		s.t.Fatalf("mockserver: Fault: %v", err)
	}
	return active
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() { s.faults.clear("") }

// Data returns the data added to the default data, with keys and claves, for [WithData]. It omits a [Registro]'s taxpayers,
// quota usage, attempts and faults.
func (s *Server) Data() Data {
	d := s.data.Load().export()
	d.Keys = s.keys.all()
	d.Deleted.DefaultKey = len(d.Keys) == 0 || d.Keys[0].Key != DefaultAPIKey // the server's own key is first
	return d
}

// put adds d; setter is the method's name for its error.
func (s *Server) put(setter string, d Data) error {
	s.t.Helper()
	if _, _, err := d.firstWrong(); err != nil {
		return s.checked(setter, err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	into := s.data.Load()
	if d.WithoutDefaults {
		down := into.sunatDown.Load()
		var err error
		if into, err = newDataset(false, s.config.registro); err != nil {
			return s.checked(setter, err)
		}
		into.sunatDown.Store(down)
	}
	if s.config.withoutDefaultKey(d) {
		putBack := slices.ContainsFunc(d.Keys, func(k Key) bool { return k.Key == DefaultAPIKey })
		if a := s.keys.account(DefaultAPIKey); a != nil && !putBack {
			s.forgetKey(DefaultAPIKey, a)
		}
	}
	into.put(d)
	s.keys.put(d.Keys...)
	s.data.Store(into)
	return nil
}
