package scrub

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern finds one secret in a text, however each of its runes is written. It reads a text once: while it
// does, a set of bits holds how many runes of the secret may have just been read, bit i for i+1 of them
// (the algorithm is known as Shift-And). A rune that can be read in several ways moves the set in each.
type pattern struct {
	ascii   [utf8.RuneSelf]uint64 // by letter: the bits of the runes of the secret that it can stand for
	other   map[rune]uint64       // ... of the letters outside ASCII
	runes   int                   // how many runes are searched for
	last    uint64                // the bit of the last of them
	hasMore bool                  // the secret has more than those
}

// longestPattern is how many runes of a secret are searched for. Of a longer one these tell enough: no
// other text has them by chance.
const longestPattern = 64

// newPattern returns nil for a secret of which nothing can be seen.
func newPattern(secret string) *pattern {
	if secret = strings.TrimFunc(secret, blank); secret == "" {
		return nil
	}
	p := &pattern{}
	var unwritable uint64 // the runes that an encoder may not know and write as "?"
	for secret != "" {
		r, size := decodeRune(secret)
		secret = secret[size:]
		l := letterOf(r)
		blankAgain := l.folded == ' ' && p.runes > 0 && p.ascii[' ']>>(p.runes-1) == 1
		if blankAgain || l.silent && l.folded != ' ' && l.folded != '\\' {
			continue
		}
		if p.runes == longestPattern {
			p.hasMore = true
			break
		}
		p.add(l.folded, 1<<p.runes)
		if r >= utf8.RuneSelf {
			unwritable |= 1 << p.runes
		}
		p.runes++
	}
	if p.runes == 0 {
		return nil
	}
	p.add('+', p.ascii[' ']) // of a query
	p.add('?', unwritable)
	p.add(utf8.RuneError, unwritable)
	p.last = 1 << (p.runes - 1)
	return p
}

// blank reports whether a character leaves nothing to see at the edge of a text.
func blank(r rune) bool { return unicode.IsSpace(r) || hidden(r) }

func (p *pattern) add(folded rune, bits uint64) {
	switch {
	case bits == 0:
	case folded < utf8.RuneSelf:
		p.ascii[folded] |= bits
	default:
		if p.other == nil {
			p.other = make(map[rune]uint64)
		}
		p.other[folded] |= bits
	}
}

// after returns which runes of the secret may have been read after another letter.
func (p *pattern) after(read uint64, l letter) uint64 {
	var bits uint64
	if l.folded < utf8.RuneSelf {
		bits = p.ascii[l.folded]
	} else {
		bits = p.other[l.folded]
	}
	next := (read<<1 | 1) & bits
	switch l.folded {
	case ' ', '+', '"', '\'': // several blanks show as one; a quote within quotes may be doubled
		next |= read & bits
	}
	if l.silent {
		next |= read
	}
	return next
}
