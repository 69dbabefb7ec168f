package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// column is what a column of the input holds, by its name in -columna.
type column string

const (
	colIssuer   column = "emisor"
	colKind     column = "tipo"
	colSeries   column = "serie"
	colNumber   column = "numero"       // without a column of the series, it holds both
	colLast     column = "numero final" // of a range
	colAmount   column = "importe"
	colCurrency column = "moneda"
	colName     column = "proveedor"
)

// allColumns are the columns in the order in which they are found and shown.
var allColumns = []column{colIssuer, colKind, colSeries, colNumber, colLast, colAmount, colCurrency, colName}

// needed are the columns without which no receipt can be validated. The others are labels.
var needed = map[column]bool{colIssuer: true, colKind: true, colSeries: true, colNumber: true}

// columns has the position of each column, from 0 on.
type columns map[column]int

func (c columns) has(what column) bool { _, ok := c[what]; return ok }

func (c columns) taken(i int) bool { return slices.Contains(slices.Collect(maps.Values(c)), i) }

// layouts are files without titles: the one of the help, and SUNAT's book 8.1 (PLE).
var layouts = []columns{
	{colIssuer: 0, colKind: 1, colNumber: 2, colAmount: 3, colName: 4},
	{colIssuer: 11, colKind: 5, colSeries: 6, colNumber: 8, colLast: 9, colName: 12, colAmount: 23, colCurrency: 24},
}

// shown returns a column's title and position, from 1 on.
func (t *table) shown(i int) string {
	if i >= len(t.header) {
		return fmt.Sprintf("columna %d", i+1)
	}
	return fmt.Sprintf("«%s» (%d)", shorten(strings.Join(strings.Fields(t.header[i]), " "), 40), i+1)
}

// titles returns all titles.
func (t *table) titles() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(t.header), func(title string) bool { return strings.TrimSpace(title) == "" }), ", ")
}

// understood returns the columns that were found, for people.
func (t *table) understood(c columns) string {
	names := map[column]string{colIssuer: "RUC", colNumber: "número", colLast: "último número"}
	if !c.has(colSeries) {
		names[colNumber] = "comprobante"
	}
	var shown []string
	for _, what := range allColumns {
		if i, ok := c[what]; ok {
			shown = append(shown, cmp.Or(names[what], string(what))+": "+t.shown(i))
		}
	}
	return strings.Join(shown, ", ")
}

// find finds columns by what is asked, a title or a position, and the others by their titles. It removes the header.
func (t *table) find(asked map[column]string, wanted ...column) (*finder, error) {
	f := &finder{t, columns{}, wanted}
	err := f.takeTitles()
	for _, what := range wanted {
		if where := asked[what]; where != "" && err == nil {
			f.found[what], err = f.position(where)
		}
	}
	if err == nil && f.header == nil {
		f.takeUnknown()
	}
	for _, what := range wanted {
		if err == nil {
			err = f.pick(what)
		}
	}
	return f, err
}

// takeTitles makes the first row the header if it has known titles. It refuses a file with rows above its titles. A row with
// a RUC has none.
func (f *finder) takeTitles() error {
	best, most := 0, 0
	for i, r := range f.rows[:min(len(f.rows), 30)] {
		n := 0
		for _, cell := range r.cells {
			if elevenDigits.MatchString(asWritten(cell)) {
				n = -f.width
			} else if isTitle(cell, f.wanted) {
				n++
			}
		}
		if n > most && (i == 0 || n > 1 || len(f.wanted) == 1) {
			best, most = i, n
		}
	}
	if best > 0 {
		return fmt.Errorf("los títulos van en la primera línea, y están en la línea %d: borre las de arriba", f.rows[best].line)
	}
	if most > 0 {
		f.takeHeader()
	}
	return nil
}

// takeUnknown makes the first row the header if its RUC has letters. A RUC that is only wrong must be reported.
func (f *finder) takeUnknown() {
	if ruc := f.found.text(f.rows[0], colIssuer); strings.ContainsFunc(ruc, unicode.IsLetter) && !rounded.MatchString(asWritten(ruc)) {
		f.takeHeader()
	}
}

