package mockserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fiscope/fiscope/internal/strictjson"
)

// Codes of a receipt validation, docs/contract.md, 2.4.
const (
	CodigoAceptado  = "0"
	CodigoAnulado   = "2"
	CodigoEnProceso = "4"
	CodigoNoExiste  = "98"
	CodigoError     = "99"
)

// Comprobante is a receipt. RUCEmisor, Tipo, Serie and Numero identify it.
type Comprobante struct {
	RUCEmisor string   `json:"rucEmisor"`       // 11 digits
	Tipo      string   `json:"tipoComprobante"` // 01, 03, 07 or 08
	Serie     string   `json:"serie"`
	Numero    int      `json:"numero"`
	Codigo    string   `json:"codigo"`          // one of the constants; it determines estado and esValido
	Mensaje   string   `json:"mensaje"`         // "" for the default text of Codigo
	Luego     []Cambio `json:"luego,omitempty"` // later changes; the last one that is due applies
}

// Cambio is a change of a receipt after a time, or after a number of answers.
type Cambio struct {
	Codigo    string        `json:"codigo"`              // as in Comprobante
	Mensaje   string        `json:"mensaje,omitempty"`   // as in Comprobante
	Tras      time.Duration `json:"tras,omitempty"`      // since the first question, by the server's clock
	Consultas int           `json:"consultas,omitempty"` // total number of answers before the change
}

type (
	plainCambio Cambio
	jsonCambio  struct {
		*plainCambio
		Tras strictjson.Duration `json:"tras,omitempty"`
	}
)

// MarshalJSON writes the duration as text: "2m0s".
func (c Cambio) MarshalJSON() ([]byte, error) {
	plain := plainCambio(c)
	return json.Marshal(jsonCambio{&plain, strictjson.Duration(c.Tras)})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses an unknown member.
func (c *Cambio) UnmarshalJSON(text []byte) error {
	j := jsonCambio{plainCambio: new(plainCambio)}
	if err := strictjson.Decode(text, &j); err != nil {
		return err
	}
	*c = Cambio(*j.plainCambio)
	c.Tras = time.Duration(j.Tras)
	return nil
}

// resultados has each code's estado and default message.
var resultados = map[string]struct{ estado, mensaje string }{
	CodigoAceptado:  {"Aceptado", "El comprobante existe y está aceptado."},
	CodigoAnulado:   {"Anulado", "El comprobante fue anulado o comunicado de baja."},
	CodigoEnProceso: {"En Proceso", "El comprobante todavía no ha sido procesado."},
	CodigoNoExiste:  {"No Existe", "El comprobante no existe en los registros de SUNAT."},
	CodigoError:     {"Error", "Ocurrió un error durante la consulta en SUNAT."},
}

// tipos are the values of tipoComprobante, docs/contract.md, 2.3.
var tipos = []string{"01", "03", "07", "08"}

type comprobanteID struct {
	emisor, tipo, serie string
	numero              int
}

func (c Comprobante) id() comprobanteID {
	return comprobanteID{c.RUCEmisor, c.Tipo, c.Serie, c.Numero}
}

func (c Comprobante) check() error {
	bad := func(why string) error {
		return fmt.Errorf("comprobante %s-%s-%s-%d: %s", c.RUCEmisor, c.Tipo, c.Serie, c.Numero, why)
	}
	switch _, known := resultados[c.Codigo]; {
	case !isRUC(c.RUCEmisor):
		return bad("rucEmisor no tiene 11 dígitos")
	case !slices.Contains(tipos, c.Tipo):
		return bad("tipoComprobante no es 01, 03, 07 ni 08")
	case c.Serie == "" || c.Numero < 1:
		return bad("serie está vacía o numero es menor que 1")
	case !known:
		return bad("codigo no es 0, 2, 4, 98 ni 99")
	}
	for i, l := range c.Luego {
		switch _, known := resultados[l.Codigo]; {
		case !known:
			return bad(fmt.Sprintf("luego, cambio %d: codigo no es 0, 2, 4, 98 ni 99", i+1))
		case l.Tras < 0 || l.Consultas < 0 || (l.Tras > 0) == (l.Consultas > 0):
			return bad(fmt.Sprintf("luego, cambio %d: dé tras, una duración como 2m, o consultas, desde 1; y no ambos", i+1))
		}
	}
	return nil
}

// comprobantes are the receipts of one server.
type comprobantes struct {
	mu    sync.Mutex
	known map[comprobanteID]Comprobante
	asked map[comprobanteID]asking // of receipts with changes
}

// asking is the state that a receipt's changes depend on.
type asking struct {
	first   time.Time
	answers int
}

// put adds valid receipts.
func (s *comprobantes) put(cs ...Comprobante) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range cs {
		s.known[c.id()] = c
		delete(s.asked, c.id())
	}
}

// remove deletes a receipt: it is No Existe from then on.
func (s *comprobantes) remove(id comprobanteID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
}

// list returns the receipts of an issuer, or all for "", sorted by identity.
func (s *comprobantes) list(rucEmisor string) []Comprobante {
	s.mu.Lock()
	defer s.mu.Unlock()
	var cs []Comprobante
	for id, c := range s.known {
		if rucEmisor == "" || id.emisor == rucEmisor {
			cs = append(cs, c)
		}
	}
	slices.SortFunc(cs, func(a, b Comprobante) int {
		return cmp.Or(cmp.Compare(a.RUCEmisor, b.RUCEmisor), cmp.Compare(a.Tipo, b.Tipo), cmp.Compare(a.Serie, b.Serie), cmp.Compare(a.Numero, b.Numero))
	})
	return cs
}

// find returns a receipt's present state, with its message; No Existe if there is none.
func (s *comprobantes) find(id comprobanteID, now time.Time) Comprobante {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.known[id]
	if !ok {
		c.Codigo = CodigoNoExiste
	}
	if c.Luego != nil {
		so := s.asked[id]
		if so.answers == 0 {
			so.first = now
		}
		for _, l := range c.Luego {
			if l.Consultas > 0 && so.answers >= l.Consultas || l.Tras > 0 && now.Sub(so.first) >= l.Tras {
				c.Codigo, c.Mensaje = l.Codigo, l.Mensaje
			}
		}
		so.answers++
		s.asked[id] = so
	}
	c.Mensaje = cmp.Or(c.Mensaje, resultados[c.Codigo].mensaje)
	return c
}
