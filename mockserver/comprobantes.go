package mockserver

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Codes of a receipt validation, docs/contrato.md, 2.4.
const (
	CodigoAceptado  = "0"
	CodigoAnulado   = "2"
	CodigoEnProceso = "4"
	CodigoNoExiste  = "98"
	CodigoError     = "99"
)

// Comprobante is a receipt as the tax authority knows it. RUCEmisor, Tipo, Serie and Numero identify it;
// Serie is compared letter by letter.
type Comprobante struct {
	RUCEmisor string `json:"rucEmisor"`       // 11 digits
	Tipo      string `json:"tipoComprobante"` // 01, 03, 07 or 08
	Serie     string `json:"serie"`
	Numero    int    `json:"numero"`
	Codigo    string `json:"codigo"`  // one of the constants; it decides estado and esValido
	Mensaje   string `json:"mensaje"` // "" for a text made from Codigo
}

// resultados maps each code to its estado and to the message of a receipt that has none of its own.
var resultados = map[string]struct{ estado, mensaje string }{
	CodigoAceptado:  {"Aceptado", "El comprobante existe y está aceptado."},
	CodigoAnulado:   {"Anulado", "El comprobante fue anulado o comunicado de baja."},
	CodigoEnProceso: {"En Proceso", "El comprobante todavía no ha sido procesado."},
	CodigoNoExiste:  {"No Existe", "El comprobante no existe en los registros de SUNAT."},
	CodigoError:     {"Error", "Ocurrió un error durante la consulta en SUNAT."},
}

// tipos are the values of tipoComprobante, docs/contrato.md, 2.3.
var tipos = []string{"01", "03", "07", "08"}

type comprobanteID struct {
	emisor, tipo, serie string
	numero              int
}

func (c Comprobante) id() comprobanteID {
	return comprobanteID{c.RUCEmisor, c.Tipo, c.Serie, c.Numero}
}

func (c Comprobante) check() error {
	bad := func(english, spanish string) error {
		return cannotTake("receipt %+[1]v: "+english, "comprobante %[2]s-%[3]s-%[4]s-%[5]d: "+spanish, c, c.RUCEmisor, c.Tipo, c.Serie, c.Numero)
	}
	switch _, known := resultados[c.Codigo]; {
	case !isRUC(c.RUCEmisor):
		return bad("RUCEmisor is not 11 digits", "rucEmisor no tiene 11 dígitos")
	case !slices.Contains(tipos, c.Tipo):
		return bad("Tipo is none of 01, 03, 07, 08", "tipoComprobante no es 01, 03, 07 ni 08")
	case c.Serie == "" || c.Numero < 1:
		return bad("Serie is empty or Numero is below 1", "serie está vacía o numero es menor que 1")
	case !known:
		return bad("Codigo is none of 0, 2, 4, 98, 99", "codigo no es 0, 2, 4, 98 ni 99")
	}
	return nil
}

// comprobantes are the receipts of one server, over the default ones, which all servers read.
type comprobantes struct {
	mu   sync.RWMutex
	over map[comprobanteID]Comprobante
	base map[comprobanteID]Comprobante // never written
}

// put takes receipts that were checked.
func (s *comprobantes) put(cs ...Comprobante) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = make(map[comprobanteID]Comprobante, len(cs))
	}
	for _, c := range cs {
		s.over[c.id()] = c
	}
}

// remove forgets a receipt: it is No Existe from then on.
func (s *comprobantes) remove(id comprobanteID) {
	if _, ok := s.base[id]; ok {
		s.put(Comprobante{id.emisor, id.tipo, id.serie, id.numero, CodigoNoExiste, ""})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.over, id)
}

// all returns the receipts that were put, in the order of their identity.
func (s *comprobantes) all() []Comprobante {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.over), byIdentity)
}

func byIdentity(a, b Comprobante) int {
	return cmp.Or(cmp.Compare(a.RUCEmisor, b.RUCEmisor), cmp.Compare(a.Tipo, b.Tipo),
		cmp.Compare(a.Serie, b.Serie), cmp.Compare(a.Numero, b.Numero))
}

// list returns the receipts of an issuer, or all for "", those of the default data too, in the order of their
// identity. A default one that was deleted is not in it.
func (s *comprobantes) list(rucEmisor string) []Comprobante {
	s.mu.RLock()
	defer s.mu.RUnlock()
	cs := make([]Comprobante, 0, len(s.over)+len(s.base))
	for id, c := range s.base {
		if _, over := s.over[id]; !over {
			cs = append(cs, c)
		}
	}
	for id, c := range s.over {
		if _, base := s.base[id]; !base || c.Codigo != CodigoNoExiste || c.Mensaje != "" { // see remove
			cs = append(cs, c)
		}
	}
	cs = slices.DeleteFunc(cs, func(c Comprobante) bool { return rucEmisor != "" && c.RUCEmisor != rucEmisor })
	slices.SortFunc(cs, byIdentity)
	return cs
}

// find returns a receipt as the tax authority knows it, its message included; one that it does not know is
// No Existe.
func (s *comprobantes) find(id comprobanteID) Comprobante {
	s.mu.RLock()
	c, ok := s.over[id]
	s.mu.RUnlock()
	if !ok {
		c, ok = s.base[id]
	}
	if !ok {
		c.Codigo = CodigoNoExiste
	}
	if c.Mensaje == "" {
		c.Mensaje = resultados[c.Codigo].mensaje
	}
	return c
}
