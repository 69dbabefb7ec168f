package mockserver

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// Limits of a search, docs/contrato.md, 4.2 and 8.
const (
	searchShortest = 3
	limitDefault   = 10
	limitMost      = 50
)

// buscar is the search of docs/contrato.md, 4.2.
func buscar(c *call, assume *Assumptions) answer {
	query, refused := c.query("razonSocial", "limit")
	if query == nil {
		return refused
	}
	given := query.Get("razonSocial")
	texto := strings.TrimSpace(given)
	counted, how := texto, " sin contar los espacios de los extremos"
	if assume.CountBlanks {
		counted, how = given, ""
	}
	if n := characters(counted); n < searchShortest {
		return refusal(http.StatusBadRequest, codeSearchTooShort,
			"razonSocial tiene %d caracteres%s: envíe al menos %d (docs/contrato.md, 4.2)", n, how, searchShortest)
	}
	limite, ok := parseLimit(query)
	if !ok {
		return refusal(http.StatusBadRequest, assume.CodeInvalidLimit,
			"limit %s no es válido: envíe un entero de 1 a %d, u omítalo para recibir %d (docs/contrato.md, 4.2)",
			c.quoted(query.Get("limit")), limitMost, limitDefault)
	}
	if texto == "" { // blanks that count as characters are in no name
		return success([]wireResumen{})
	}
	found, err := c.data.contribuyentes.buscar(c.r.Context(), texto, assume.SearchByWords, limite)
	if err != nil {
		return registroFailed(err)
	}
	list := make([]wireResumen, len(found)) // never nil: nothing found is [], not null
	for i, f := range found {
		f = f.conforming()
		list[i] = wireResumen{f.RUC, f.RazonSocial, assume.Estados.estado(f.Estado), f.Condicion}
	}
	return success(list)
}

// characters counts what a reader takes for characters: an accent written as a rune of its own is a part of
// its letter.
func characters(s string) (n int) {
	for _, r := range s {
		if !unicode.Is(unicode.Mn, r) {
			n++
		}
	}
	return n
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
