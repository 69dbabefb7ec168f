package padron

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/relevance"
)

// countedWord is a distinct word of the names, with everything up to the next blank.
type countedWord struct {
	at     uint32    // its first occurrence
	ranges [4]uint32 // from, to among the beginnings of names; from, to among those of other words
}

// differentWords returns the words that have offsets inside, by their first occurrences.
func differentWords(ctx context.Context, names []byte, beginnings, others []uint32) ([]countedWord, error) {
	var words []countedWord
	for i, j, n := 0, 0, 0; i < len(beginnings) || j < len(others); n++ {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// The lesser of the next words of both lists, and its occurrences in both.
		var text []byte
		if i < len(beginnings) {
			text = wordAt(names, beginnings[i])
		}
		isOther := false
		if j < len(others) {
			other := wordAt(names, others[j])
			if isOther = text == nil || bytes.Compare(other, text) < 0; isOther {
				text = other
			}
		}
		from, fromOther := i, j
		switch {
		case len(text) < sortedBytes:
			i, j = endOfWord(names, beginnings, i, text), endOfWord(names, others, j, text)
		case isOther: // words this long need not be adjacent if equal
			j++
		default:
			i++
		}
		at := uint32(math.MaxUint32)
		for _, list := range [2][]uint32{beginnings[from:i], others[fromOther:j]} {
			for _, offset := range list {
				at = min(at, offset)
			}
		}
		if hasInside(names, at) {
			if len(words) == cap(words) {
				words = slices.Grow(words, max(1<<10, len(words)))
			}
			words = append(words, countedWord{at, [4]uint32{number32(from), number32(i), number32(fromOther), number32(j)}})
		}
	}
	slices.SortFunc(words, func(a, b countedWord) int { return cmp.Compare(a.at, b.at) })
	return words, nil
}

// wordAt returns the text of the word that begins at an offset.
func wordAt(names []byte, at uint32) []byte {
	end := at
	for names[end] != ' ' && names[end] != '\n' {
		end++
	}
	return names[at:end]
}

// endOfWord returns the end of the offsets in a list, from an index on, of a word. Those at the end of a name come
// first, then those before a blank. If a control character follows the word elsewhere, it comes in between: the word
// then counts as two that share no offset.
func endOfWord(names []byte, list []uint32, from int, word []byte) int {
	for _, end := range []byte{'\n', ' '} {
		from = endOf(from, len(list), func(i int) bool {
			text := names[list[i]:]
			return bytes.HasPrefix(text, word) && text[len(word)] == end
		})
	}
	return from
}

// hasInside reports whether the word at an offset has offsets inside.
func hasInside(names []byte, at uint32) bool {
	for range insideOf(names, at) {
		return true
	}
	return false
}

// insideOf returns the offsets inside the word at an offset, after its first letters and digits. Others, such as after
// a dot, begin words of their own.
func insideOf(names []byte, at uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for {
			r, size := rune(names[at]), 1
			if r >= utf8.RuneSelf {
				r, size = utf8.DecodeRune(names[at:])
			}
			at += number32(size)
			if !relevance.OfWord(r) || names[at] == ' ' || names[at] == '\n' || !yield(at) {
				return
			}
		}
	}
}

// innerOf returns the offsets inside words.
func innerOf(names []byte, words []countedWord) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := range words {
			for offset := range insideOf(names, words[i].at) {
				if !yield(offset) {
					return
				}
			}
		}
	}
}
