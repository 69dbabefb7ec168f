package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
)

// The states of a row of lote, in the order of the report.
var (
	loteGood    = &state{"activo y habido", "", allWell}
	loteBad     = &state{"no activo o no habido", ": puede perder el crédito fiscal", problem}
	loteNone    = &state{"no existe", ": nadie tiene ese RUC", problem}
	loteWrong   = &state{"fila con error", ": corrija el RUC", problem}
	loteWaiting = &state{"pendiente", ": sin respuesta todavía", unfinished}
	loteStates  = []*state{loteGood, loteBad, loteNone, loteWrong, loteWaiting}
)

var loteTitles = []string{
	"ruc_consultado", "razon_social", "estado", "condicion", "direccion", "ubigeo", "departamento", "provincia", "distrito",
	"tipo", "actividad_economica", "fecha_inscripcion", "fecha_inicio_actividades", "consultado",
}

func runLote(ctx context.Context, cmd *cli.Command) error {
	b, err := openBatch(cmd, func(t *table) (columns, error) { return t.findRUC(cmd.String("columna")) })
	defer b.close()
	if err != nil {
		return err
	}
	var wrongs []string
	for _, r := range b.rows {
		ruc, wrong := readRUC(b.columns.text(r, colIssuer))
		if len(r.cells) <= b.columns[colIssuer] {
			wrong = fmt.Sprintf("no tiene columna %d", b.columns[colIssuer]+1)
		}
		b.inputs, wrongs = append(b.inputs, ruc), append(wrongs, wrong)
		if wrong != "" {
			b.bad++
		}
	}
	left := b.left(b.inputs, true)
	b.queries = map[string]int{"RUC": len(left)}
	return b.run(func() { b.lookUp(ctx, left) }, loteStates, loteTitles, func(i int) result {
		return b.judgeRUC(b.inputs[i], wrongs[i], b.rows[i].String())
	})
}

// judgeRUC decides the state of a row.
func (b *batch) judgeRUC(ruc, wrong, label string) result {
	a, c := b.known[ruc], fiscope.Contribuyente{}
	known := json.Unmarshal(a.Answer, &c) == nil
	of := result{state: loteWaiting, detail: b.notes[ruc], label: strings.TrimSpace(ruc + "  " + c.RazonSocial)}
	of.cells = []string{ruc, c.RazonSocial, string(c.Estado), string(c.Condicion), c.Direccion, c.Ubigeo, c.Departamento, c.Provincia, c.Distrito,
		c.Tipo, c.ActividadEconomica, c.FechaInscripcion.String(), c.FechaInicioActividades.String(), ""}
	switch {
	case wrong != "":
		of.state, of.detail, of.label = loteWrong, wrong, label
		return of
	case !isAnswer(a):
		return of
	case a.Pending:
		of.detail = byRegistry + dayOf(a)
	case !known:
		of.state = loteNone
	case c.ActivoYHabido():
		of.state = loteGood
	default:
		of.state, of.detail = loteBad, fmt.Sprintf("%s, %s", c.Estado, c.Condicion)
	}
	of.cells[len(of.cells)-1] = b.restOn(&of, loteWaiting, a)
	return of
}

// readRUC returns the RUC in a cell, or the reason why there is no valid one.
func readRUC(cell string) (ruc, wrong string) {
	cell = asWritten(cell)
	ruc, err := fiscope.ParseRUC(cell)
	own, isDNI := fiscope.RUCDeDNI(cell)
	digits := strings.NewReplacer("-", "", ".", "").Replace(cell)
	switch {
	case err == nil:
		return ruc, ""
	case cell == "":
		return "", "el RUC está vacío"
	case isDNI:
		return "", "es un DNI; su RUC sería " + own
	case rounded.MatchString(cell):
		return "", "la hoja de cálculo redondeó el RUC: dé formato de texto a su columna"
	case !onlyDigits.MatchString(digits):
		return "", "el RUC tiene algo que no es un dígito"
	case len(digits) != len(rucSUNAT):
		return "", fmt.Sprintf("el RUC tiene %d dígitos y no 11", len(digits))
	}
	return "", "un dígito del RUC es incorrecto, o hay dos cambiados de lugar"
}
