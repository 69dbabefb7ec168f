package main

import (
	"fmt"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// finish writes the output, whatever stopped the run: that costs no query. Then it reports, and returns the exit status.
func (b *batch) finish(states []*state, titles []string, judge func(i int, answers map[string]answer) result) error {
	if err := b.kept.Close(); err != nil {
		return err
	}
	answers, err := b.answers()
	if err != nil {
		return err
	}
	results := make([]result, len(b.rows))
	for i := range b.rows {
		results[i] = judge(i, answers)
	}
	titles = append([]string{"resultado", "detalle"}, titles...)
	if err := b.write(b.output, b.mode, titles, func(i int) []string {
		cells := []string{results[i].state.name, results[i].detail}
		for _, cell := range results[i].cells {
			cells = append(cells, withZeros(harmless(cell)))
		}
		return cells
	}); err != nil {
		return fmt.Errorf("no se pudo escribir %s (las respuestas están a salvo: corrija esto y repita): %w", b.output, err)
	}
	return b.report(states, results)
}

// shownRows is how many rows of each state the report shows.
const shownRows = 10

func (b *batch) report(states []*state, results []result) error {
	counts, exit := map[string]int{}, allWell
	for _, r := range results {
		counts[r.state.name]++
		exit = max(exit, r.state.exit)
	}
	switch of := statusOf(b.stopped); {
	case of == wrongUse: // another run cannot fix it
		exit = of
	case b.stopped != nil:
		exit = unfinished
	}
	left, _, reset := quota(b.client)
	spent := b.spent.Load()
	if b.asJSON {
		summary := map[string]any{"entrada": b.input, "salida": b.output, "filas": len(results), "resultados": counts,
			"consultasGastadas": spent, "consultasAhorradas": b.saved, "terminado": exit != unfinished}
		if left >= 0 {
			summary["consultasQuedan"] = left
		}
		if err := b.json(summary); err != nil {
			return err
		}
	} else {
		for _, s := range states {
			b.showState(s, counts[s.name], results)
		}
		b.line("")
		b.line("Filas: %s. Consultas gastadas: %s, ahorradas: %s.", terminal.Thousands(len(results)), terminal.Thousands(int(spent)), terminal.Thousands(int(b.saved)))
		if left >= 0 {
			b.line("Quedan hoy %s, y se renuevan el %s.", terminal.Thousands(left), inLima(reset))
		}
		b.line("Salida: %s", terminal.Printable(b.output))
	}
	if b.stopped != nil {
		b.note("Se detuvo. %s", explain(b.stopped))
	}
	switch {
	case exit == allWell:
		return nil
	case exit == unfinished:
		b.note("Para seguir, repita el mismo comando: solo pregunta lo que falta.")
	}
	return exit
}

func (b *batch) showState(s *state, count int, results []result) {
	if count == 0 {
		return
	}
	b.line("%s", b.paint(s.exit, fmt.Sprintf("%7s  %s", terminal.Thousands(count), s.name))+s.advice)
	if s.exit == allWell {
		return
	}
	const indent = "           "
	shown := 0
	for i, r := range results {
		if r.state != s {
			continue
		}
		if shown++; shown > shownRows {
			b.line("%sy %s más: vea la columna «resultado» de la salida", indent, terminal.Thousands(count-shownRows))
			return
		}
		b.line("%s%s", indent, shorten(fmt.Sprintf("línea %d  %s", b.rows[i].line, r.label), terminal.UsualColumns-len(indent)))
		if r.detail != "" {
			for _, line := range fold(r.detail, terminal.UsualColumns-len(indent)-2) {
				b.line("%s  %s", indent, line)
			}
		}
	}
}
