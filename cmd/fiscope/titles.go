package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"

	"github.com/fiscope/fiscope"
)

// Parts of the patterns of titles.
const (
	nro     = `(n|no|nro|num|numero)(de|del)?`
	receipt = `(doc|documento|comprob|comprobante|cp|cpe|fact|factura)(depago)?`
	soles   = `(s|soles|ensoles|pen|mn)?`
)

// knownTitle has usual titles of a column. Of an unsure one the cells decide.
type knownTitle struct {
	what   column
	names  *regexp.Regexp
	unsure bool
}

// titles are the usual titles, as plain returns them, the surest of a column first. In files of SUNAT's SIRE
// "RUC" and "Razón social" are those of the books' owner, so the supplier's titles are surer.
var titles = []knownTitle{
	{colIssuer, title(nro + `(doc|documento)(de)?identidad`), false},
	{colIssuer, title(`(` + nro + `)?ruc(de|del)?(emisor|proveedor)|(emisor|proveedor)ruc`), false},
	{colIssuer, title(`(` + nro + `)?ruc|ruc[oy]?dni|dni[oy]?ruc`), false},
	{colIssuer, title(nro + `|(` + nro + `)?(doc|documento)((de|del)?(emisor|proveedor))?|emisor|proveedor`), true},
	{colKind, title(`tipo(de|del)?(comprobante|comprob|cp|cpe|cdp)(doc|depago)?`), false},
	{colKind, title(`tipo|td|t(ipo)?(de)?(doc|documento)`), false},
	{colKind, title(receipt), true},
	{colSeries, title(`(` + nro + `)?serie((de|del)?(cdp|` + receipt + `))?`), false},
	{colNumber, title(`nrocpodoc(nroinicialrango)?`), false},
	{colNumber, title(`correlativo|` + nro + `(correlativo|` + receipt + `)?|` + receipt + `|serie[yo]?(correlativo|` + nro + `)`), false},
	{colLast, title(`nrofinalrango`), false},
	{colAmount, title(`(importe|monto|precio)?total(de|del)?(` + receipt + `)?` + soles), false},
	{colAmount, title(`(importe|monto|valor)` + soles), false},
	{colCurrency, title(`((tipo|codigo|cod)(de)?)?(moneda|mon)`), false},
	{colName, title(`apellidosnombresrazonsocial`), false},
	{colName, title(`proveedor|((nombre|razonsocial)(o|de|del)?)?(nombre|razonsocial|proveedor|emisor)`), false},
}