// position returns the column with a title or a position.
func (f *finder) position(where string) (int, error) {
	i, err := strconv.Atoi(where)
	if i--; err == nil && (i < 0 || i >= f.width) {
		return 0, fmt.Errorf("-columna va de 1 a %d", f.width)
	} else if err == nil {
		return i, nil
	}
	if f.header == nil {
		f.takeHeader()
	}
	same := func(title string) bool { return plain(title) == plain(where) }
	if i = slices.IndexFunc(f.header, same); i < 0 {
		return 0, fmt.Errorf("no hay columna «%s»; hay: %s", where, f.titles())
	}
	if slices.ContainsFunc(f.header[i+1:], same) {
		return 0, fmt.Errorf("hay dos columnas «%s»: indíquela por su posición", where)
	}
	return i, nil
}

// findPurchases finds the columns of a file of purchases. values are those of -columna.
func (t *table) findPurchases(values []string) (columns, error) {
	asked := map[column]string{}
	for _, value := range values {
		name, where, ok := strings.Cut(value, "=")
		what := column(strings.Replace(plain(name), "comprobante", "numero", 1))
		if !ok || !needed[what] && what != colAmount {
			return nil, fmt.Errorf("-columna es como numero=5 o «numero=N° Documento», y no «%s»: van emisor, tipo, serie, numero, comprobante e importe", terminal.Printable(value))
		}
		asked[what] = strings.TrimSpace(where)
	}
	f, err := t.find(asked, allColumns...)
	switch {
	case err != nil:
		return nil, err
	case f.header == nil:
		return f.byLayout()
	}
	number, series := f.found[colNumber], f.found.has(colSeries)
	if !series && f.mostly(number, colNumber.fits) && !f.mostly(number, isWhole) {
		delete(f.found, colNumber)
	}
	names := map[column]string{colNumber: "comprobante», o «serie» y «numero", colIssuer: "rucEmisor", colKind: "tipo"}
	for _, what := range []column{colNumber, colIssuer, colKind} {
		if !f.found.has(what) {
			return nil, fmt.Errorf("falta la columna «%s»: indíquela con %s; hay: %s", names[what], f.option(what), f.titles())
		}
	}
	return f.found, nil
}

// byLayout returns the columns of a file without titles: those of the layout by which some row can be read.
func (f *finder) byLayout() (columns, error) {
	for _, layout := range layouts {
		c := maps.Clone(layout)
		maps.DeleteFunc(c, func(_ column, i int) bool { return i >= f.width || f.found.taken(i) })
		maps.Copy(c, f.found)
		if slices.ContainsFunc(f.rows, func(r row) bool { p := c.read(r); return p.wrong == "" && p.receipt.RUCEmisor != "" }) {
			if f.found.has(colIssuer) {
				return c, nil
			}
			return c, f.isNot(colIssuer, c[colIssuer], false)
		}
	}
	return nil, fmt.Errorf("no se entiende ninguna fila: los títulos van en la primera línea (línea %d: %s)", f.rows[0].line, layouts[0].read(f.rows[0]).wrong)
}

// findRUC finds the RUC's column, by the title or position asked for, by known titles, or else as the column with the most
// RUCs. It does not guess between two: looking up the wrong taxpayers spends the quota.
func (t *table) findRUC(asked string) (columns, error) {
	f, err := t.find(map[column]string{colIssuer: asked}, colIssuer)
	if err != nil || f.found.has(colIssuer) {
		return f.found, err
	}
	most := make([]int, t.width)
	for i := range most {
		most[i] = len(slices.DeleteFunc(t.column(i), func(cell string) bool { return !elevenDigits.MatchString(cell) }))
	}
	best := slices.Index(most, slices.Max(most))
	other := best + 1 + slices.Index(most[best+1:], most[best])
	switch {
	case most[best] == 0 && t.width > 1:
		return nil, errors.New("no se ve la columna del RUC: indíquela con -columna")
	case other > best:
		return nil, fmt.Errorf("las columnas %d y %d pueden ser la del RUC: indíquela con -columna", best+1, other+1)
	}
	f.found[colIssuer] = best
	f.takeUnknown()
	return f.found, f.isNot(colIssuer, best, false)
}
