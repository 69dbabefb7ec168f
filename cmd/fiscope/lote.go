package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
)

// The states of a row of lote, in the order of the report.
var (
	loteGood    = &state{"activo y habido", "", allWell}
	loteBad     = &state{"no activo o no habido", ": puede perder el crédito fiscal", problem}
	loteNone    = &state{"no existe", ": nadie tiene ese RUC", problem}
	loteWrong   = &state{"fila con error", ": corrija el RUC", problem}
	loteCopy    = &state{"copia local", ": el servicio no lo confirmó todavía", unfinished}
	loteWaiting = &state{"pendiente", ": sin respuesta todavía", unfinished}
	loteStates  = []*state{loteGood, loteBad, loteNone, loteWrong, loteCopy, loteWaiting}
)

var loteTitles = []string{
	"ruc_consultado", "razon_social", "estado", "condicion", "direccion", "ubigeo", "departamento", "provincia", "distrito",
	"tipo", "actividad_economica", "fecha_inscripcion", "fecha_inicio_actividades", "consultado",
}

// rucRow is a row's RUC, or the reason why it cannot be looked up.
type rucRow struct{ ruc, wrong string }

func runLote(ctx context.Context, cmd *cli.Command, input string) error {
	column := 0
	b, err := openBatch(cmd, input, func(t *table) (err error) {
		column, err = t.findRUC(cmd.String("columna"))
		return err
	})
	if err != nil {
		return err
	}
	defer b.close()
	rows, inputs, bad := []rucRow{}, []string{}, 0
	for _, r := range b.rows {
		asked := readRUC(r.cells, column)
		rows, inputs = append(rows, asked), append(inputs, asked.ruc)
		if asked.wrong != "" {
			bad++
		}
	}
	left := b.pending(inputs)
	end := b.begin(len(left), bad)
	err = b.lookUp(ctx, left)
	end()
	if err != nil {
		return err
	}
	return b.finish(loteStates, loteTitles, func(i int, answers map[string]answer) result {
		return b.judgeRUC(rows[i], b.rows[i].String(), answers[rows[i].ruc])
	})
}

func (b *batch) judgeRUC(r rucRow, label string, a answer) result {
	c := fiscope.Contribuyente{}
	known := a.read(&c)
	of := result{loteWaiting, b.notes[r.ruc], strings.TrimSpace(r.ruc + "  " + c.RazonSocial), make([]string, len(loteTitles))}
	of.cells[0] = r.ruc
	switch {
	case r.wrong != "":
		of.state, of.detail, of.label = loteWrong, r.wrong, label
		return of
	case known && a.Pending:
		of.state = loteCopy
	case known && c.ActivoYHabido():
		of.state = loteGood
	case known:
		of.state, of.detail = loteBad, fmt.Sprintf("%s, %s", c.Estado, c.Condicion)
	case a.Error != "" && !a.Pending:
		of.state = loteNone
	default:
		return of
	}
	if known {
		of.cells = []string{r.ruc, c.RazonSocial, string(c.Estado), string(c.Condicion), c.Direccion, c.Ubigeo, c.Departamento, c.Provincia,
			c.Distrito, c.Tipo, c.ActividadEconomica, c.FechaInscripcion.String(), c.FechaInicioActividades.String(), ""}
	}
	of.cells[len(of.cells)-1] = a.date
	return of
}

// readRUC returns the RUC of a row, or the reason why it has no valid one.
func readRUC(cells []string, column int) rucRow {
	if len(cells) <= column {
		return rucRow{"", fmt.Sprintf("no tiene columna %d", column+1)}
	}
	ruc := asWritten(cells[column])
	switch {
	case ruc == "":
		return rucRow{"", "el RUC está vacío"}
	case rounded.MatchString(ruc):
		return rucRow{"", "la hoja de cálculo redondeó el RUC: dé formato de texto a su columna"}
	case !onlyDigits.MatchString(ruc):
		return rucRow{"", "el RUC tiene algo que no es un dígito"}
	case len(ruc) != len(rucSUNAT):
		return rucRow{"", fmt.Sprintf("el RUC tiene %d dígitos y no 11", len(ruc))}
	case fiscope.ValidarRUC(ruc) != nil:
		return rucRow{"", "un dígito del RUC es incorrecto, o hay dos cambiados de lugar"}
	}
	return rucRow{ruc, ""}
}

// findRUC finds the RUC's column, by the title or position asked for or by itself, and removes the header. It does not guess
// between two candidates: looking up the wrong taxpayers spends the quota.
func (t *table) findRUC(asked string) (int, error) {
	first := t.rows[0].cells
	column, err := strconv.Atoi(asked)
	column--
	switch {
	case err == nil && (column < 0 || column >= t.width):
		return 0, fmt.Errorf("-columna va de 1 a %d", t.width)
	case err != nil && asked != "":
		column = slices.IndexFunc(first, func(title string) bool { return plain(title) == plain(asked) })
		if column < 0 {
			return 0, fmt.Errorf("no hay columna «%s»; hay: %s", asked, strings.Join(first, ", "))
		}
	case asked == "":
		if column, err = t.guessRUC(); err != nil {
			return 0, err
		}
	}
	// A wrong RUC in the first row is not a title, and must be reported.
	if len(first) > column && strings.ContainsFunc(first[column], unicode.IsLetter) && !rounded.MatchString(asWritten(first[column])) {
		t.takeHeader()
	}
	return column, nil
}

// guessRUC considers the columns titled RUC, or else all; of them it returns the one with the most RUCs.
func (t *table) guessRUC() (int, error) {
	const sampleRows = 100
	rucs := make([]int, t.width)
	for _, r := range t.rows[:min(sampleRows, len(t.rows))] {
		for i, cell := range r.cells {
			if elevenDigits.MatchString(asWritten(cell)) {
				rucs[i]++
			}
		}
	}
	var columns []int
	for i, title := range t.rows[0].cells {
		words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) })
		if slices.Contains(words, "ruc") {
			columns = append(columns, i)
		}
	}
	if columns == nil {
		for i := range t.width {
			if rucs[i] > 0 || t.width == 1 {
				columns = append(columns, i)
			}
		}
	}
	slices.SortStableFunc(columns, func(a, b int) int { return rucs[b] - rucs[a] })
	switch {
	case len(columns) == 0:
		return 0, errors.New("no se ve la columna del RUC: indíquela con -columna")
	case len(columns) > 1 && rucs[columns[0]] == rucs[columns[1]]:
		return 0, fmt.Errorf("las columnas %d y %d pueden ser la del RUC: indíquela con -columna", columns[0]+1, columns[1]+1)
	}
	return columns[0], nil
}
