package fiscope

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ContribuyentesService looks up and searches taxpayers. It is the Contribuyentes of a [Client].
type ContribuyentesService struct{ client *Client }

// Contribuyente is a taxpayer's full record (service.md, 2.1). The texts are the registry's, mostly in
// upper case; what the registry does not have is "" or "-". It marshals to the contract's JSON.
type Contribuyente struct {
	RUC                    string    `json:"ruc"`         // 11 digits
	RazonSocial            string    `json:"razonSocial"` // business name
	Estado                 Estado    `json:"estado"`
	Condicion              Condicion `json:"condicion"`
	Direccion              string    `json:"direccion"` // full fiscal address
	Ubigeo                 string    `json:"ubigeo"`    // location code, 6 digits
	Departamento           string    `json:"departamento"`
	Provincia              string    `json:"provincia"`
	Distrito               string    `json:"distrito"`
	Tipo                   string    `json:"tipo"`                   // taxpayer type
	ActividadEconomica     string    `json:"actividadEconomica"`     // main economic activity
	FechaInscripcion       Fecha     `json:"fechaInscripcion"`       // zero where the registry has none
	FechaInicioActividades Fecha     `json:"fechaInicioActividades"` // zero where the registry has none
}

// ContribuyenteResumen is a taxpayer as a search shows it (service.md, 2.2).
type ContribuyenteResumen struct {
	RUC         string    `json:"ruc"`         // 11 digits
	RazonSocial string    `json:"razonSocial"` // business name
	Estado      Estado    `json:"estado"`
	Condicion   Condicion `json:"condicion"`
}

// Busqueda is what to search (service.md, 4.2).
type Busqueda struct {
	RazonSocial string // part of a business or trade name, in any case: at least 3 characters without the blanks around it
	Limite      int    // the most results to return, 1 to 50; 0 for the service's default, which is 10
}

// The limits of a search (service.md, 8).
const (
	shortestSearch = 3
	highestLimit   = 50
)

// Consultar looks up the taxpayer with that RUC, which is 11 digits. It spends one query.
//
// Errors: ErrInvalidRequest (not 11 digits: nothing is sent), ErrNotFound, and those of every
// operation.
func (s *ContribuyentesService) Consultar(ctx context.Context, ruc string, opts ...CallOption) (*Contribuyente, error) {
	return ask(ctx, s.client, consulta{ruc}, opts)
}

// consulta is the lookup of a RUC.
type consulta struct{ ruc string }

func (q consulta) request(c *Client) request {
	return request{
		op:      OpConsultarContribuyente,
		path:    "/api/contribuyentes/" + q.ruc, // 11 digits, or it is not sent
		invalid: cmp.Or(checkRUC("ruc", q.ruc), c.checkStrictRUCs("ruc", q.ruc)),
	}
}

// Buscar searches taxpayers by a part of their business or trade name, most relevant first. It spends
// one query, whatever the number of results. No match is an empty slice, not an error.
//
// Errors: ErrSearchTooShort and ErrInvalidRequest (nothing is sent), and those of every operation.
func (s *ContribuyentesService) Buscar(ctx context.Context, b Busqueda, opts ...CallOption) ([]ContribuyenteResumen, error) {
	b.RazonSocial = strings.TrimSpace(b.RazonSocial)
	return ask(ctx, s.client, b, opts)
}

func (b Busqueda) request(*Client) request {
	query := url.Values{"razonSocial": {b.RazonSocial}}
	if b.Limite != 0 {
		query.Set("limit", strconv.Itoa(b.Limite))
	}
	return request{op: OpBuscarContribuyentes, path: "/api/contribuyentes/search", query: query, invalid: b.check()}
}

func (b Busqueda) check() error {
	if n := utf8.RuneCountInString(b.RazonSocial); n < shortestSearch {
		return &Error{kind: ErrSearchTooShort, Message: "razonSocial needs at least 3 characters, without the blanks around it: it has " + strconv.Itoa(n)}
	}
	if b.Limite < 0 || b.Limite > highestLimit {
		return invalid("limite must be 1 to 50, or 0 for the service's default: it is %d", b.Limite)
	}
	return nil
}

