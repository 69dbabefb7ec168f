package mockserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
)

// PutContribuyente adds taxpayers, or replaces those of the same RUC. The RUC must be 11 ASCII digits;
// every other field is served as it is, with [Assumptions.Estados] applied to Estado and [Assumptions.Unknown] to what
// has no value.
//
// This and the other setters act on the next request. A value that cannot be taken is an error, and in
// a server made by [New] also fails the test.
func (s *Server) PutContribuyente(cs ...Contribuyente) error {
	s.t.Helper()
	return s.put("PutContribuyente", Data{Contribuyentes: cs})
}

// DeleteContribuyente takes taxpayers away, of the default data too; one that is not there is no error.
func (s *Server) DeleteContribuyente(rucs ...string) error {
	s.t.Helper()
	return s.put("DeleteContribuyente", Data{Deleted: Deleted{Contribuyentes: rucs}})
}

// Contribuyente returns a taxpayer by its RUC as it is stored, and whether the server has it. An error is the
// [Registro]'s.
func (s *Server) Contribuyente(ctx context.Context, ruc string) (Contribuyente, bool, error) {
	return s.data.Load().contribuyentes.porRUC(ctx, ruc)
}

// Contribuyentes returns at most limite taxpayers as they are stored: those whose RUC begins with texto, the ones
// that were put before the default ones, and then those whose name holds it, best first. For "" it returns the
// first of all. Of the taxpayers of a [Registro] other than [RegistroEnMemoria] it finds those with the whole RUC
// and those with the name: there may be millions, and it does not list them. An error is the Registro's.
func (s *Server) Contribuyentes(ctx context.Context, texto string, limite int) ([]Contribuyente, error) {
	return s.data.Load().contribuyentes.list(ctx, strings.TrimSpace(texto), max(0, limite))
}

// PutComprobante adds receipts, or replaces those of the same issuer, type, series and number. RUCEmisor
// must be 11 digits, Tipo one of 01, 03, 07, 08, Numero 1 or more and Codigo one of the contract's five
// (docs/contrato.md, 2.3 and 2.4). A receipt that was never put is answered with 98, No Existe.
func (s *Server) PutComprobante(cs ...Comprobante) error {
	s.t.Helper()
	return s.put("PutComprobante", Data{Comprobantes: cs})
}

