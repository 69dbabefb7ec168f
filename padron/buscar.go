package padron

import (
	"bytes"
	"context"
	"slices"
	"sort"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/relevance"
)

// Buscar returns at most limite taxpayers whose name contains texto, ignoring case and accents, best first: names equal
// to the text, then those that begin with it, then those with a word that begins with it, then the rest. In each group,
// active taxpayers come first, then shorter names, then lower RUCs. A limite below 1 finds nothing.
//
// Errors: ctx has ended, the index is closed, or its file was damaged.
func (x *Index) Buscar(ctx context.Context, texto string, limite int) ([]fiscope.Contribuyente, error) {
	s := search{Index: x, ctx: ctx, text: relevance.AppendFold(nil, texto), limit: limite}
	if len(s.text) == 0 || limite < 1 {
		return nil, nil
	}
	var found []fiscope.Contribuyente
	err := x.read(func() error {
		if err := s.run(); err != nil {
			return err
		}
		found = make([]fiscope.Contribuyente, len(s.ranks))
		for i, rank := range s.ranks {
			at := x.rowAt.at(int(rank))
			c, folded := x.contribuyente(at)
			if !bytes.Contains(folded, s.text) {
				return errDamaged
			}
			c.RUC = formatRUC(rucOf(x.rows[at:]))
			found[i] = c
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// search is a search under way.
type search struct {
	*Index
	ctx   context.Context //nolint:containedctx // a search is one call
	text  []byte          // folded, not empty
	limit int
	ranks []uint32 // found, best first

	ranges offsetRanges
	work   int // done since ctx was last checked
}

func (s *search) run() error {
	if len(s.text) >= sortedBytes {
		return s.walkLong()
	}
	for _, step := range []func() error{s.beginsName, s.beginsWord, s.insideWord} {
		if err := step(); err != nil || s.full() {
			return err
		}
	}
	return nil
}

func (s *search) full() bool { return len(s.ranks) >= s.limit }

// add adds the taxpayer of an offset, unless it is found already.
func (s *search) add(offset uint32) {
	if rank := s.rankOf(offset); !slices.Contains(s.ranks, rank) {
		s.ranks = append(s.ranks, rank)
	}
}

// rankOf returns the rank whose name contains an offset.
func (x *Index) rankOf(offset uint32) uint32 {
	after := sort.Search(x.nameAt.len(), func(rank int) bool { return x.nameAt.at(rank) > offset })
	return number32(after - 1)
}

// busy counts work, about one for each offset read, and sometimes checks ctx.
func (s *search) busy(work int) error {
	if s.work += work; s.work < 1<<14 {
		return nil
	}
	s.work = 0
	return s.ctx.Err()
}

// beginsName finds the names equal to the text, and those that begin with it.
func (s *search) beginsName() error {
	list := &s.beginnings
	from, to := list.span(s.names, 0, list[0].len(), 0, s.text)
	whole, others := list.span(s.names, from, to, 0, append(slices.Clip(s.text), '\n'))
	s.ranges.add(list, whole, others)
	if err := s.addRanges(); err != nil || s.full() {
		return err
	}
	s.ranges.add(list, from, whole)
	s.ranges.add(list, others, to)
	return s.addRanges()
}

// beginsWord finds the names with another word that begins with the text.
func (s *search) beginsWord() error {
	from, to := s.words.span(s.names, 0, s.words[0].len(), 0, s.text)
	s.ranges.add(&s.words, from, to)
	return s.addRanges()
}

// addRanges adds the offsets of the ranges, best first. For an offset inside the first occurrence of a word it adds all
// occurrences of the word.
func (s *search) addRanges() error {
	for !s.full() {
		offset, list, ok := s.ranges.next()
		if !ok {
			break
		}
		if list == &s.inner {
			s.addWord(offset)
		} else {
			s.add(offset)
		}
		if err := s.busy(16); err != nil {
			return err
		}
	}
	s.ranges = s.ranges[:0]
	return nil
}

// addWord adds the occurrences of the word at an offset to the ranges. If the text goes on after the word, it adds only
// those that the rest of the text follows.
func (s *search) addWord(offset uint32) {
	word := sort.Search(s.wordAt.len(), func(i int) bool { return s.wordAt.at(i) > offset }) - 1
	rest := s.text[len(s.text):]
	if space := bytes.IndexByte(s.text, ' '); space >= 0 {
		rest = s.text[space:]
	}
	skip := int(offset-s.wordAt.at(word)) + len(s.text) - len(rest) // from the word to the rest
	for i, list := range []*sortedOffsets{&s.beginnings, &s.words} {
		from, to := int(s.wordRanges.at(4*word+2*i)), int(s.wordRanges.at(4*word+2*i+1))
		switch {
		case len(rest) == 0:
			s.ranges.add(list, from, to)
		case skip+len(rest) <= sortedBytes:
			from, to = list.span(s.names, from, to, skip, rest)
			s.ranges.add(list, from, to)
		default: // the list is not sorted by the whole rest
			for ; from < to; from++ {
				if bytes.HasPrefix(s.names[int(list[0].at(from))+skip:], rest) {
					s.ranges.add(list, from, from+1)
				}
			}
		}
	}
}
