package mockserver

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a search, service.md 4.2 and 8.
const (
	searchShortest = 3
	limitDefault   = 10
	limitMost      = 50
)

// consultar is the lookup of service.md 4.1.
func (s *Server) consultar(c *call) answer {
	ruc := c.ruc
	if !isRUC(ruc) {
		return refusal(http.StatusBadRequest, s.assume.CodeInvalidRUC,
			"el RUC %s no es válido: debe tener exactamente 11 dígitos numéricos (contrato, 4.1)", quoted(ruc))
	}
	found, ok, err := c.data.contribuyentes.porRUC(c.r.Context(), ruc)
	if err != nil {
		return registroFailed()
	}
	if !ok {
		return refusal(http.StatusNotFound, codeNotFound,
			"no existe un contribuyente con el RUC %s: revise el número o busque por razón social (contrato, 4.1)", ruc)
	}
	return success(wireContribuyente{
		RUC:                    found.RUC,
		RazonSocial:            found.RazonSocial,
		Estado:                 s.assume.Estados.estado(found.Estado),
		Condicion:              found.Condicion,
		Direccion:              found.Direccion,
		Ubigeo:                 found.Ubigeo,
		Departamento:           found.Departamento,
		Provincia:              found.Provincia,
		Distrito:               found.Distrito,
		Tipo:                   found.Tipo,
		ActividadEconomica:     found.ActividadEconomica,
		FechaInscripcion:       found.FechaInscripcion,
		FechaInicioActividades: found.FechaInicioActividades,
	})
}

// buscar is the search of service.md 4.2.
func (s *Server) buscar(c *call) answer {
	query, refused := parseQuery(c.r, "razonSocial", "limit")
	if query == nil {
		return refused
	}
	texto := strings.TrimSpace(query.Get("razonSocial"))
	if n := utf8.RuneCountInString(texto); n < searchShortest {
		return refusal(http.StatusBadRequest, codeSearchTooShort,
			"razonSocial tiene %d caracteres sin contar los espacios de los extremos: envíe al menos %d (contrato, 4.2)", n, searchShortest)
	}
	limite, ok := parseLimit(query)
	if !ok {
		return refusal(http.StatusBadRequest, s.assume.CodeInvalidLimit,
			"limit %s no es válido: envíe un entero de 1 a %d, u omítalo para recibir %d (contrato, 4.2)",
			quoted(query.Get("limit")), limitMost, limitDefault)
	}
	found, err := c.data.contribuyentes.buscar(c.r.Context(), texto, limite)
	if err != nil {
		return registroFailed()
	}
	list := make([]wireResumen, len(found)) // never nil: nothing found is [], not null
	for i, f := range found {
		list[i] = wireResumen{f.RUC, f.RazonSocial, s.assume.Estados.estado(f.Estado), f.Condicion}
	}
	return success(list)
}

func parseLimit(query url.Values) (int, bool) {
	if !query.Has("limit") {
		return limitDefault, true
	}
	text := query.Get("limit")
	if !digits(text) {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= limitMost
}

// parseQuery decodes the query string. It refuses what net/url would drop in silence, bytes that are not
// UTF-8, and a parameter of the operation given twice, of which the service would take one that the
// caller may not mean. Parameters it does not know are ignored.
func parseQuery(r *http.Request, params ...string) (url.Values, answer) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refusal(http.StatusBadRequest, codeBadQuery,
			"la cadena de consulta no se puede leer: escriba %% como %%25, & como %%26 y ; como %%3B en los valores (RFC 3986)")
	}
	for _, name := range params {
		if len(query[name]) > 1 {
			return nil, refusal(http.StatusBadRequest, codeRepeated,
				"el parámetro %s llegó %d veces: envíelo una sola vez", name, len(query[name]))
		}
		if !utf8.ValidString(query.Get(name)) {
			return nil, refusal(http.StatusBadRequest, codeBadQuery,
				"el parámetro %s no está en UTF-8: una Ñ, por ejemplo, se escribe %%C3%%91", name)
		}
	}
	return query, answer{}
}

func registroFailed() answer {
	return refusal(http.StatusInternalServerError, codeRegistroDown,
		"el Registro que se dio a este servidor de pruebas devolvió un error: revise su implementación")
}

// isRUC reports whether s is 11 ASCII digits, all that the contract asks of a RUC.
func isRUC(s string) bool { return len(s) == 11 && digits(s) }

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
