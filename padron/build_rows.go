package padron

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// writeRows writes names and rows in the order of rank, and the tables that find them by rank and RUC. It returns the
// folded names as in the section of names, with spare capacity after them.
func (b *builder) writeRows(ctx context.Context) ([]byte, error) {
	taxpayers := b.taken()
	names := make([]byte, 0, b.nameBytes+sortedBytes)
	byRUC := make([]uint32, 1<<bits.Len(uint(taxpayers+taxpayers/2))) // a third to two thirds stay empty
	nameAt := b.out.begin(sectionNameAt, 4*int64(taxpayers+1))
	rowAt := b.out.begin(sectionRowAt, 4*int64(taxpayers))
	rows := b.out.begin(sectionRows, b.rowBytes)
	var row, text []byte
	var order []ranked
	used := uint32(0) // bytes of rows
	for number := range b.byRank.buckets {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if number == lastBucket+1 {
			b.out.header.Activos = b.out.header.Contribuyentes
		}
		var err error
		if text, err = b.byRank.drain(number, text); err != nil {
			return nil, err
		}
		order = inOrder(order[:0], text, b.replaced)
		for _, o := range order {
			p, _ := readPending(text[o.at:])
			nameAt.number(number32(len(names)))
			rowAt.number(used)
			row = rowIn(row, p.ruc, number32(len(names)), p.folded, p.rest)
			rows.write(row)
			slot := slotOf(p.ruc, len(byRUC))
			for byRUC[slot] != 0 {
				slot = (slot + 1) & (len(byRUC) - 1)
			}
			byRUC[slot] = used + 1
			used += number32(len(row))
			names = append(append(names, p.folded...), '\n')
			b.out.header.Contribuyentes++
		}
	}
	nameAt.number(number32(len(names)))
	for _, w := range []*sectionWriter{nameAt, rowAt, rows} {
		if err := w.finish(); err != nil {
			return nil, err
		}
	}
	return names, cmp.Or(b.out.writeNumbers(sectionRUCs, byRUC), b.out.write(sectionNames, names))
}

// ranked is where a pending row is, with what its rank depends on.
type ranked struct {
	ruc        uint64
	length, at uint32
}

// inOrder appends the pending rows of a text in rank order, except replaced ones.
func inOrder(order []ranked, text []byte, replaced []int) []ranked {
	sorted := true
	compare := func(a, b ranked) int { return cmp.Or(cmp.Compare(a.length, b.length), cmp.Compare(a.ruc, b.ruc)) }
	for at := 0; at < len(text); {
		p, size := readPending(text[at:])
		if _, was := slices.BinarySearch(replaced, int(p.line)); !was {
			next := ranked{p.ruc, number32(len(p.folded)), number32(at)}
			sorted = sorted && (len(order) == 0 || compare(order[len(order)-1], next) < 0)
			order = append(order, next)
		}
		at += size
	}
	if !sorted {
		slices.SortFunc(order, compare)
	}
	return order
}
