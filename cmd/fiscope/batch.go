package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/shopspring/decimal"
	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/internal/lockfile"
)

const batchDescription = `ENTRADA es un CSV en UTF-8 o Windows-1252, con títulos o sin ellos. La salida
tiene sus filas con más columnas, y se abre en Excel. Cada respuesta se guarda
al llegar, junto a la salida: tras Ctrl-C, un corte o el fin de la cuota, el
mismo comando sigue donde quedó, y solo pregunta lo que falta. Lo que tiene más
días que -dias se pregunta otra vez, al final; hasta entonces está pendiente.`

// byRegistry, and a day, say why a taxpayer's answer is not final.
const byRegistry = "el servicio no dio el dato; es del padrón del "

// longest is the largest -dias.
const longest = 9999

func batchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "salida", DefaultText: "ARCHIVO", Usage: "por defecto, ENTRADA con .lote.csv o .compras.csv al final", Local: true},
		&cli.StringFlag{Name: "sep", DefaultText: "SEPARADOR", Usage: "; , | o tab; por defecto, el de las primeras líneas", Local: true},
		&cli.IntFlag{Name: "dias", DefaultText: "N", Usage: "una respuesta vale N días, y con 0 solo hoy; 7 por defecto", Value: 7, Local: true},
		&cli.IntFlag{Name: "reserva", DefaultText: "N", Usage: "deja las últimas N consultas del día para otros", Local: true},
		&cli.BoolFlag{Name: "simular", Usage: "dice qué entendió y cuántas consultas haría, y no hace ninguna", Local: true},
	}
}

// state is the outcome of a row. The output has its name.
type state struct {
	name, advice string
	exit         status
}

// result is what the output and the report say about a row.
type result struct {
	state  *state
	detail string
	label  string   // for the report
	cells  []string // for the output
	soles  decimal.NullDecimal
}

// batch is a run over a file, common to lote and compras.
type batch struct {
	*session
	*table
	columns       columns
	input, output string
	mode          os.FileMode // of the input
	simulates     bool        // asks and writes nothing
	days          int         // for which an answer counts
	reserve       int         // queries of a day that are left for others
	kept          *fiscope.ResultsFile
	known         map[string]fiscope.SavedResult // what this run and earlier ones were answered
	noted         quota                          // after the last run; its time is zero if that is unknown
	notes         map[string]string              // the inputs asked for in this run, and why one has no answer
	inputs        []string                       // of the rows; "" for none
	receipts      map[string]fiscope.Comprobante // by their inputs; nil for lote
	queries       map[string]int                 // how many it may make, by what is asked
	bad           int                            // rows that cannot be asked for
	others        map[string]fiscope.Fecha       // answers of another day that rows rest on
	progress      *terminal.Progress
	of            int64
	stopped       error

	done, spent atomic.Int64 // lines, and queries
	waits       sync.Once    // prints once that it waits for queries in flight
}

// openBatch reads the input first. find finds its columns. What it returns is to be closed, also after an error.
func openBatch(cmd *cli.Command, find func(*table) (columns, error)) (*batch, error) {
	b := &batch{
		session: &session{}, input: strings.TrimSpace(cmd.Args().First()), output: cmd.String("salida"), simulates: cmd.Bool("simular"),
		days: cmd.Int("dias"), reserve: cmd.Int("reserva"), notes: map[string]string{}, others: map[string]fiscope.Fecha{},
	}
	if b.reserve < 0 || b.days < 0 || b.days > longest {
		return b, terminal.Wrong(fmt.Errorf("-reserva va desde 0, y -dias de 0 a %d", longest), cmd.Name)
	}
	info, err := os.Stat(b.input)
	if err != nil {
		return b, err
	}
	if info.IsDir() {
		return b, terminal.Wrong(fmt.Errorf("%s es una carpeta", b.input), cmd.Name)
	}
	b.mode = info.Mode().Perm()
	if b.table, err = readTable(b.input, cmd.String("sep")); err != nil {
		return b, terminal.Wrong(err, cmd.Name)
	}
	b.session, err = connect(cmd, fiscope.WithQuotaReserve(b.reserve), fiscope.WithHook(b.hook), fiscope.WithObserver(b.observe))
	if err != nil {
		return b, err
	}
	if b.columns, err = find(b.table); err == nil && len(b.rows) == 0 {
		err = errors.New("no tiene filas")
	}
	if err != nil {
		return b, b.wrong("%s: %w", b.input, err)
	}
	if b.output == "" {
		b.output = b.input + "." + cmd.Name + ".csv"
		if b.service == mockService { // its answers must not mix with real ones
			b.output = b.input + "." + cmd.Name + "-mock.csv"
		}
	}
	return b, b.openKept()
}

// keptFile returns the name of the answers' file, next to the output.
func (b *batch) keptFile() string { return b.output + ".jsonl" }

