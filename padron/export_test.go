package padron

import (
	"bytes"
	"context"
	"iter"
	"strconv"

	"github.com/fiscope/fiscope"
)

// RowForTest is a row as the reader gives it.
type RowForTest struct{ RUC, Nombre, Estado, Condicion, Ubigeo, Calle string }

// ImportRows makes an index of rows, and returns the lines that were replaced; the first row is line 2.
func ImportRows(ctx context.Context, index string, info Info, rows []RowForTest) (replaced []int, err error) {
	d, err := newDraft(index)
	if err != nil {
		return nil, err
	}
	b := newBuilder(d.File, d.rows)
	for i, r := range rows {
		ruc, err := strconv.ParseUint(r.RUC, 10, 64)
		if err == nil {
			err = b.add(&taxpayerRow{i + 2, ruc, []byte(r.Nombre), []byte(r.Estado), []byte(r.Condicion), []byte(r.Ubigeo), []byte(r.Calle)})
		}
		if err != nil {
			d.discard()
			return nil, err
		}
	}
	replaced, _ = b.replaceRows()
	if err := b.finish(ctx, info, func(string) {}); err != nil {
		d.discard()
		return nil, err
	}
	return replaced, d.keep()
}

// FoldedNames returns the folded names in the order of rank. They are the file's: use them before Close.
func (x *Index) FoldedNames() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		rank := 0
		for name := range bytes.Lines(x.names) {
			if !yield(rank, name[:len(name)-1]) {
				return
			}
			rank++
		}
	}
}

// RUCOfRank returns the RUC of a rank.
func (x *Index) RUCOfRank(rank int) string {
	return strconv.FormatUint(1e11+rucOf(x.rows[x.rowAt.at(rank):]), 10)[1:]
}

// OpenIndex returns the index that answers.
func (f *Follower) OpenIndex() *Index { return f.open.Load().Index }

// Ask asks the index that answers, as the questions do.
func (f *Follower) Ask(do func(*Index) (right bool, err error)) error { return f.ask(do) }

// SetCosts sets what the ways to search inside words are taken to cost, until undo.
func SetCosts(offset, word int) (undo func()) {
	before := costs
	costs.offset, costs.word = offset, word
	return func() { costs = before }
}

// SHA256 is one that the index of a test has.
const SHA256 = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"

// HeaderSize is how many bytes of a file are its header.
func HeaderSize() int { return headerSize }

// unheard ignores the progress of phases.
func unheard(string, int64) func(int) { return func(int) {} }

// ReadRows returns the rows of a registry's file that are taken.
func ReadRows(ctx context.Context, file string) (rows []RowForTest, err error) {
	in, err := openSource(ctx, file, unheard)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var report Report
	err = in.rows(ctx, &report, unheard, func(r *taxpayerRow) error {
		rows = append(rows, RowForTest{strconv.FormatUint(1e11+r.ruc, 10)[1:], string(r.nombre), string(r.estado), string(r.condicion), string(r.ubigeo), string(r.calle)})
		return nil
	})
	return rows, err
}

// Record returns what the index has to answer for a row.
func (r RowForTest) Record() fiscope.Contribuyente {
	c := fiscope.Contribuyente{RUC: r.RUC, RazonSocial: r.Nombre, Estado: fiscope.Estado(r.Estado), Condicion: fiscope.Condicion(r.Condicion), Ubigeo: r.Ubigeo}
	in := lugarOf(r.Ubigeo)
	c.Departamento, c.Provincia, c.Distrito = in.departamento, in.provincia, in.distrito
	c.Direccion = direccion([]byte(r.Calle), in)
	return c
}
