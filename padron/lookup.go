package padron

import (
	"context"
	"fmt"

	"github.com/fiscope/fiscope"
)

var _ fiscope.Respaldo = (*Index)(nil)

// Contribuyente returns the taxpayer with a RUC of 11 digits, and the approximate day of its data. Fields that the
// registry lacks are empty.
//
// Errors: fiscope.ErrNotFound if the registry lacks the RUC; the index is closed, or its file was damaged.
func (x *Index) Contribuyente(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
	number, ok := parseRUC([]byte(ruc))
	if !ok {
		return nil, fiscope.Fecha{}, errNotThere
	}
	var found *fiscope.Contribuyente
	err := x.read(func() error {
		slots := x.rucs.len()
		for slot, n := slotOf(number, slots), 0; n < slots; slot, n = (slot+1)&(slots-1), n+1 {
			at := x.rucs.at(slot)
			if at == 0 {
				break
			}
			if rucOf(x.rows[at-1:]) == number {
				c, _ := x.contribuyente(at - 1)
				c.RUC = ruc
				found = &c
				return nil
			}
		}
		return errNotThere
	})
	if err != nil {
		return nil, fiscope.Fecha{}, err
	}
	return found, x.info.Fecha, nil
}

// errNotThere is the error for a missing taxpayer.
var errNotThere = fmt.Errorf("padron: %w: the registry lacks that RUC", fiscope.ErrNotFound)

// slotOf returns the first slot to try for a RUC. slots is a power of two.
func slotOf(ruc uint64, slots int) int {
	return int(ruc * 0x9E3779B97F4A7C15 >> 32 & uint64(slots-1)) //nolint:gosec // a number below slots
}
