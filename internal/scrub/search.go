package scrub

import (
	"slices"
	"unicode/utf8"
)

// shortest is how many runes a secret has that does not occur by chance.
const shortest = 4

// patterns are secrets that are searched for at the same time.
type patterns struct {
	all    []*pattern
	begins [256]bool // the bytes with which one of them can begin, in any writing
}

// with returns the patterns and another one.
func (ps *patterns) with(p *pattern) *patterns {
	more := &patterns{all: []*pattern{p}}
	if ps != nil {
		more.all = append(slices.Clip(ps.all), p)
	}
	for b := range more.begins {
		more.begins[b] = ps != nil && ps.begins[b] || b >= utf8.RuneSelf || opensEscape(rune(b)) || p.after(0, letters[b]) != 0
	}
	return more
}

// span is a part of a text: the offset of its first byte, and of the first byte after it.
type span struct{ start, end int }

// find returns where a text holds a secret, in no order: never less than all of it, and sometimes some
// runes before it that seemed to begin it. The bytes from open on may be the beginning of a secret in a
// text that was cut. It is not ok where nothing of the text may be shown, since it holds a secret that is so
// short that it may be there by chance, or escapes its escapes more often than is searched.
func (ps *patterns) find(text string) (found []span, open int, ok bool) {
	if ps == nil {
		return nil, len(text), true
	}
	var few [4]search
	var escapes escapes
	return ps.findIn(text, ps.begin(few[:0]), &escapes)
}

// begin returns the searches for all secrets, in the room of earlier ones.
func (ps *patterns) begin(room []search) []search {
	for i, p := range ps.all {
		if i == len(room) {
			room = append(room, search{})
		}
		room[i] = search{pattern: p, at: room[i].at}
	}
	return room
}

// findIn is find in the room of an earlier search.
func (ps *patterns) findIn(text string, searches []search, escapes *escapes) (found []span, open int, ok bool) {
	reading := false // a secret may have begun
	for i := 0; i < len(text); {
		if !reading && !ps.begins[text[i]] {
			i++
			continue
		}
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = decodeRune(text[i:])
		}
		l, escaped, cut := letterOf(r), false, false
		if beginsEscape(r, text[i+size:]) {
			length := escapesLength(text[i:])
			cut = i+length == len(text) // perhaps within an escape
			if escaped = length > size; escaped {
				if size = length; !escapes.read(text[i : i+size]) {
					return nil, 0, false
				}
			}
		}
		open = i
		reading = false
		for n := range searches {
			s := &searches[n]
			if cut && s.read != 0 {
				open = min(open, s.start)
			}
			before := len(found)
			if escaped {
				found = s.readEscapes(found, i, escapes)
			} else {
				found = s.readLetter(found, l, i, size)
			}
			if len(found) > before && s.runes < shortest {
				return nil, 0, false
			}
			for h := before; s.hasMore && h < len(found); h++ {
				found[h].end = len(text)
			}
			reading = reading || s.read != 0
		}
		if i += size; cut {
			return found, open, true
		}
	}
	open = len(text)
	for _, s := range searches {
		if s.read != 0 {
			open = min(open, s.start)
		}
	}
	return found, open, true
}

// search is how far the search for one secret is.
type search struct {
	*pattern
	read  uint64   // the runes of the secret that may just have been read
	start int      // where the first of them began
	at    []uint64 // the same for each byte of a part of the text that has escapes
}

// readLetter goes on over a character of size bytes, and adds the secret that ends with it.
func (s *search) readLetter(found []span, l letter, at, size int) []span {
	next := s.after(s.read, l)
	if s.read == 0 || next == 1 && !l.silent { // only what begins here can go on
		s.start = at
	}
	if next&s.last != 0 {
		found = append(found, span{s.start, at + size})
		next &^= s.last
	}
	s.read = next
	return found
}

// readEscapes goes on over a part of the text in each of its readings, and adds the secrets that end in it.
func (s *search) readEscapes(found []span, offset int, e *escapes) []span {
	size := len(e.first)
	s.at = slices.Grow(s.at[:0], size+1)[:size+1]
	clear(s.at)
	furthest := -1 // where the furthest of what was begun ends
	if s.at[0] = s.read; s.read != 0 {
		furthest = 0
	}
	for i, first := range e.first {
		for n := first; n >= 0; n = e.readings[n].next {
			reading := &e.readings[n]
			next := s.after(s.at[i], reading.letter)
			if next == 0 {
				continue
			}
			if furthest < i {
				s.start = offset + i
			}
			if next&s.last != 0 {
				found = append(found, span{s.start, offset + reading.end})
				if next &^= s.last; next == 0 {
					continue
				}
			}
			furthest = max(furthest, reading.end)
			s.at[reading.end] |= next
		}
	}
	s.read = s.at[size]
	return found
}
