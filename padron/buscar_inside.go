package padron

import (
	"bytes"
	"slices"
)

// costs are estimates that choose between ways to the same answer. The unit is the time to scan one byte of names: half
// a nanosecond.
var costs = struct {
	offset int // reading an offset in the names
	word   int // finding the occurrences of a word
}{100, 2000}

// insideWord finds the names with the text at an offset inside a word. Those where it begins a word are already found.
func (s *search) insideWord() error {
	list := &s.inner
	head, rest, more := bytes.Cut(s.text, []byte{' '})
	if !more {
		from, to := list.span(s.names, 0, list[0].len(), 0, s.text)
		s.ranges.add(list, from, to)
		return s.addRanges()
	}
	if len(rest) == 0 || rest[0] == ' ' { // next to a character that folds to nothing, rest does not begin a word
		return s.walk(0, len(s.names), s.isAnywhere)
	}
	// The text is the end of a word and the beginning of the next one.
	next, nextEnd := s.words.span(s.names, 0, s.words[0].len(), 0, rest)
	among, amongEnd := list.span(s.names, 0, list[0].len(), 0, s.text[:len(head)+1])          // the word's first occurrence: among others,
	last, lastEnd := list.span(s.names, 0, list[0].len(), 0, append(slices.Clip(head), '\n')) // or the last of its name
	offsets, words := nextEnd-next, amongEnd-among+lastEnd-last
	if offsets == 0 || words == 0 {
		return nil
	}
	// If there are many hits, a scan of the best-ranked names soon finds enough. Otherwise few words end with head, or few
	// begin with rest, and these are checked. At worst all names are scanned.
	cost := min(offsets*costs.offset, words*costs.word)
	walked := len(s.names)
	if cost < len(s.names) {
		walked = cost / 2
	}
	if err := s.walk(0, walked, s.isAnywhere); err != nil || s.full() || walked == len(s.names) {
		return err
	}
	if offsets*costs.offset > words*costs.word {
		s.ranges.add(list, among, amongEnd)
		s.ranges.add(list, last, lastEnd)
		return s.addRanges()
	}
	return s.addAfter(head, next, nextEnd, walked)
}

// addAfter adds the names in which a word of the range from..to follows a word that ends with head, from offset after
// on.
func (s *search) addAfter(head []byte, from, to, after int) error {
	room := s.limit - len(s.ranks)
	best := make([]uint32, 0, room) // ranks, sorted
	beyond := len(s.names)          // offsets from here on have no better rank
	for i := from; i < to; i++ {
		if err := s.busy(1); err != nil {
			return err
		}
		space := int(s.words[0].at(i)) - 1
		begin := space - len(head)
		if begin < after || begin >= beyond || s.names[space] != ' ' || !bytes.Equal(s.names[begin:space], head) {
			continue
		}
		rank := s.rankOf(number32(begin))
		at, found := slices.BinarySearch(best, rank)
		if found || slices.Contains(s.ranks, rank) {
			continue
		}
		if len(best) == room {
			best = best[:room-1]
		}
		best = slices.Insert(best, at, rank)
		if len(best) == room {
			beyond = int(s.nameAt.at(int(best[room-1])))
		}
	}
	s.ranks = append(s.ranks, best...)
	return nil
}
