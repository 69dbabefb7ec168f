package fiscope

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/jsonobject"
	"github.com/fiscope/fiscope/internal/scrub"
)

// ContribuyentesService looks up and searches taxpayers. It is the Contribuyentes of a [Client].
type ContribuyentesService struct {
	core      *core
	strictRUC bool // see WithStrictRUC
}

// Busqueda says what to search for (docs/contract.md, 4.2).
type Busqueda struct {
	RazonSocial string // part of a business or trade name, in any case: at least 3 characters after trimming
	Limite      int    // the most results to return, 1 to 50; 0 for the service's default, which is 10
}

// The limits of a search (docs/contract.md, 8).
const (
	shortestSearch = 3
	highestLimit   = 50
)

// Consultar looks up the taxpayer with a RUC of 11 digits. It costs one query. Errors: ErrInvalidRequest (not 11
// digits: nothing is sent), ErrNotFound, and those of every operation.
func (s *ContribuyentesService) Consultar(ctx context.Context, ruc string, opts ...CallOption) (*Contribuyente, error) {
	return get(ctx, s.core, s.core.lookups, consulta{ruc, s.strictRUC}, opts, copyOf[Contribuyente])
}

// consulta is the lookup of a RUC.
type consulta struct {
	ruc    string
	strict bool // ValidarRUC must accept it
}

func (q consulta) request() request {
	r := request{path: "/api/contribuyentes/" + q.ruc, invalid: checkRUC("ruc", q.ruc)} // sent only if it is 11 digits
	if q.strict {
		r.invalid = checkStrictRUC("ruc", q.ruc)
	}
	return r
}

func (q consulta) key() cacheKey { return cacheKey{op: OpConsultarContribuyente, text: q.ruc} }

func (q consulta) lifetime(p CachePolicy, result any, _ time.Time) time.Duration {
	if result == nil {
		return p.NoExiste
	}
	return p.Consulta
}

// Buscar searches taxpayers by a part of their business or trade name, most relevant first. It costs one query for any
// number of results. No match is an empty slice, not an error. Errors: ErrSearchTooShort and ErrInvalidRequest (nothing
// is sent), and those of every operation.
func (s *ContribuyentesService) Buscar(ctx context.Context, b Busqueda, opts ...CallOption) ([]ContribuyenteResumen, error) {
	b.RazonSocial = strings.TrimSpace(b.RazonSocial)
	return get(ctx, s.core, s.core.searches, b, opts, slices.Clone[[]ContribuyenteResumen])
}

func (b Busqueda) request() request {
	query := url.Values{"razonSocial": {b.RazonSocial}}
	if b.Limite != 0 {
		query.Set("limit", strconv.Itoa(b.Limite))
	}
	return request{path: "/api/contribuyentes/search", query: query, invalid: b.check()}
}

func (b Busqueda) key() cacheKey {
	return cacheKey{op: OpBuscarContribuyentes, text: b.RazonSocial, n: b.Limite}
}

func (b Busqueda) lifetime(p CachePolicy, result any, _ time.Time) time.Duration {
	if result == nil {
		return 0
	}
	return p.Busqueda
}

func (b Busqueda) check() error {
	if n := utf8.RuneCountInString(b.RazonSocial); n < shortestSearch {
		err := newError(shortText, "razonSocial needs at least %d characters, without the blanks around it: it has %d", shortestSearch, n)
		err.Field = "razonSocial"
		return err
	}
	if b.Limite < 0 || b.Limite > highestLimit {
		return invalid("limit", "must be 1 to 50, or 0 for the service's default: it is %d", b.Limite)
	}
	return nil
}

func (q consulta) read(a *answer) any {
	o, ok := a.object()
	if !ok {
		return nil
	}
	ruc := o.ruc()
	if ruc.kind == 0 {
		a.refuse(page, "ruc is missing")
	}
	c := &Contribuyente{
		RUC:                    ruc.text,
		RazonSocial:            o.required("razonSocial"),
		Estado:                 Estado(o.required("estado")),
		Condicion:              Condicion(o.optional("condicion")),
		Direccion:              o.optional("direccion"),
		Ubigeo:                 o.ubigeo(),
		Departamento:           o.optional("departamento"),
		Provincia:              o.optional("provincia"),
		Distrito:               o.optional("distrito"),
		Tipo:                   o.optional("tipo"),
		ActividadEconomica:     o.optional("actividadEconomica"),
		FechaInscripcion:       o.date("fechaInscripcion"),
		FechaInicioActividades: o.date("fechaInicioActividades"),
	}
	if c.RUC != q.ruc {
		a.doubt(otherSubject, "asked for the RUC %s, the answer is of %s", scrub.AbridgeRUC(q.ruc), a.quote(c.RUC))
	}
	a.checkTaxpayer(c.RazonSocial, c.Estado, c.Condicion)
	return c
}

func (b Busqueda) read(a *answer) any {
	text := a.json('[')
	if text == nil {
		return nil
	}
	var rows []json.RawMessage
	_ = json.Unmarshal(text, &rows)
	resumenes := make([]ContribuyenteResumen, 0, len(rows))
	for i, row := range rows {
		o := object{a, jsonobject.Of(string(row))}
		ruc := o.ruc().text
		if checkRUC("ruc", ruc) != nil || o.field("razonSocial").kind == 0 || o.field("estado").kind == 0 {
			a.warn("row %d is left out: its ruc, razonSocial or estado is missing or invalid", i+1)
			continue
		}
		r := ContribuyenteResumen{
			RUC: ruc, RazonSocial: o.optional("razonSocial"),
			Estado: Estado(o.optional("estado")), Condicion: Condicion(o.optional("condicion")),
		}
		a.checkTaxpayer(r.RazonSocial, r.Estado, r.Condicion)
		resumenes = append(resumenes, r)
	}
	if len(rows) > 0 && len(resumenes) == 0 {
		a.refuse(page, "none of the %d rows is a taxpayer", len(rows))
	}
	return resumenes
}
