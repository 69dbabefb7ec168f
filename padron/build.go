package padron

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"runtime/debug"
	"slices"

	"github.com/fiscope/fiscope/internal/relevance"
)

// builder makes an index: it takes rows one after another, and then finishes. The data of a row waits in a file until
// its rank is known. At 18 million rows its lists take a gigabyte. They have no spare capacity and no pointers, and
// memory is released at once between the phases: the garbage collector would let it grow to twice as much.
type builder struct {
	out       *sections
	byRank    *rowsByRank
	rucs      rucs
	texts     textTable
	nameBytes int64 // of the folded names, each with its LF
	rowBytes  int64 // of the rows
	rows      int
	nameless  []uint32 // lines, in order
	replaced  []int    // lines, in order

	folded, rest []byte
}

// newBuilder makes an index in an empty file, with another file for the rows.
func newBuilder(index, rows *os.File) *builder {
	return &builder{out: newSections(index), byRank: &rowsByRank{file: rows}, texts: textTable{numbers: map[string]uint16{}}}
}

// add takes a row. If several have the same RUC, the last one counts.
func (b *builder) add(r *taxpayerRow) error {
	b.folded = relevance.AppendFold(b.folded[:0], r.nombre)
	var known [3]uint16
	for i, text := range [3][]byte{r.estado, r.condicion, r.ubigeo} {
		var err error
		if known[i], err = b.texts.number(text); err != nil {
			return err
		}
	}
	b.rest = appendRest(b.rest[:0], known, r.calle, r.nombre, b.folded)
	if err := b.rucs.add(r.ruc, r.line); err != nil {
		return err
	}
	if len(r.nombre) == 0 {
		b.nameless = append(b.nameless, number32(r.line))
	}
	b.nameBytes += int64(len(b.folded)) + 1
	b.rowBytes += rowOverhead + int64(len(b.rest))
	if b.nameBytes > math.MaxUint32-2*sortedBytes || b.rowBytes > math.MaxUint32 {
		return errors.New("more than 4 GB of names or addresses: an index does not hold that")
	}
	return b.byRank.add(string(r.estado) == "ACTIVO", pending{r.ruc, number32(r.line), b.folded, b.rest})
}

// replaceRows returns the lines of the rows that a later one of the same RUC replaces, and how many of these have no
// name.
func (b *builder) replaceRows() (lines []int, nameless int) {
	b.rows = len(b.rucs.keys)
	b.replaced = b.rucs.replaced()
	for _, line := range b.replaced {
		if _, is := slices.BinarySearch(b.nameless, number32(line)); is {
			nameless++
		}
	}
	b.rucs, b.nameless = rucs{}, nil
	return b.replaced, nameless
}

// taken returns how many taxpayers there are, after replaceRows.
func (b *builder) taken() int { return b.rows - len(b.replaced) }

// finish writes the index, after replaceRows. It reports each of its phases except the first.
func (b *builder) finish(ctx context.Context, info Info, phase func(string)) error {
	debug.FreeOSMemory()
	names, err := b.writeRows(ctx)
	if err != nil {
		return err
	}
	debug.FreeOSMemory()
	if err := b.sortWords(ctx, names, phase); err != nil {
		return err
	}
	if err := b.out.header.setInfo(info.SHA256, info.Fecha); err != nil {
		return err
	}
	return b.out.finish(b.texts.content())
}

// textTable has the few different texts of some columns.
type textTable struct {
	numbers map[string]uint16
	list    [][]byte
}

// number returns the number of a text, a new one if it has none.
func (t *textTable) number(text []byte) (uint16, error) {
	if n, ok := t.numbers[string(text)]; ok {
		return n, nil
	}
	if len(t.list) > math.MaxUint16 {
		return 0, errors.New("too many different values of estado, condición and ubigeo: the columns are not where they should be")
	}
	n := uint16(len(t.list)) //nolint:gosec // see above
	t.numbers[string(text)] = n
	t.list = append(t.list, bytes.Clone(text))
	return n, nil
}

func (t *textTable) content() []byte { return bytes.Join(t.list, []byte{'\n'}) }
