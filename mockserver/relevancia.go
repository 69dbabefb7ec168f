package mockserver

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// relevancia is how well a name answers a search; less is better. service.md 4.2 says "ordered by
// relevance" and no more.
type relevancia int

const (
	exacta  relevancia = iota // the whole name
	prefijo                   // its beginning
	palabra                   // the beginning of a word
	dentro                    // anywhere else
)

// hallazgo is a taxpayer that a search found.
type hallazgo struct {
	*ficha
	relevancia relevancia
}

// match reports whether the folded text occurs in either name, and how well in the better one.
func (f *ficha) match(texto string) (hallazgo, bool) {
	r, ok := relevance(f.razon, texto)
	if c, also := relevance(f.comercial, texto); also && (!ok || c < r) {
		r, ok = c, true
	}
	return hallazgo{f, r}, ok
}

func relevance(name, texto string) (relevancia, bool) {
	if texto == "" {
		return 0, false
	}
	at := strings.Index(name, texto)
	switch {
	case at < 0:
		return 0, false
	case at == 0 && len(name) == len(texto):
		return exacta, true
	case at == 0:
		return prefijo, true
	}
	for at >= 0 {
		before, _ := utf8.DecodeLastRuneInString(name[:at])
		if !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return palabra, true
		}
		_, size := utf8.DecodeRuneInString(name[at:])
		next := strings.Index(name[at+size:], texto)
		if next < 0 {
			break
		}
		at += size + next
	}
	return dentro, true
}

// best returns the limite most relevant, in order.
func best(hits []hallazgo, limite int) []Contribuyente {
	slices.SortFunc(hits, func(a, b hallazgo) int {
		return cmp.Or(
			cmp.Compare(a.relevancia, b.relevancia),
			cmp.Compare(a.inactivo(), b.inactivo()),
			cmp.Compare(len(a.razon), len(b.razon)),
			cmp.Compare(a.RUC, b.RUC),
		)
	})
	cs := make([]Contribuyente, 0, min(len(hits), limite))
	for _, h := range hits[:min(len(hits), limite)] {
		cs = append(cs, h.Contribuyente)
	}
	return cs
}

func (f *ficha) inactivo() int {
	if f.Estado == "ACTIVO" {
		return 0
	}
	return 1
}

// fold prepares a text for comparing: lower case, without accents (Ñ is N, as many registries write it),
// composed or not, with single spaces.
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, word := range strings.Fields(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for _, r := range word {
			if !unicode.Is(unicode.Mn, r) { // the combining accent of a decomposed letter
				b.WriteRune(plain(unicode.ToLower(r)))
			}
		}
	}
	return b.String()
}

func plain(r rune) rune {
	switch r {
	case 'á', 'à', 'â', 'ä', 'ã', 'å':
		return 'a'
	case 'é', 'è', 'ê', 'ë':
		return 'e'
	case 'í', 'ì', 'î', 'ï':
		return 'i'
	case 'ó', 'ò', 'ô', 'ö', 'õ':
		return 'o'
	case 'ú', 'ù', 'û', 'ü':
		return 'u'
	case 'ñ':
		return 'n'
	case 'ç':
		return 'c'
	}
	return r
}