func title(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(` + pattern + `)$`) }

// isTitle reports whether a cell is surely the title of a wanted column.
func isTitle(cell string, wanted []column) bool {
	return slices.ContainsFunc(titles, func(known knownTitle) bool {
		return slices.Contains(wanted, known.what) && !known.unsure && known.names.MatchString(plain(cell))
	})
}

// fits reports whether a cell can be of a column. A number may have its series before it.
func (what column) fits(cell string) bool {
	switch what {
	case colIssuer:
		_, err := fiscope.ParseRUC(cell)
		return err == nil
	case colKind:
		return kindOf(cell) != ""
	case colNumber:
		return isWhole(cell) || isWhole("F001-"+cell)
	}
	return true
}

// isWhole reports whether a cell has the series and the number of a receipt.
func isWhole(cell string) bool {
	_, _, err := fiscope.ParseSerieNumero(cell)
	return err == nil
}

// mostly reports whether most cells of a column fit.
func (t *table) mostly(i int, fits func(string) bool) bool {
	cells := t.column(i)
	return 2*len(slices.DeleteFunc(slices.Clone(cells), fits)) < len(cells)
}

// column returns the cells of a column that are not empty.
func (t *table) column(i int) (cells []string) {
	for _, r := range t.rows {
		if i < len(r.cells) && asWritten(r.cells[i]) != "" {
			cells = append(cells, asWritten(r.cells[i]))
		}
	}
	return cells
}

// counts reports whether a column counts the rows: 1, 2, 3 in any order, perhaps with gaps where rows were deleted.
func (t *table) counts(i int) bool {
	var seen []int
	for _, cell := range t.column(i) {
		if n, err := strconv.Atoi(cell); err == nil { // a row of sums has a text
			seen = append(seen, n)
		}
	}
	slices.Sort(seen)
	n := len(seen)
	return n >= 3 && len(slices.Compact(seen)) == n && seen[n-1]-seen[0] < 2*n
}

// finder finds the wanted columns of a table.
type finder struct {
	*table
	found  columns
	wanted []column
}

// option returns the option that names a column.
func (f *finder) option(what column) string {
	if len(f.wanted) == 1 {
		return "-columna N"
	}
	return fmt.Sprintf("-columna %s=N", what)
}

// isNot says why a column with the right title is another one. others reports whether more columns could be it.
func (f *finder) isNot(what column, i int, others bool) error {
	series, ok := f.found[colSeries]
	own, cells, several := os.Getenv("FISCOPE_SOL_RUC"), f.column(i), false // a column has several RUCs
	for j := range f.width {
		several = several || what == colIssuer && f.mostly(j, what.fits) && len(slices.Compact(f.column(j))) > 1
	}
	switch {
	case what == colIssuer && (others || len(cells) >= 10) && !slices.ContainsFunc(cells, func(cell string) bool { return cell != own }):
		return fmt.Errorf("%s es el RUC de usted en todas las filas, y no el de los emisores: indique su columna con %s", f.shown(i), f.option(what))
	case what == colIssuer && len(slices.Compact(cells)) <= 1 && several:
		return fmt.Errorf("%s no tiene más de un RUC, y otra columna sí: indique la de los emisores con %s", f.shown(i), f.option(what))
	case what == colNumber && f.counts(i) && (others || ok && i < series || f.couldBe(what, i-1) || f.couldBe(what, i+1)):
		return fmt.Errorf("%s cuenta las filas, y no es el número del comprobante: indique su columna con %s; hay: %s", f.shown(i), f.option(what), f.titles())
	case what == colNumber && ok && i < series && f.couldBe(what, series+1): // it may count with gaps, as filtered rows
		return fmt.Errorf("hay dos columnas «%s», %s y %s: elija con %s", what, f.shown(i), f.shown(series+1), f.option(what))
	}
	return nil
}

// couldBe reports whether a column of an unknown title has cells that fit.
func (f *finder) couldBe(what column, i int) bool {
	return i >= 0 && i < len(f.header) && !isTitle(f.header[i], allColumns) && f.mostly(i, what.fits)
}

// pick finds a column by its title. Of several it takes the surest title; of equally sure ones that whose cells fit. It does
// not guess between two: the wrong column validates other receipts.
func (f *finder) pick(what column) (refused error) {
	if f.found.has(what) {
		return nil
	}
	fits, could := what.fits, 0
	if what == colNumber && !f.found.has(colSeries) {
		fits = isWhole
	}
	doubt := map[int]int{} // of each column with such a title
	for rank, known := range titles {
		for i, title := range f.header {
			if _, seen := doubt[i]; seen || known.what != what || !known.names.MatchString(plain(title)) || f.found.taken(i) {
				continue
			}
			if f.mostly(i, fits) {
				doubt[i] = 2 * rank
				could++
			} else if !known.unsure {
				doubt[i] = 2*rank + 1
			}
		}
	}
	best := slices.SortedFunc(maps.Keys(doubt), func(a, b int) int { return cmp.Or(doubt[a]-doubt[b], a-b) })
	best = slices.DeleteFunc(best, func(i int) bool {
		err := f.isNot(what, i, could > 1)
		refused = cmp.Or(refused, err)
		return err != nil
	})
	switch {
	case len(best) == 0:
		return refused
	case len(best) > 1 && doubt[best[0]] == doubt[best[1]] && needed[what]:
		return fmt.Errorf("hay dos columnas «%s», %s y %s: elija con %s", what, f.shown(best[0]), f.shown(best[1]), f.option(what))
	}
	f.found[what] = best[0]
	return nil
}
