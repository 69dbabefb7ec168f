package mockserver

import (
	"encoding/json"
	"errors"
)

// PutContribuyente adds taxpayers, or replaces those of the same RUC. The RUC must be 11 ASCII digits;
// every other field is served as it is, with [Assumptions.Estados] applied to Estado.
//
// This and the other setters act on the next request. A value that cannot be taken is an error, and in
// a server made by [New] also fails the test.
func (s *Server) PutContribuyente(cs ...Contribuyente) error {
	return s.put("PutContribuyente", Data{Contribuyentes: cs})
}

// PutComprobante adds receipts, or replaces those of the same issuer, type, series and number. RUCEmisor
// must be 11 digits, Tipo one of 01, 03, 07, 08, Numero 1 or more and Codigo one of the contract's five
// (service.md, 2.3 and 2.4). A receipt that was never put is answered with 98, No Existe.
func (s *Server) PutComprobante(cs ...Comprobante) error {
	return s.put("PutComprobante", Data{Comprobantes: cs})
}

// PutUsuarioSOL adds users of the tax authority's portal, or replaces those of the same RUC and user
// name, and forgets their wrong attempts and their block.
func (s *Server) PutUsuarioSOL(us ...SOL) error {
	return s.put("PutUsuarioSOL", Data{Usuarios: us})
}

// PutTipoCambio sets the rate of one day, over the default series: fecha is YYYY-MM-DD, compra and venta
// are positive decimals such as "3.750", served as JSON numbers with exactly these digits. It is an
// error for a day that has no rate by the contract (weekend, national holiday), and today's rate still
// appears at 17:00 in Lima and not before (service.md, 4.4).
func (s *Server) PutTipoCambio(fecha, compra, venta string) error {
	return s.put("PutTipoCambio", Data{TiposCambio: []TipoCambio{{fecha, json.Number(compra), json.Number(venta)}}})
}

// DeleteTipoCambio leaves one day, YYYY-MM-DD, without a rate: a bridge day, which no calendar foresees.
func (s *Server) DeleteTipoCambio(fecha string) error {
	return s.put("DeleteTipoCambio", Data{Deleted: Deleted{TiposCambio: []string{fecha}}})
}

// PutKey adds an API key with its daily quota in calls, or changes the quota of a key and keeps what it
// has used today: 0 refuses every call, [Unlimited] none. The key is a text of printable ASCII.
func (s *Server) PutKey(key string, quota int) error {
	return s.put("PutKey", Data{Keys: []Key{{key, quota}}})
}

// SetSUNATDown makes the tax authority's service not respond (true) or respond again (false). While it
// is down every well-formed receipt validation is a 500 (service.md, 4.3) and no SOL attempt is counted.
func (s *Server) SetSUNATDown(down bool) { s.data.Load().sunatDown.Store(down) }

// DeleteContribuyente takes taxpayers away, of the default data too; one that is not there is no error.
func (s *Server) DeleteContribuyente(rucs ...string) error {
	return s.put("DeleteContribuyente", Data{Deleted: Deleted{Contribuyentes: rucs}})
}

// DeleteComprobante takes a receipt away: it is answered with 98, No Existe, from then on.
func (s *Server) DeleteComprobante(rucEmisor, tipo, serie string, numero int) error {
	c := Comprobante{rucEmisor, tipo, serie, numero, CodigoNoExiste, ""}
	if err := c.check(); err != nil {
		return s.checked("DeleteComprobante", err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.data.Load().comprobantes.remove(c.id())
	return nil
}

// DeleteUsuarioSOL takes a user of the portal away, with its attempts and its block.
func (s *Server) DeleteUsuarioSOL(ruc, usuario string) error {
	return s.put("DeleteUsuarioSOL", Data{Deleted: Deleted{Usuarios: []UsuarioID{{ruc, usuario}}}})
}

// DeleteKey makes the server refuse a key from the next request on, and forgets its quota, its faults and
// its part of the journal. It is an error for a key that the server does not know.
func (s *Server) DeleteKey(key string) error {
	a := s.keys.account(key)
	if a == nil {
		return s.checked("DeleteKey", errUnknownKey)
	}
	s.keys.remove(key)
	s.faults.remove(func(f *ActiveFault) bool { return f.fault.Match.Key == key })
	s.journal.forget(a)
	return nil
}

// PutData puts d on the server, over what it has. Either all of it is taken, or the error says what
// cannot be, and nothing is.
func (s *Server) PutData(d Data) error { return s.put("PutData", d) }

// Data returns what was put on the server, from options, files and setters, over its default data, and
// its keys: a server started with it in [WithData] answers the same. The taxpayers of a [Registro] are
// not in it, and neither is what passes: used quotas, SOL attempts, faults. It carries claves and keys.
func (s *Server) Data() Data {
	d := s.data.Load().export()
	d.Keys = s.keys.all()
	return d
}

func (s *Server) put(setter string, d Data) error {
	if err := d.check(); err != nil {
		return s.checked(setter, err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	into := s.data.Load()
	var err error
	if d.WithoutDefaults {
		into, err = newDataset(false, nil)
	}
	err = errors.Join(err, into.put(d))
	for _, k := range d.Keys {
		err = errors.Join(err, s.putKey(k))
	}
	s.data.Store(into)
	return s.checked(setter, err)
}
