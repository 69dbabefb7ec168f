// Package relevance says which taxpayers a search finds and in what order. The contract (docs/contract.md, 4.2) says
// "ordered by relevance" and no more. The order here: names equal to the text, then those that begin with it, then
// those with a word that begins with it, then the rest. Within each group, active taxpayers come first, then shorter
// names, then lower RUCs.
package relevance

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rank is how well a name matches a search; lower is better.
type Rank int

// The ranks.
const (
	Whole  Rank = iota // the text is the whole name
	Prefix             // its beginning
	Word               // the beginning of a word
	Inside             // anywhere else
)

// Record is what a search needs of a taxpayer. The names are folded once, when it is made.
type Record struct {
	ruc, razonSocial, nombreComercial string
	inactivo                          int // 1, or 0 for an active one
}

// NewRecord returns the record of a taxpayer.
func NewRecord(ruc, razonSocial, nombreComercial, estado string) Record {
	r := Record{ruc, Fold(razonSocial), Fold(nombreComercial), 1}
	if estado == "ACTIVO" {
		r.inactivo = 0
	}
	return r
}

// Match reports whether a folded text occurs in either name, and how well in the better one. The empty text matches
// nothing.
func (r *Record) Match(folded string) (Rank, bool) {
	rank, ok := match(r.razonSocial, folded)
	if other, also := match(r.nombreComercial, folded); also && (!ok || other < rank) {
		return other, true
	}
	return rank, ok
}

func match(name, text string) (Rank, bool) {
	if text == "" {
		return 0, false
	}
	at := strings.Index(name, text)
	switch {
	case at < 0:
		return 0, false
	case at == 0 && len(name) == len(text):
		return Whole, true
	case at == 0:
		return Prefix, true
	}
	for {
		before, _ := utf8.DecodeLastRuneInString(name[:at])
		if !OfWord(before) {
			return Word, true
		}
		next := strings.Index(name[at+1:], text)
		if next < 0 {
			return Inside, true
		}
		at += 1 + next
	}
}

// OfWord reports whether a character is part of a word: a text after it does not begin a word.
func OfWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Compare orders two records that a search found. It is negative if a comes first.
func Compare(a *Record, rankA Rank, b *Record, rankB Rank) int {
	return cmp.Or(
		cmp.Compare(rankA, rankB),
		cmp.Compare(a.inactivo, b.inactivo),
		cmp.Compare(len(a.razonSocial), len(b.razonSocial)),
		cmp.Compare(a.ruc, b.ruc),
	)
}
