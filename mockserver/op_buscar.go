package mockserver

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/fiscope/fiscope/internal/scrub"
	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// Limits of a search, docs/contract.md, 4.2 and 8.
const (
	searchShortest = 3
	limitDefault   = 10
	limitMost      = 50
)

// buscar is the search of docs/contract.md, 4.2.
func buscar(q *request, data *dataset, assume *Assumptions) answer {
	query, refused := q.query()
	if query == nil {
		return refused
	}
	given := query.Get("razonSocial")
	texto := strings.TrimSpace(given)
	switch n := characters(texto); {
	case !query.Has("razonSocial"):
		return refusal(http.StatusBadRequest, codeSearchTooShort, "falta el parámetro razonSocial%s (docs/contract.md, 4.2)", q.otherParams(query))
	case given == "":
		return refusal(http.StatusBadRequest, codeSearchTooShort, "razonSocial está vacío: envíe al menos %d caracteres (docs/contract.md, 4.2)", searchShortest)
	case n < searchShortest:
		return refusal(http.StatusBadRequest, codeSearchTooShort,
			"razonSocial tiene %d caracteres sin contar los espacios de los extremos: envíe al menos %d (docs/contract.md, 4.2)", n, searchShortest)
	}
	limite, ok := parseLimit(query)
	if !ok {
		return refusal(http.StatusBadRequest, assume.CodeInvalidLimit,
			"limit %s no es válido: envíe un entero de 1 a %d, u omítalo para recibir %d (docs/contract.md, 4.2)",
			q.quoted(query.Get("limit")), limitMost, limitDefault)
	}
	found, err := data.contribuyentes.buscar(q.r.Context(), texto, limite)
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

// otherParams lists the parameters sent instead of the expected one.
func (q *request) otherParams(query url.Values) string {
	query.Del("limit")
	if len(query) == 0 {
		return ""
	}
	return " " + redact.Query(&url.URL{RawQuery: query.Encode()}, nil, q.keys)
}

// characters counts the characters of s as readers do: a combining accent is part of its letter.
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
	if !scrub.Digits(text) {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= limitMost
}
