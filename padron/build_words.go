package padron

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"runtime/debug"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/relevance"
)

// sortWords writes the three lists of offsets, and the words.
func (b *builder) sortWords(ctx context.Context, names []byte, phase func(string)) error {
	phase(PhaseWords)
	beginnings, err := sortOffsets(ctx, names, beginningsOf(names))
	if err != nil {
		return err
	}
	others, err := sortOffsets(ctx, names, otherWordsOf(names))
	if err != nil {
		return err
	}
	if err := errors.Join(b.out.writeSorted(sectionBeginnings, beginnings), b.out.writeSorted(sectionWords, others)); err != nil {
		return err
	}
	phase(PhaseInner)
	words, err := differentWords(ctx, names, beginnings, others)
	if err != nil {
		return err
	}
	at, ranges := b.out.begin(sectionWordAt, 4*int64(len(words))), b.out.begin(sectionWordRanges, 16*int64(len(words)))
	for _, w := range words {
		at.number(w.at)
		for _, n := range w.ranges {
			ranges.number(n)
		}
	}
	if err := errors.Join(at.finish(), ranges.finish()); err != nil {
		return err
	}
	beginnings, others = nil, nil //nolint:ineffassign,wastedassign // so that their memory is released
	debug.FreeOSMemory()
	inner, err := sortOffsets(ctx, names, innerOf(names, words))
	if err != nil {
		return err
	}
	return b.out.writeSorted(sectionInner, inner)
}

// beginningsOf returns the offsets where non-empty names begin.
func beginningsOf(names []byte) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for at := 0; at < len(names); at += bytes.IndexByte(names[at:], '\n') + 1 {
			if names[at] != '\n' && !yield(number32(at)) {
				return
			}
		}
	}
}

// otherWordsOf returns the offsets where words other than a name's first begin: at any character but a blank, after a
// character that is not part of a word.
func otherWordsOf(names []byte) iter.Seq[uint32] {
	var ofWord [utf8.RuneSelf]bool
	for c := range ofWord {
		ofWord[c] = relevance.OfWord(rune(c))
	}
	return func(yield func(uint32) bool) {
		for at := 1; at < len(names); at++ {
			before, c := names[at-1], names[at]
			if before < utf8.RuneSelf && ofWord[before] || before == '\n' || c == ' ' || c == '\n' || !utf8.RuneStart(c) {
				continue
			}
			if before >= utf8.RuneSelf && isInside(names, at) {
				continue
			}
			if !yield(number32(at)) {
				return
			}
		}
	}
}
