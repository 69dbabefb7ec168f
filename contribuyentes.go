package fiscope

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/members"
	"github.com/fiscope/fiscope/internal/scrub"
)

// ContribuyentesService looks up and searches taxpayers. It is the Contribuyentes of a [Client].
type ContribuyentesService struct {
	asker     *asker
	strictRUC bool     // see WithStrictRUC
	respaldo  Respaldo // nil for none
}

// Busqueda is what to search (docs/contrato.md, 4.2).
type Busqueda struct {
	RazonSocial string // part of a business or trade name, in any case: at least 3 characters without the blanks around it
	Limite      int    // the most results to return, 1 to 50; 0 for the service's default, which is 10
}

// The operations on taxpayers.
const (
	OpConsultarContribuyente Operation = "Contribuyentes.Consultar"
	OpBuscarContribuyentes   Operation = "Contribuyentes.Buscar"
)

// The limits of a search (docs/contrato.md, 8).
const (
	shortestSearch = 3
	highestLimit   = 50
)

// Consultar looks up the taxpayer with that RUC, which is 11 digits. It spends one query.
//
// Errors: ErrInvalidRequest (not 11 digits: nothing is sent), ErrNotFound, and those of every
// operation.
func (s *ContribuyentesService) Consultar(ctx context.Context, ruc string, opts ...CallOption) (*Contribuyente, error) {
	return s.consultar(ctx, ruc, s.asker.defaults.of(opts))
}

// consultar is Consultar with the options of its call as settings.
func (s *ContribuyentesService) consultar(ctx context.Context, ruc string, set *settings) (*Contribuyente, error) {
	q := consulta{ruc, s.strictRUC}
	return hooked(ctx, s.asker.hook, OpConsultarContribuyente, set, func(ctx context.Context, set *settings) (*Contribuyente, error) {
		c, err := askWith(ctx, s.asker, q, q.key(), set)
		if instead := s.standIn(ctx, ruc, set, err); instead != nil {
			return instead, nil
		}
		return c, err
	})
}

// consulta is the lookup of a RUC.
type consulta struct {
	ruc    string
	strict bool // ValidarRUC must accept it
}

func (q consulta) request() request {
	r := request{
		op:      OpConsultarContribuyente,
		path:    "/api/contribuyentes/" + q.ruc, // 11 digits, or it is not sent
		invalid: checkRUC("ruc", q.ruc),
	}
	if q.strict {
		r.invalid = checkStrictRUC("ruc", q.ruc)
	}
	return r
}

func (q consulta) key() cacheKey { return cacheKey{op: OpConsultarContribuyente, text: q.ruc} }

func (q consulta) lifetime(p CachePolicy, _ *Contribuyente, found bool, _ time.Time) time.Duration {
	if found {
		return p.Consulta
	}
	return p.NoExiste
}

func (q consulta) copy(c *Contribuyente) *Contribuyente {
	own := *c
	return &own
}

// Buscar searches taxpayers by a part of their business or trade name, most relevant first. It spends
// one query, whatever the number of results. No match is an empty slice, not an error.
//
// Errors: ErrSearchTooShort and ErrInvalidRequest (nothing is sent), and those of every operation.
func (s *ContribuyentesService) Buscar(ctx context.Context, b Busqueda, opts ...CallOption) ([]ContribuyenteResumen, error) {
	b.RazonSocial = strings.TrimSpace(b.RazonSocial)
	return ask(ctx, s.asker, b, opts)
}

func (b Busqueda) request() request {
	query := url.Values{"razonSocial": {b.RazonSocial}}
	if b.Limite != 0 {
		query.Set("limit", strconv.Itoa(b.Limite))
	}
	return request{op: OpBuscarContribuyentes, path: "/api/contribuyentes/search", query: query, invalid: b.check()}
}

func (b Busqueda) key() cacheKey {
	return cacheKey{op: OpBuscarContribuyentes, text: b.RazonSocial, n: b.Limite}
}

func (b Busqueda) lifetime(p CachePolicy, _ []ContribuyenteResumen, found bool, _ time.Time) time.Duration {
	if found {
		return p.Busqueda
	}
	return 0
}

func (b Busqueda) copy(rs []ContribuyenteResumen) []ContribuyenteResumen {
	return append(make([]ContribuyenteResumen, 0, len(rs)), rs...) // empty is not nil
}

func (b Busqueda) check() error {
	if n := utf8.RuneCountInString(b.RazonSocial); n < shortestSearch {
		return searchTooShort("razonSocial needs at least %d characters, without the blanks around it: it has %d", shortestSearch, n)
	}
	if b.Limite < 0 || b.Limite > highestLimit {
		return invalid("limite must be 1 to 50, or 0 for the service's default: it is %d", b.Limite)
	}
	return nil
}

var membersOfContribuyente = members.NewNames("ruc", "razonSocial", "estado", "condicion", "direccion", "ubigeo", "departamento", "provincia",
	"distrito", "tipo", "actividadEconomica", "fechaInscripcion", "fechaInicioActividades", "error", "code")

func (q consulta) read(a *answer) (*Contribuyente, error) {
	o, err := a.object(membersOfContribuyente)
	if err != nil {
		return nil, err
	}
	c := &Contribuyente{
		RUC:                    o.required("ruc"),
		RazonSocial:            o.required("razonSocial"),
		Estado:                 Estado(o.required("estado")),
		Condicion:              Condicion(o.required("condicion")),
		Direccion:              o.optional("direccion"),
		Ubigeo:                 o.optional("ubigeo"),
		Departamento:           o.optional("departamento"),
		Provincia:              o.optional("provincia"),
		Distrito:               o.optional("distrito"),
		Tipo:                   o.optional("tipo"),
		ActividadEconomica:     o.optional("actividadEconomica"),
		FechaInscripcion:       o.optionalDate("fechaInscripcion"),
		FechaInicioActividades: o.optionalDate("fechaInicioActividades"),
	}
	if o.err != nil {
		return nil, o.err
	}
	if c.RUC != q.ruc {
		a.contradicts("asked for the RUC %s, the answer is of %s", scrub.AbridgeRUC(q.ruc), scrub.AbridgeRUC(c.RUC))
	}
	checkTaxpayer(a, c.RazonSocial, c.Estado, c.Condicion)
	return c, a.contradiction
}

var membersOfResumen = members.NewNames("ruc", "razonSocial", "estado", "condicion")

func (b Busqueda) read(a *answer) ([]ContribuyenteResumen, error) {
	text, err := a.json('[')
	if err != nil {
		return nil, err
	}
	resumenes := []ContribuyenteResumen{}
	for i, element := range members.Elements(text) {
		if element[0] != '{' {
			return nil, notContract("element %d is a JSON %s", i, kindOf(element))
		}
		o := a.objectIn(element, membersOfResumen)
		r := ContribuyenteResumen{
			RUC:         o.required("ruc"),
			RazonSocial: o.required("razonSocial"),
			Estado:      Estado(o.required("estado")),
			Condicion:   Condicion(o.required("condicion")),
		}
		if o.err != nil {
			return nil, notContract("element %d: %s", i, o.err.Message)
		}
		if checkRUC("ruc", r.RUC) != nil {
			a.contradicts("the ruc of element %d is not 11 digits", i)
		}
		checkTaxpayer(a, r.RazonSocial, r.Estado, r.Condicion)
		resumenes = append(resumenes, r)
	}
	return resumenes, a.contradiction
}
