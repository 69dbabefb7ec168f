package mockserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
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

// Contribuyente returns a stored taxpayer. Errors are the [Registro]'s.
func (s *Server) Contribuyente(ctx context.Context, ruc string) (Contribuyente, bool, error) {
	return s.data.Load().contribuyentes.porRUC(ctx, ruc)
}

// Contribuyentes returns at most limite stored taxpayers: first by the beginning of the RUC (in your own [Registro], the
// whole RUC), then by name.
func (s *Server) Contribuyentes(ctx context.Context, texto string, limite int) ([]Contribuyente, error) {
	return s.data.Load().contribuyentes.list(ctx, strings.TrimSpace(texto), max(0, limite))
}

// PutComprobante adds or replaces receipts. Others are 98, No Existe.
func (s *Server) PutComprobante(cs ...Comprobante) error {
	s.t.Helper()
	return s.put("PutComprobante", Data{Comprobantes: cs})
}

// DeleteComprobante deletes a receipt: its answer is 98, No Existe.
func (s *Server) DeleteComprobante(rucEmisor, tipo, serie string, numero int) error {
	s.t.Helper()
	c := Comprobante{RUCEmisor: rucEmisor, Tipo: tipo, Serie: serie, Numero: numero, Codigo: CodigoNoExiste}
	if err := c.check(); err != nil {
		return s.checked("DeleteComprobante", err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.data.Load().comprobantes.remove(c.id())
	return nil
}

// Comprobantes returns the receipts of an issuer, or all for "", sorted.
func (s *Server) Comprobantes(rucEmisor string) []Comprobante {
	return s.data.Load().comprobantes.list(rucEmisor)
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

// RestoreTipoCambio restores the default rate of a day, YYYY-MM-DD.
func (s *Server) RestoreTipoCambio(fecha string) error {
	s.t.Helper()
	day, err := diaDeTipoCambio(fecha)
	if err != nil {
		return s.checked("RestoreTipoCambio", err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.data.Load().tiposCambio.restore(day)
	return nil
}

// TiposCambio returns the server's present answer for each day of a month.
func (s *Server) TiposCambio(year int, month time.Month) []TipoCambioDelDia {
	var days []TipoCambioDelDia
	rates, now := &s.data.Load().tiposCambio, s.Now()
	for day := fiscope.NewFecha(year, month, 1); day.Valid() && day.Month() == month; day = day.SumarDias(1) {
		days = append(days, rates.delDia(day, now))
	}
	return days
}

// PutUsuarioSOL adds or replaces SOL users, without attempts or block.
func (s *Server) PutUsuarioSOL(us ...SOL) error {
	s.t.Helper()
	return s.put("PutUsuarioSOL", Data{Usuarios: us})
}

// ChangeUsuarioSOL changes a SOL user, or adds one without a clave.
func (s *Server) ChangeUsuarioSOL(ruc, usuario string, change func(*SOL)) error {
	s.t.Helper()
	u := SOL{RUC: ruc, Usuario: usuario}
	for _, known := range s.data.Load().sol.all() {
		if known.id() == u.id() {
			u = known
		}
	}
	change(&u)
	u.RUC, u.Usuario = ruc, usuario
	return s.put("ChangeUsuarioSOL", Data{Usuarios: []SOL{u}})
}

// UsuariosSOL returns the SOL users, [RUCSolicitante]'s first.
func (s *Server) UsuariosSOL() []SOLStatus {
	us := []SOLStatus{}
	for _, u := range s.data.Load().sol.all() {
		state, _ := s.SOLState(u.RUC, u.Usuario)
		us = append(us, SOLStatus{u.id(), u.Principal, state})
	}
	others := slices.DeleteFunc(slices.Clone(us), func(u SOLStatus) bool { return u.RUC == RUCSolicitante })
	return append(slices.DeleteFunc(us, func(u SOLStatus) bool { return u.RUC != RUCSolicitante }), others...)
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

// UnblockSOL ends a SOL user's block and clears its wrong attempts.
func (s *Server) UnblockSOL(ruc, usuario string) error {
	s.t.Helper()
	if !s.data.Load().sol.unblock(UsuarioID{ruc, usuario}) {
		return s.checked("UnblockSOL", errors.New("el servidor no conoce ese usuario SOL"))
	}
	return nil
}

// SetSUNATDown makes the tax authority fail (500, no SOL attempt) or recover.
func (s *Server) SetSUNATDown(down bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.data.Load().sunatDown.Store(down)
}

// SUNATDown reports whether the tax authority is down.
func (s *Server) SUNATDown() bool { return s.data.Load().sunatDown.Load() }

// PutKey adds a key, or changes its quota and keeps today's usage.
func (s *Server) PutKey(key string, quota int) error {
	s.t.Helper()
	return s.put("PutKey", Data{Keys: []Key{{key, quota}}})
}

// Keys returns the API keys with their quotas, the server's own first.
func (s *Server) Keys() []Key { return s.keys.all() }

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

func (s *Server) forgetKey(key string, a *account) {
	s.keys.remove(key)
	s.faults.removeOf(key)
	s.journal.deleteKey(&a.seen, a.id)
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

// Assumptions returns the current readings. Quota is that of the own key.
func (s *Server) Assumptions() Assumptions {
	a := *s.assume.Load()
	if own := s.keys.account(s.APIKey); own != nil {
		a.Quota = own.daily()
	}
	return a
}

// SetAssumptions changes the readings, and the quota of the own key.
func (s *Server) SetAssumptions(a Assumptions) error {
	s.t.Helper()
	if err := a.validate(); err != nil {
		return s.checked("SetAssumptions", err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if own := s.keys.account(s.APIKey); own != nil {
		own.setLimit(a.Quota)
	}
	s.assume.Store(&a)
	return nil
}

// PutData adds d to the server's data: all of it, or nothing and an error.
func (s *Server) PutData(d Data) error {
	s.t.Helper()
	return s.put("PutData", d)
}

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
	if err := d.check(); err != nil {
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

// checked reports a setter's error to the test as well: tests rarely check it, and a rejected value must not go unnoticed.
func (s *Server) checked(setter string, err error) error {
	err = fmt.Errorf("mockserver: %s: %w", setter, err)
	s.t.Helper()
	s.t.Errorf("%v", err)
	return err
}
