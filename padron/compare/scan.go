package main

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/relevance"
)

// names are the folded names of a registry in memory, in the order of rank: active taxpayers first, then shorter
// names, then by RUC. A scan of them finds the best names of each class first.
type names struct {
	text []byte // each name ended by LF
	ends []int  // of each name, behind its LF
	rucs []int64
}

// readNames reads the names of a registry.
func readNames(registry string) (*names, error) {
	var read names
	var inactive []bool
	err := eachRow(registry, func(r row) error {
		read.add([]byte(relevance.Fold(r.nombre)), r.ruc)
		inactive = append(inactive, r.estado != "ACTIVO")
		return nil
	})
	if err != nil {
		return nil, err
	}
	order := make([]int, len(read.rucs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { // of a RUC the last row first, which is the one that counts
		return cmp.Or(cmp.Compare(read.rucs[a], read.rucs[b]), cmp.Compare(b, a))
	})
	order = slices.CompactFunc(order, func(a, b int) bool { return read.rucs[a] == read.rucs[b] })
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case inactive[a] && !inactive[b]:
			return 1
		case inactive[b] && !inactive[a]:
			return -1
		}
		return cmp.Or(cmp.Compare(len(read.name(a)), len(read.name(b))), cmp.Compare(read.rucs[a], read.rucs[b]))
	})
	var ranked names
	for _, i := range order {
		ranked.add(read.name(i), read.rucs[i])
	}
	return &ranked, nil
}

func (n *names) add(name []byte, ruc int64) {
	n.text = append(append(n.text, name...), '\n')
	n.ends = append(n.ends, len(n.text))
	n.rucs = append(n.rucs, ruc)
}

func (n *names) name(i int) []byte {
	begin := 0
	if i > 0 {
		begin = n.ends[i-1]
	}
	return n.text[begin : n.ends[i]-1]
}

// all returns the names by rank.
func (n *names) all() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i := range n.ends {
			if !yield(i, n.name(i)) {
				return
			}
		}
	}
}

// The classes of what a search finds, in their order.
const (
	classWhole = iota
	classBeginning
	classWord
	classInside
	classes
)

// search looks for a text in every name, and returns the RUCs of the best ones.
func (n *names) search(texto string, limit int) []int64 {
	text := []byte(relevance.Fold(texto))
	var found [classes][]int64
	for from := 0; ; {
		at := bytes.Index(n.text[from:], text)
		if at < 0 {
			break
		}
		rank, _ := slices.BinarySearch(n.ends, from+at+1)
		if class := classOf(n.name(rank), text); len(found[class]) < limit {
			found[class] = append(found[class], n.rucs[rank])
		}
		from = n.ends[rank]
	}
	best := append([]int64{}, slices.Concat(found[:]...)...)
	return best[:min(len(best), limit)]
}

// classOf returns the class of a name that holds a text.
func classOf(name, text []byte) int {
	switch {
	case len(name) == len(text):
		return classWhole
	case bytes.HasPrefix(name, text):
		return classBeginning
	}
	for at := 0; at < len(name); at++ {
		more := bytes.Index(name[at:], text)
		if more < 0 {
			break
		}
		at += more
		if before, _ := utf8.DecodeLastRune(name[:at]); !relevance.OfWord(before) {
			return classWord
		}
	}
	return classInside
}
