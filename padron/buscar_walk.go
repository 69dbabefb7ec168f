package padron

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/relevance"
)

// walkStep is how many bytes are scanned between two checks of ctx.
const walkStep = 1 << 20

// walk adds, best first, the names between two offsets that contain the text where accept returns true.
func (s *search) walk(from, to int, accept func(at int) bool) error {
	for at := from; at < to && !s.full(); {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		end := min(at+walkStep, to)
		within := s.names[:min(end+len(s.text)-1, len(s.names))]
		for at < end && !s.full() {
			skipped := bytes.Index(within[at:], s.text)
			if skipped < 0 {
				at = end
				break
			}
			if at += skipped; accept(at) {
				s.add(number32(at))
			}
			at++
		}
	}
	return nil
}

// walkLong does a whole search, in the names that are at least as long as the text: active taxpayers and the others are
// each ordered by the length of their names.
func (s *search) walkLong() error {
	var long [2]struct{ from, to int }
	for i, ranks := range [2][2]int{{0, s.activos}, {s.activos, s.info.Contribuyentes}} {
		from := ranks[0] + sort.Search(ranks[1]-ranks[0], func(rank int) bool {
			rank += ranks[0]
			return int(s.nameAt.at(rank+1)-s.nameAt.at(rank)) > len(s.text)
		})
		long[i].from, long[i].to = int(s.nameAt.at(from)), int(s.nameAt.at(ranks[1]))
	}
	for _, accept := range []func(at int) bool{s.isWhole, s.isBeginning, s.isWord, s.isAnywhere} {
		for _, names := range long {
			if err := s.walk(names.from, names.to, accept); err != nil {
				return err
			}
		}
	}
	return nil
}

// isWhole reports whether the text at an offset is the whole name.
func (s *search) isWhole(at int) bool {
	return s.isBeginning(at) && s.names[at+len(s.text)] == '\n'
}

func (s *search) isBeginning(at int) bool { return at == 0 || s.names[at-1] == '\n' }

// isWord reports whether an offset begins a word.
func (s *search) isWord(at int) bool { return !isInside(s.names, at) }

func (s *search) isAnywhere(int) bool { return true }

// isInside reports whether an offset follows a character of a word, as relevance defines it.
func isInside(names []byte, at int) bool {
	if at == 0 {
		return false
	}
	before := rune(names[at-1])
	if before >= utf8.RuneSelf {
		before, _ = utf8.DecodeLastRune(names[max(0, at-utf8.UTFMax):at])
	}
	return relevance.OfWord(before)
}
