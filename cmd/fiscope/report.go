package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// run shows what was understood and how many queries the batch needs at most, and asks. Then it writes the output, whatever
// stopped it: that costs no query. At last it reports, and returns the exit status.
func (b *batch) run(question func(), states []*state, titles []string, judge func(i int) result) error {
	if b.simulates && !b.asJSON {
		b.err = b.out
	}
	left := len(b.left(b.needs(true), true))
	b.note("%s", b.understood(b.columns))
	b.note("%s: %s; por consultar: %s; con error: %s.", b.input, terminal.Rows(len(b.rows)), terminal.Thousands(left), terminal.Thousands(b.bad))
	b.adviseDays()
	b.progress = terminal.ShowProgress("fiscope", b.err)
	question()
	b.progress.Stop()
	if !b.simulates {
		q := b.quota()
		if spent := int(b.spent.Load()); q.left < 0 && spent > 0 && errors.Is(b.stopped, fiscope.ErrQuotaExceeded) {
			q.left, q.limit = 0, max(b.noted.limit, spent) // only lookups surely say it
		}
		if q.left >= 0 {
			b.noted = q
			_ = b.kept.Record(context.Background(), fmt.Sprintf(quotaNote, q.left, q.limit)) // only a note
		}
		if err := b.kept.Close(); err != nil {
			return err
		}
	}
	results := make([]result, len(b.rows))
	for i := range b.rows {
		results[i] = judge(i)
	}
	if b.simulates {
		return b.simulate(states, results)
	}
	titles = append([]string{"resultado", "detalle"}, titles...)
	if err := b.write(b.output, b.mode, titles, func(i int) []string {
		return append([]string{results[i].state.name, strings.TrimSpace(results[i].detail)}, results[i].cells...)
	}); err != nil {
		return fmt.Errorf("no se pudo escribir %s (las respuestas están a salvo: corrija esto y repita): %w", b.output, err)
	}
	return b.report(states, results)
}

// simulate reports what a run would do.
func (b *batch) simulate(states []*state, results []result) error {
	summary := map[string]any{"entrada": b.input, "filas": len(results), "columnas": b.understood(b.columns), "conError": b.bad, "porConsultar": b.queries}
	known := "No se sabe cuántas consultas quedan."
	if !b.noted.at.IsZero() {
		summary["consultasQuedaban"], summary["anotado"] = b.noted.left, b.noted.at
		known = fmt.Sprintf("Quedaban %s consultas el %s.", terminal.Thousands(b.noted.left), inLima(b.noted.at))
	}
	return b.answer(summary, allWell, func() {
		for _, s := range states {
			if s == comprasWrong || s == loteWrong {
				b.showState(s, results)
			}
		}
		var each []string
		for _, what := range slices.Sorted(maps.Keys(b.queries)) {
			each = append(each, what+" "+terminal.Thousands(b.queries[what]))
		}
		b.line("Consultas que haría, a lo más: %s. No se hizo ninguna.", strings.Join(each, ", "))
		b.line("%s", known)
	})
}

// shownRows is how many rows of each state the report shows.
const shownRows = 10

func (b *batch) report(states []*state, results []result) error {
	counts, soles, exit := map[string]int{}, map[string]json.Number{}, allWell
	for _, s := range states {
		n, _, sum := tally(s, results)
		if n > 0 {
			counts[s.name], exit = n, max(exit, s.exit)
		}
		if sum.Valid {
			soles[s.name] = json.Number(sum.Decimal.StringFixed(2))
		}
	}
	if b.stopped != nil {
		exit = unfinished
	}
	if statusOf(b.stopped) == wrongUse { // another run cannot fix it
		exit = wrongUse
	}
	otherDays, q := slices.SortedFunc(maps.Values(b.others), fiscope.Fecha.Compare), b.quota()
	spent, saved := int(b.spent.Load()), max(0, len(b.needs(false))-len(b.notes))
	summary := map[string]any{"entrada": b.input, "salida": b.output, "filas": len(results), "resultados": counts, "soles": soles,
		"consultasGastadas": spent, "consultasAhorradas": saved, "terminado": exit != unfinished}
	if q.left >= 0 {
		summary["consultasQuedan"] = q.left
	}
	if len(otherDays) > 0 {
		summary["respuestasDeOtroDia"], summary["masAntigua"] = len(otherDays), otherDays[0]
	}
	err := b.answer(summary, exit, func() {
		for _, s := range states {
			b.showState(s, results)
		}
		b.line("")
		b.line("Filas: %s. Consultas gastadas: %s, ahorradas: %s.", terminal.Thousands(len(results)), terminal.Thousands(spent), terminal.Thousands(saved))
		if len(otherDays) > 0 {
			b.line("Respuestas de otro día: %s (la más antigua, del %s)", terminal.Thousands(len(otherDays)), inWords(otherDays[0]))
		}
		switch {
		case q.left >= 0 && q.reset.IsZero():
			b.line("Quedan hoy %s.", terminal.Thousands(q.left))
		case q.left >= 0:
			b.line("Quedan hoy %s, y se renuevan el %s.", terminal.Thousands(q.left), inLima(q.reset))
		}
		b.line("Salida: %s", terminal.Printable(b.output))
	})
	if b.stopped != nil {
		b.note("Se detuvo. %s", explain(b.stopped))
	}
	b.adviseDays()
	if exit == unfinished {
		b.note("Para seguir, repita el mismo comando: solo pregunta lo que falta.")
	}
	return err
}

// tally counts the rows of a state and those without an amount in soles, and sums the amounts, if there is one.
func tally(s *state, results []result) (n, without int, sum decimal.NullDecimal) {
	for _, r := range results {
		if r.state != s {
			continue
		}
		n++
		if r.soles.Valid {
			sum = decimal.NullDecimal{Decimal: sum.Decimal.Add(r.soles.Decimal), Valid: true}
		} else {
			without++
		}
	}
	return n, without, sum
}

func (b *batch) showState(s *state, results []result) {
	count, without, sum := tally(s, results)
	if count == 0 {
		return
	}
	const indent = "           "
	name := s.name
	switch {
	case sum.Valid && without > 0 && s == comprasPay: // a total that is taken for complete
		name += fmt.Sprintf(" (%s, y %s sin importe en soles)", inSoles(sum.Decimal), terminal.Thousands(without))
	case sum.Valid:
		name += " (" + inSoles(sum.Decimal) + ")"
	}
	lines := fold(name+s.advice, terminal.UsualColumns-len("1234567  "))
	b.line("%s", b.paint(s.exit, fmt.Sprintf("%7s  %s", terminal.Thousands(count), lines[0])))
	for _, line := range lines[1:] {
		b.line("%s%s", indent, line)
	}
	if s.exit == allWell {
		return
	}
	shown := 0
	for i, r := range results {
		if r.state != s {
			continue
		}
		if shown++; shown > shownRows && !b.simulates { // which has no output
			b.line("%sy %s más: vea la columna «resultado» de la salida", indent, terminal.Thousands(count-shownRows))
			return
		}
		b.line("%s%s", indent, shorten(fmt.Sprintf("línea %d  %s", b.rows[i].line, r.label), terminal.UsualColumns-len(indent)))
		if r.detail != "" {
			b.behind(indent+"  ", r.detail)
		}
	}
}