// ausente stands in a key field until the answer fills it, which null does not: so "absent" is told
// apart from "".
const ausente = "\x00"

type contribuyenteLeido struct {
	errorMembers
	Contribuyente
	FechaInscripcion       fechaLeida `json:"fechaInscripcion"`
	FechaInicioActividades fechaLeida `json:"fechaInicioActividades"`
}

func (q consulta) read(a *answer) (*Contribuyente, error) {
	leido := contribuyenteLeido{Contribuyente: Contribuyente{RUC: ausente, RazonSocial: ausente, Estado: ausente, Condicion: ausente}}
	if err := a.decode(&leido); err != nil {
		return nil, err
	}
	c := &leido.Contribuyente
	if err := missing("ruc", c.RUC, "razonSocial", c.RazonSocial, "estado", string(c.Estado), "condicion", string(c.Condicion)); err != nil {
		return nil, err
	}
	if c.RUC != q.ruc {
		a.contradicts("asked for the RUC %s, the answer is of %s", abridge(q.ruc), abridge(c.RUC))
	}
	a.check(c.RazonSocial, c.Estado, c.Condicion)
	c.FechaInscripcion = leido.FechaInscripcion.in(a, "fechaInscripcion")
	c.FechaInicioActividades = leido.FechaInicioActividades.in(a, "fechaInicioActividades")
	return c, a.contradiction
}

// check warns of what is odd in a taxpayer and harms nothing.
func (a *answer) check(razonSocial string, estado Estado, condicion Condicion) {
	if name := strings.TrimSpace(razonSocial); name == "" || name == "-" {
		a.warn("a taxpayer without a name: razonSocial is %s", a.quote(razonSocial))
	}
	if !estado.known() {
		a.warn("estado %s is unknown", a.quote(string(estado)))
	}
	if !condicion.known() {
		a.warn("condicion %s is unknown", a.quote(string(condicion)))
	}
}

type resumenLeido struct {
	RUC         *string    `json:"ruc"`
	RazonSocial *string    `json:"razonSocial"`
	Estado      *Estado    `json:"estado"`
	Condicion   *Condicion `json:"condicion"`
}

func (b Busqueda) read(a *answer) ([]ContribuyenteResumen, error) {
	var leidos []resumenLeido
	if err := a.unmarshal(a.text(), &leidos); err != nil {
		return nil, err
	}
	resumenes := make([]ContribuyenteResumen, 0, len(leidos))
	for i, l := range leidos {
		if l.RUC == nil || l.RazonSocial == nil || l.Estado == nil || l.Condicion == nil {
			return nil, notContract("element %d lacks one of ruc, razonSocial, estado, condicion", i)
		}
		if checkRUC("ruc", *l.RUC) != nil {
			a.contradicts("the ruc of element %d is not 11 digits", i)
		}
		a.check(*l.RazonSocial, *l.Estado, *l.Condicion)
		resumenes = append(resumenes, ContribuyenteResumen{*l.RUC, *l.RazonSocial, *l.Estado, *l.Condicion})
	}
	return resumenes, a.contradiction
}

// missing takes names and values, and refuses a value that the answer did not fill.
func missing(namesAndValues ...string) error {
	for i := 0; i < len(namesAndValues); i += 2 {
		if namesAndValues[i+1] == ausente {
			return notContract("%s is missing", namesAndValues[i])
		}
	}
	return nil
}

// fechaLeida is a date that the contract does not promise: one that cannot be read is a warning, since
// the record is worth more than it.
type fechaLeida struct {
	fecha      Fecha
	unreadable string
}

// UnmarshalJSON never fails.
func (f *fechaLeida) UnmarshalJSON(raw []byte) error {
	switch text := memberText(raw); text {
	case "", "-":
	default:
		var err error
		if f.fecha, err = ParseFecha(text); err != nil {
			f.unreadable = text
		}
	}
	return nil
}

func (f *fechaLeida) in(a *answer, field string) Fecha {
	if f.unreadable != "" {
		a.warn("%s is not a date: %s", field, a.quote(f.unreadable))
	}
	return f.fecha
}
