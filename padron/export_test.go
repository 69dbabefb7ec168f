package padron

import (
	"context"
	"strconv"

	"github.com/fiscope/fiscope"
)

// RowForTest is a row as the reader gives it.
type RowForTest struct {
	RUC                                         string
	Nombre, Estado, Condicion, Ubigeo, Calle string
}

// ImportRows makes an index of rows, and returns how many were replaced.
func ImportRows(ctx context.Context, index string, info Info, rows []RowForTest) (replaced int, err error) {
	d, err := newDraft(index)
	if err != nil {
		return 0, err
	}
	b := newBuilder(d.File, d.rows)
	for i, r := range rows {
		ruc, err := strconv.ParseUint(r.RUC, 10, 64)
		if err == nil {
			err = b.add(&row{i + 2, ruc, []byte(r.Nombre), []byte(r.Estado), []byte(r.Condicion), []byte(r.Ubigeo), []byte(r.Calle)})
		}
		if err != nil {
			d.discard()
			return 0, err
		}
	}
	replaced = len(b.replaceRows())
	if err := b.finish(ctx, info, func(string) {}); err != nil {
		d.discard()
		return 0, err
	}
	return replaced, d.keep()
}

var _ = fiscope.Fecha{}
