package mockserver

// PutContribuyente adds taxpayers, or replaces those of the same RUC. The RUC must be 11 ASCII digits;
// every other field is served as it is, with [Assumptions.Estados] applied to Estado.
//
// This and the other setters act on the next request. A value that cannot be taken is an error, and in
// a server made by [New] also fails the test.
func (s *Server) PutContribuyente(cs ...Contribuyente) error {
	return s.checked("PutContribuyente", s.contribuyentes.over.Put(cs...))
}

// PutComprobante adds receipts, or replaces those of the same issuer, type, series and number. RUCEmisor
// must be 11 digits, Tipo one of 01, 03, 07, 08, Numero 1 or more and Codigo one of the contract's five
// (service.md, 2.3 and 2.4). A receipt that was never put is answered with 98, No Existe.
func (s *Server) PutComprobante(cs ...Comprobante) error {
	return s.checked("PutComprobante", s.comprobantes.put(cs...))
}

// PutUsuarioSOL adds users of the tax authority's portal, or replaces those of the same RUC and user
// name, and forgets their wrong attempts and their block.
func (s *Server) PutUsuarioSOL(us ...SOL) error {
	return s.checked("PutUsuarioSOL", s.sol.put(us...))
}

// PutTipoCambio sets the rate of one day, over the default series: fecha is YYYY-MM-DD, compra and venta
// are positive decimals such as "3.750", served as JSON numbers with exactly these digits. It is an
// error for a day that has no rate by the contract (weekend, national holiday), and today's rate still
// appears at 17:00 in Lima and not before (service.md, 4.4).
func (s *Server) PutTipoCambio(fecha, compra, venta string) error {
	return s.checked("PutTipoCambio", s.rates.put(fecha, compra, venta))
}

// DeleteTipoCambio leaves one day, YYYY-MM-DD, without a rate: a bridge day, which no calendar foresees.
func (s *Server) DeleteTipoCambio(fecha string) error {
	return s.checked("DeleteTipoCambio", s.rates.remove(fecha))
}

// PutKey adds an API key with its daily quota in calls, or changes the quota of a key and keeps what it
// has used today: 0 refuses every call, [Unlimited] none. The key is a text of printable ASCII.
func (s *Server) PutKey(key string, quota int) error {
	return s.checked("PutKey", s.putKey(key, quota))
}

// SetSUNATDown makes the tax authority's service not respond (true) or respond again (false). While it
// is down every well-formed receipt validation is a 500 (service.md, 4.3) and no SOL attempt is counted.
func (s *Server) SetSUNATDown(down bool) { s.sunatDown.Store(down) }
