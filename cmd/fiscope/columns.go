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

// titles returns all titles, or the first row.
func (t *table) titles() string {
	first := t.header
	if first == nil {
		first = t.rows[0].cells
	}
	return strings.Join(slices.DeleteFunc(slices.Clone(first), func(title string) bool { return strings.TrimSpace(title) == "" }), ", ")
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

// takeTitles makes the first row the header if it has known titles. It refuses a file with rows above its titles. A row with
// a RUC has none.
func (t *table) takeTitles(wanted ...column) error {
	isTitle := func(cell string) bool {
		for _, known := range titles {
			if slices.Contains(wanted, known.what) && !known.unsure && known.names.MatchString(plain(cell)) {
				return true
			}
		}
		return false
	}
	best, most := 0, 0
	for i, r := range t.rows[:min(len(t.rows), 30)] {
		n := 0
		for _, cell := range r.cells {
			if elevenDigits.MatchString(asWritten(cell)) {
				n = -t.width
			} else if isTitle(cell) {
				n++
			}
		}
		if n > most && (i == 0 || n > 1 || len(wanted) == 1) {
			best, most = i, n
		}
	}
	if best > 0 {
		return fmt.Errorf("los títulos van en la primera línea, y están en la línea %d: borre las de arriba", t.rows[best].line)
	}
	if most > 0 {
		t.takeHeader()
	}
	return nil
}

// takeUnknown makes the first row the header if its RUC has letters. One that is only wrong must be reported.
func (t *table) takeUnknown(ruc int) {
	first := t.rows[0].cells
	if t.header == nil && ruc < len(first) && strings.ContainsFunc(first[ruc], unicode.IsLetter) && !rounded.MatchString(asWritten(first[ruc])) {
		t.takeHeader()
	}
}

// name finds a column by its title or position.
func (f *finder) name(what column, where string) error {
	i, err := strconv.Atoi(where)
	if i--; err != nil {
		if f.header == nil {
			f.takeHeader()
		}
		same := func(title string) bool { return plain(title) == plain(where) }
		i = slices.IndexFunc(f.header, same)
		switch {
		case i < 0:
			return fmt.Errorf("no hay columna «%s»; hay: %s", where, f.titles())
		case slices.ContainsFunc(f.header[i+1:], same):
			return fmt.Errorf("hay dos columnas «%s»: indíquela por su posición", where)
		}
	}
	if i < 0 || i >= f.width {
		return fmt.Errorf("-columna va de 1 a %d", f.width)
	}
	f.found[what] = i
	return nil
}

// findPurchases finds the columns of a file of purchases, and removes its header. asked are the values of -columna.
func (t *table) findPurchases(asked []string) (columns, error) {
	if err := t.takeTitles(allColumns...); err != nil {
		return nil, err
	}
	f := &finder{t, columns{}, func(what column) string { return fmt.Sprintf("-columna %s=N", what) }}
	for _, value := range asked {
		name, where, ok := strings.Cut(value, "=")
		what := column(strings.Replace(plain(name), "comprobante", "numero", 1))
		if !ok || !needed[what] && what != colAmount {
			return nil, fmt.Errorf("-columna es como numero=5 o «numero=N° Documento», y no «%s»: van emisor, tipo, serie, numero, comprobante e importe", terminal.Printable(value))
		}
		if err := f.name(what, strings.TrimSpace(where)); err != nil {
			return nil, err
		}
	}
	if i, ok := f.found[colIssuer]; ok {
		t.takeUnknown(i)
	}
	if f.header == nil {
		return f.byLayout()
	}
	for _, what := range allColumns {
		if err := f.pick(what); err != nil {
			return nil, err
		}
	}
	number, ok := f.found[colNumber]
	for _, need := range []struct {
		missing bool
		what    column
		name    string
	}{
		{!ok || !f.found.has(colSeries) && f.mostly(number, colNumber.fits) && !f.mostly(number, isWhole), colNumber, "comprobante», o «serie» y «numero"},
		{!f.found.has(colIssuer), colIssuer, "rucEmisor"},
		{!f.found.has(colKind), colKind, "tipo"},
	} {
		if need.missing {
			return nil, fmt.Errorf("falta la columna «%s»: indíquela con %s; hay: %s", need.name, f.option(need.what), f.titles())
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
// RUCs, and removes the header. It does not guess between two: looking up the wrong taxpayers spends the quota.
func (t *table) findRUC(asked string) (columns, error) {
	err := t.takeTitles(colIssuer)
	f := &finder{t, columns{}, func(column) string { return "-columna N" }}
	if err == nil && asked != "" {
		if err = f.name(colIssuer, asked); err == nil {
			t.takeUnknown(f.found[colIssuer])
		}
	}
	if err == nil {
		err = f.pick(colIssuer)
	}
	if err != nil || f.found.has(colIssuer) {
		return f.found, err
	}
	most := make([]int, t.width)
	for i := range most {
		for _, cell := range t.column(i) {
			if elevenDigits.MatchString(cell) {
				most[i]++
			}
		}
	}
	best := slices.Index(most, slices.Max(most))
	other := best + 1 + slices.Index(most[best+1:], most[best])
	switch {
	case most[best] == 0 && t.width > 1:
		return nil, errors.New("no se ve la columna del RUC: indíquela con -columna")
	case other > best:
		return nil, fmt.Errorf("las columnas %d y %d pueden ser la del RUC: indíquela con -columna", best+1, other+1)
	}
	t.takeUnknown(best)
	f.found[colIssuer] = best
	return f.found, f.isNot(colIssuer, best, false)
}