// openKept reads the answers of earlier runs, and opens their file or creates it.
func (b *batch) openKept() error {
	if filepath.Clean(b.output) == filepath.Clean(b.input) {
		return errors.New("la -salida no puede ser la entrada")
	}
	err := b.load()
	_, ours := b.known["servicio "+b.service]
	_, missing := os.Stat(b.output)
	switch begins := len(b.known) == 0; {
	case err != nil:
		return err
	case begins && missing == nil:
		return fmt.Errorf("%s ya existe y no es de este programa, o ya no están sus respuestas (%s): bórrelo o indique otra -salida", b.output, b.keptFile())
	case !begins && !ours:
		return fmt.Errorf("las respuestas de %s no son de %s: indique otra -salida", b.keptFile(), b.service)
	case b.simulates:
		return nil
	}
	if b.kept, err = fiscope.NewResultsFile(b.keptFile(), fiscope.ResultsMaxAge(b.days)); err != nil {
		return notKept(b.keptFile(), err)
	}
	if ours {
		return nil
	}
	return b.kept.Record(context.Background(), "servicio "+b.service)
}

// notKept explains why the file of the answers cannot be opened.
func notKept(name string, err error) error {
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return notWritable(name, file)
	}
	if errors.Is(err, lockfile.ErrLocked) {
		return fmt.Errorf("%s no se puede usar: otro proceso lo usa", name)
	}
	return fmt.Errorf("%s no se puede usar: debe tener las respuestas ya pagadas, y está dañado o es de otro programa. Puede renombrarlo y repetir: entonces todo se consulta y se paga otra vez", name)
}

// notWritable explains why a file cannot be written.
func notWritable(name string, err error) error {
	_, missing := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("la carpeta %s no existe", filepath.Dir(name))
	case errors.Is(err, fs.ErrPermission) && missing != nil:
		return fmt.Errorf("no hay permiso para escribir en la carpeta %s", filepath.Dir(name))
	}
	return err
}

// needs returns the inputs of the rows, and the issuers of their receipts; with mayBe also those that may be needed.
func (b *batch) needs(mayBe bool) []string {
	all := slices.Concat(b.inputs, b.issuers(mayBe))
	return slices.DeleteFunc(all, func(input string) bool { return input == "" })
}

// left returns the inputs to ask for, each once: those never asked, and with all then the others, the oldest answer first.
func (b *batch) left(inputs []string, all bool) []string {
	var never, again []string
	seen := map[string]bool{"": true} // a row without an input
	for _, input := range inputs {
		a, known := b.known[input]
		_, asked := b.notes[input]
		switch {
		case seen[input], asked, b.answered(a):
		case !known:
			never = append(never, input)
		case all:
			again = append(again, input)
		}
		seen[input] = true
	}
	slices.SortStableFunc(again, func(x, y string) int { return b.known[x].AsOf.Compare(b.known[y].AsOf) })
	return append(never, again...)
}

// observe counts charged queries; a refusal for the quota is not charged. During an outage it shows the reason.
func (b *batch) observe(_ context.Context, e fiscope.Event) {
	refused := e.StatusCode == http.StatusTooManyRequests
	switch {
	case e.Attempt == 0:
		return
	case refused:
		b.show("el servicio pide ir más despacio")
	case errors.Is(e.Err, fiscope.ErrUnavailable):
		b.show("el servicio no responde: reintento")
	}
	if !refused && e.Delivery != fiscope.DeliveryNotSent {
		b.spent.Add(1)
	}
}

// show shows the progress.
func (b *batch) show(what string) {
	done := b.done.Load()
	b.progress.Report(terminal.Step{What: what, Done: float64(done) / float64(b.of), Rows: done})
}

// ask takes the lines of a batch, which stores its own answers.
func ask[E, R any](ctx context.Context, b *batch, inputs []string, key func(E) string, lines iter.Seq2[fiscope.LineaLote[E, R], error]) {
	for _, input := range inputs {
		b.notes[input] = ""
	}
	if len(inputs) == 0 || b.stopped != nil || b.simulates {
		return
	}
	b.of += int64(len(inputs))
	b.show("consultando")
	for line, err := range lines {
		if stopped := (*fiscope.LoteDetenidoError)(nil); errors.As(err, &stopped) {
			b.stopped = stopped
			break
		}
		if err != nil && !errors.Is(err, fiscope.ErrNotFound) {
			b.notes[key(line.Entrada)] = explain(err)
		}
		b.done.Add(1)
		b.show("consultando")
	}
	b.stopped = cmp.Or(b.stopped, ctx.Err(), b.load())
}

// lookUp looks up taxpayers.
func (b *batch) lookUp(ctx context.Context, rucs []string) {
	lines := b.client.Contribuyentes.ConsultarLote(ctx, slices.Values(rucs), fiscope.LotePolicy{Progress: b.kept})
	ask(ctx, b, rucs, func(ruc string) string { return ruc }, lines)
}
