package scrub

import (
	"slices"
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
	begins  [256]bool             // the bytes with which a secret can begin, in any writing
	runes   int                   // how many runes are searched for
	hasMore bool                  // the secret has more than those
}

// longestPattern is how many runes of a secret are searched for. Of a longer one these tell enough: no
// other text has them by chance.
const longestPattern = 64

// newPattern returns nil for a secret of which nothing can be seen.
func newPattern(secret string) *pattern {
	p := &pattern{}
	var unwritable uint64 // the runes that an encoder may not know and write as "?"
	for secret = strings.TrimFunc(secret, blank); secret != ""; {
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
	for b := range p.begins {
		p.begins[b] = b >= utf8.RuneSelf || opensEscape(rune(b)) || p.ascii[asciiLetters[b].folded]&1 != 0
	}
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

// span is a part of a text: the offset of its first byte, and of the first byte after it.
type span struct{ start, end int }

// find returns where a text holds the secret: never less than all of it, and sometimes some runes before
// it that seemed to begin it. The bytes from open on may be the beginning of the secret in a text that was
// cut. It is not ok where a text escapes its escapes more often than is searched.
func (p *pattern) find(text string) (found []span, open int, ok bool) {
	var (
		last    = uint64(1) << (p.runes - 1)
		read    uint64 // the runes of the secret that end at i
		start   int    // where the first of them began
		escapes escapes
		reached []uint64
	)
	end := func(start, end int) {
		if p.hasMore {
			end = len(text)
		}
		found = append(found, span{start, end})
	}
	for i := 0; i < len(text); {
		if read == 0 && !p.begins[text[i]] {
			i++
			continue
		}
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = decodeRune(text[i:])
		}
		if !beginsEscape(r, text[i+size:]) {
			l := letterOf(r)
			next := p.after(read, l)
			if read == 0 || next == 1 && !l.silent { // only what begins here can go on
				start = i
			}
			i += size
			if next&last != 0 {
				end(start, i)
				next &^= last
			}
			read = next
			continue
		}

		length := escapesLength(text[i:])
		if !escapes.read(text[i : i+length]) {
			return nil, 0, false
		}
		if i+length == len(text) { // the last escape may be cut
			if read == 0 {
				start = i
			}
			open = start
		}
		reached = slices.Grow(reached[:0], length+1)[:length+1]
		clear(reached)
		furthest := -1 // where the furthest of what was begun stands
		if reached[0] = read; read != 0 {
			furthest = 0
		}
		for at := range length {
			for reading := range escapes.from(at) {
				next := p.after(reached[at], letterOf(reading.r))
				if next != 0 && furthest < at {
					start = i + at
				}
				if next&last != 0 {
					end(start, i+reading.end)
					next &^= last
				}
				if next != 0 {
					furthest = max(furthest, reading.end)
				}
				reached[reading.end] |= next
			}
		}
		i += length
		if read = reached[length]; i == len(text) {
			return found, open, true
		}
	}
	if read == 0 {
		start = len(text)
	}
	return found, start, true
}
