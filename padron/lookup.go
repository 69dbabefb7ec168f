package padron

import (
	"context"
	"fmt"

	"github.com/fiscope/fiscope"
)

var _ fiscope.Respaldo = (*Index)(nil)

// Contribuyente returns the taxpayer with that RUC, 11 digits, and the day of the data, which it is about. What the
// registry does not have is empty.
//
// Errors: fiscope.ErrNotFound where it lacks the RUC; an index that is closed, or whose file was damaged.
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

// errNotThere is why a taxpayer is not found.
var errNotThere = fmt.Errorf("padron: %w: the registry lacks that RUC", fiscope.ErrNotFound)

// slotOf returns where to look for a RUC first, in a table of a power of two.
func slotOf(ruc uint64, slots int) int {
	return int(ruc * 0x9E3779B97F4A7C15 >> 32 & uint64(slots-1)) //nolint:gosec // a number below slots
}
