package padron

import "context"

// The phases of an import, in their order.
const (
	PhaseRead  = "read"            // the rows are read
	PhaseOrder = "order of rank"   // they are put in the order of their ranks
	PhaseWords = "words"           // the beginnings of words are sorted
	PhaseInner = "places in words" // the places inside words are sorted
)

// buildIndex
func importRows(ctx context.Context, index string, info Info, each func(add func(*row) error) error) (duplicates int, err error) {
	d, err := newDraft(index)
	if err != nil {
		return 0, err
	}
	b := newBuilder(d.File, d.rows)
	if err = each(b.add); err == nil {
		err = b.finish(ctx, info, func(string) {})
	}
	if err != nil {
		d.discard()
		return 0, err
	}
	return b.duplicates, d.keep()
}