// DeleteComprobante takes a receipt away: it is answered with 98, No Existe, from then on.
func (s *Server) DeleteComprobante(rucEmisor, tipo, serie string, numero int) error {
	s.t.Helper()
	c := Comprobante{rucEmisor, tipo, serie, numero, CodigoNoExiste, ""}
	if err := c.check(); err != nil {
		return s.checked("DeleteComprobante", err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.data.Load().comprobantes.remove(c.id())
	return nil
}

// Comprobantes returns the receipts of an issuer, or all for "", those of the default data too, in the order of
// issuer, type, series and number.
func (s *Server) Comprobantes(rucEmisor string) []Comprobante {
	return s.data.Load().comprobantes.list(rucEmisor)
}

// PutTipoCambio sets the rate of one day, over the default series: fecha is YYYY-MM-DD, compra and venta
// are positive decimals such as "3.750", served as JSON numbers with exactly these digits. It is an
// error for a day that has no rate by the contract (weekend, national holiday), and today's rate still
// appears at 17:00 in Lima and not before (docs/contrato.md, 4.4).
func (s *Server) PutTipoCambio(fecha, compra, venta string) error {
	s.t.Helper()
	return s.put("PutTipoCambio", Data{TiposCambio: []TipoCambio{{fecha, json.Number(compra), json.Number(venta)}}})
}

// DeleteTipoCambio leaves one day, YYYY-MM-DD, without a rate: a bridge day, which no calendar foresees.
func (s *Server) DeleteTipoCambio(fecha string) error {
	s.t.Helper()
	return s.put("DeleteTipoCambio", Data{Deleted: Deleted{TiposCambio: []string{fecha}}})
}

// RestoreTipoCambio forgets what was put for one day, YYYY-MM-DD, or that it was left without a rate: the default
// series is in force again.
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

// TiposCambio returns how the server answers for each day of a month now, by its clock. It is empty for a month
// outside of the years 1 to 9999.
func (s *Server) TiposCambio(year int, month time.Month) []TipoCambioDelDia {
	var days []TipoCambioDelDia
	rates, now, delay := &s.data.Load().tiposCambio, s.clock.Now(), s.assume.Load().PublicationDelay
	for day := fiscope.NewFecha(year, month, 1); day.Valid() && day.Month() == month; day = day.AddDays(1) {
		days = append(days, rates.delDia(day, now, delay))
	}
	return days
}

// PutUsuarioSOL adds users of the tax authority's portal, or replaces those of the same RUC and user
// name, and forgets their wrong attempts and their block.
func (s *Server) PutUsuarioSOL(us ...SOL) error {
	s.t.Helper()
	return s.put("PutUsuarioSOL", Data{Usuarios: us})
}

// ChangeUsuarioSOL changes a user of the portal, or adds one: change gets it as it is, or with an empty clave where
// there is none, and what it leaves is put as by [Server.PutUsuarioSOL]. It must call no method of the server; where
// it returns an error, nothing is changed.
func (s *Server) ChangeUsuarioSOL(ruc, usuario string, change func(*SOL) error) error {
	s.t.Helper()
	s.writing.Lock()
	defer s.writing.Unlock()
	users := &s.data.Load().sol
	u := users.user(UsuarioID{ruc, usuario})
	err := change(&u)
	if err == nil {
		u.RUC, u.Usuario = ruc, usuario
		err = u.check()
	}
	if err != nil {
		return s.checked("ChangeUsuarioSOL", err)
	}
	users.change(nil, []SOL{u})
	return nil
}

// UsuariosSOL returns the users of the portal with how they stand and without their claves: those of
// [RUCSolicitante] first, then by RUC and name.
func (s *Server) UsuariosSOL() []SOLStatus {
	return s.data.Load().sol.list(s.clock.Now(), RUCSolicitante)
}

// DeleteUsuarioSOL takes a user of the portal away, with its attempts and its block.
func (s *Server) DeleteUsuarioSOL(ruc, usuario string) error {
	s.t.Helper()
	return s.put("DeleteUsuarioSOL", Data{Deleted: Deleted{Usuarios: []UsuarioID{{ruc, usuario}}}})
}

// SOLState returns the state of a user, and whether the server knows it.
func (s *Server) SOLState(ruc, usuario string) (SOLState, bool) {
	return s.data.Load().sol.state(UsuarioID{ruc, usuario}, s.clock.Now())
}

// UnblockSOL forgets a user's wrong attempts and ends its block. It is an error for a user that the
// server does not know.
func (s *Server) UnblockSOL(ruc, usuario string) error {
	s.t.Helper()
	if !s.data.Load().sol.unblock(UsuarioID{ruc, usuario}) {
		return s.checked("UnblockSOL", cannotTake("the server does not know this SOL user", "el servidor no conoce ese usuario SOL"))
	}
	return nil
}

// SetSUNATDown makes the tax authority's service not respond (true) or respond again (false). While it
// is down every well-formed receipt validation is a 500 (docs/contrato.md, 4.3) and no SOL attempt is
// counted.
func (s *Server) SetSUNATDown(down bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.data.Load().sunatDown.Store(down)
}

// SUNATDown reports whether the tax authority does not respond; see [Server.SetSUNATDown].
func (s *Server) SUNATDown() bool { return s.data.Load().sunatDown.Load() }

// PutKey adds an API key with its daily quota in calls, or changes the quota of a key and keeps what it
// has used today: 0 refuses every call, [Unlimited] none. The key is a text of printable ASCII.
func (s *Server) PutKey(key string, quota int) error {
	s.t.Helper()
	return s.put("PutKey", Data{Keys: []Key{{key, quota}}})
}

// Keys returns the API keys with their quotas, the server's own first and the others in order.
func (s *Server) Keys() []Key { return s.keys.all() }

// DeleteKey makes the server refuse a key from the next request on, and forgets its quota, its faults and
// its part of the journal. It is an error for a key that the server does not know.
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
	s.journal.takeAway(&a.seen, a.id)
}

// Quota returns where a key stands, and whether the server knows the key.
func (s *Server) Quota(key string) (Quota, bool) {
	a := s.keys.account(key)
	if a == nil {
		return Quota{}, false
	}
	return a.quota(s.clock.Now(), s.assume.Load()), true
}

// SetQuotaUsed makes it as if a key had made used calls today: with the limit or more, its next call is
// refused. It is an error for a key that the server does not know.
func (s *Server) SetQuotaUsed(key string, used int) error {
	s.t.Helper()
	a := s.keys.account(key)
	switch {
	case a == nil:
		return s.checked("SetQuotaUsed", errUnknownKey)
	case used < 0:
		return s.checked("SetQuotaUsed", cannotTake("a number below 0", "un número menor que 0"))
	}
	a.setUsed(used, s.clock.Now(), s.assume.Load())
	return nil
}

// OwnKey returns the server's own key: [Server.APIKey] or, once data that were put have taken that away
// ([Deleted]), the first key of those data. It may have been taken away too: [Server.Quota] tells.
func (s *Server) OwnKey() string { return *s.keys.own.Load() }

// Assumptions returns the readings that are in force; see [Server.SetAssumptions]. Its Quota is the limit of the
// server's own key, whatever set it.
func (s *Server) Assumptions() Assumptions {
	a := *s.assume.Load()
	if own := s.keys.ownAccount(); own != nil {
		a.Quota = own.daily()
	}
	return a
}

// SetAssumptions changes the readings of a server, from the next request on; see [WithAssumptions]. Its Quota
// becomes that of the server's own key and of the keys without one of their own ([WithKeys]). By another ResetZone or ResetRolling the day is another one, of which nobody has used anything,
// unless the server has read it so before and the key still remembers that day ([Server.SetNow]). A reset of
// [PartData] goes back to the readings that the server started with.
func (s *Server) SetAssumptions(a Assumptions) error {
	s.t.Helper()
	if err := a.validate(); err != nil {
		return s.checked("SetAssumptions", err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.keys.setLimit(a.Quota)
	s.assume.Store(&a)
	return nil
}

// ChangeAssumptions changes some of the readings, and the others stay as they are, also where somebody else
// changes those at the same time. change must call no method of the server; where it returns an error, nothing
// is changed.
func (s *Server) ChangeAssumptions(change func(*Assumptions) error) error {
	s.t.Helper()
	s.writing.Lock()
	defer s.writing.Unlock()
	old := s.Assumptions()
	a := old
	err := change(&a)
	if err == nil {
		err = a.validate()
	}
	if err != nil {
		return s.checked("ChangeAssumptions", err)
	}
	if a.Quota != old.Quota {
		s.keys.setLimit(a.Quota)
	}
	s.assume.Store(&a)
	return nil
}

// PutData puts d on the server, over what it has. Either all of it is taken, or the error says what
// cannot be, and nothing is.
func (s *Server) PutData(d Data) error {
	s.t.Helper()
	return s.put("PutData", d)
}

// Data returns what was put on the server, from options, files and setters, over its default data, and
// its keys, the server's own one first: a server started with it in [WithData] answers the same. The taxpayers of a [Registro] are
// not in it, and neither is what passes: used quotas, SOL attempts, faults. It carries claves and keys.
func (s *Server) Data() Data {
	d := s.data.Load().export()
	d.Keys = s.keys.all()
	d.Deleted.DefaultKey = len(d.Keys) == 0 || d.Keys[0].Key != DefaultAPIKey // a server that has it at first has it first
	return d
}

// put puts d on the server; setter is the name of the method for its error.
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
		if len(d.Keys) > 0 && s.OwnKey() == DefaultAPIKey {
			s.keys.own.Store(&d.Keys[0].Key)
		}
	}
	into.put(d)
	s.keys.put(d.Keys...)
	s.data.Store(into)
	return nil
}

// checked reports a setter's error to the test as well: nobody checks a setter's error in a test, and
// a value that was not taken must not pass in silence.
func (s *Server) checked(setter string, err error) error {
	err = fmt.Errorf("mockserver: %s: %w", setter, err)
	s.t.Helper()
	s.t.Errorf("%v", err)
	return err
}
