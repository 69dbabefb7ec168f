package padron_test

import (
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// texts makes texts to search for from names. They are the same for the same names and the same Rand.
type texts struct {
	*rand.Rand
	names          []string // folded, none empty
	frequent, rare []string // words
}

// someNames is how many names are sampled, or up to twice as many.
const someNames = 400_000

// textsOf returns the texts of about n folded names.
func textsOf(names iter.Seq2[int, []byte], n int) *texts {
	t := texts{Rand: rand.New(rand.NewPCG(9, 9))}
	oneIn := max(1, n/someNames)
	counts := map[string]int{}
	for _, name := range names {
		if len(name) == 0 || t.IntN(oneIn) > 0 {
			continue
		}
		t.names = append(t.names, string(name))
		for word := range strings.FieldsSeq(string(name)) {
			counts[word]++
		}
	}
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		switch {
		case len(word) < 4 || !onlyLetters(word):
		case counts[word] > len(t.names)/200:
			t.frequent = append(t.frequent, word)
		case counts[word] == 1:
			t.rare = append(t.rare, word)
		}
	}
	return &t
}

func onlyLetters(word string) bool { return strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" }

func (t *texts) of(list []string) string { return list[t.IntN(len(list))] }

// words returns the words of a random name with that many words or more.
func (t *texts) words(least int) []string {
	for {
		if words := strings.Fields(t.of(t.names)); len(words) >= least {
			return words
		}
	}
}

// word returns a random word of that many letters or more.
func (t *texts) word(least int) string {
	for {
		if word := t.of(t.words(1)); len(word) >= least && onlyLetters(word) {
			return word
		}
	}
}

// kindOfText is a kind of texts.
type kindOfText struct {
	name string
	text func() string // returns the next one
}

// kinds are those of padron/README.md.
func (t *texts) kinds() []kindOfText {
	return []kindOfText{
		{"3 letters", func() string { return t.word(4)[:3] }},
		{"frequent word", func() string { return t.of(t.frequent) }},
		{"rare word", func() string { return t.of(t.rare) }},
		{"two words together", func() string {
			words := t.words(3)
			at := t.IntN(len(words) - 1)
			return words[at] + " " + words[at+1]
		}},
		{"two words apart", func() string { return t.word(3) + " " + t.word(3) }},
		{"whole name", func() string { return t.of(t.names) }},
		{"accents", func() string { return strings.NewReplacer("n", "ñ", "a", "Á", "o", "ó").Replace(t.word(4)) }},
		{"punctuation", func() string { return t.of([]string{"s.a.c", ".a.c", "& h", "s.a.", "\"", ".c.", "- e"}) }},
		{"inside a word", func() string {
			word, from := t.word(7), 1+t.IntN(2)
			return word[from : from+3+t.IntN(3)]
		}},
		{"inside a rare word", func() string {
			for {
				if word := t.of(t.rare); len(word) > 6 {
					return word[2:]
				}
			}
		}},
		{"end of a word and next of the name", func() string {
			for {
				if words := t.words(3); len(words[0]) > 5 {
					return words[0][3:] + " " + words[1][:min(len(words[1]), 1+t.IntN(4))]
				}
			}
		}},
		{"end of a word and any next", func() string {
			word, next := t.word(3), t.word(3)
			return word[len(word)-1-t.IntN(2):] + " " + next[:1+t.IntN(3)]
		}},
		{"no hit of frequent letters", func() string { return t.word(6) + "xq" }},
		{"no hit", func() string { return "zzqx" + string(rune('a'+t.IntN(26))) + string(rune('a'+t.IntN(26))) }},
	}
}
