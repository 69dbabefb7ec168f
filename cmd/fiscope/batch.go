package main

import (
	"bytes"
	"context"
	"encoding/json"
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
mismo comando sigue donde quedó, y solo pregunta lo que falta.`

func batchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "salida", DefaultText: "ARCHIVO", Usage: "por defecto, ENTRADA con .lote.csv o .compras.csv al final", Local: true},
		&cli.StringFlag{Name: "sep", DefaultText: "SEPARADOR", Usage: "; , | o tab; por defecto, el de las primeras líneas", Local: true},
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
	kept          *fiscope.ResultsFile
	known         map[string]answer // what this run and earlier ones were answered
	quota         string            // the queries left after the last run, and when; "" if unknown
	notes         map[string]string // why an input has no final answer
	queries       map[string]int    // how many it may need, by what is asked
	bad           int               // rows that cannot be asked for
	saved         int64             // queries that rows did not need
	progress      *terminal.Progress
	of            int64
	stopped       error

	done, spent atomic.Int64 // lines, and queries
	waits       sync.Once    // prints once that it waits for queries in flight
}

// openBatch reads the input first. find finds its columns.
func openBatch(cmd *cli.Command, input string, find func(*table) (columns, error)) (_ *batch, err error) {
	if cmd.Int("reserva") < 0 {
		return nil, terminal.Wrong(errors.New("-reserva va desde 0"), cmd.Name)
	}
	info, err := os.Stat(input)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, terminal.Wrong(fmt.Errorf("%s es una carpeta", input), cmd.Name)
	}
	b := &batch{input: input, mode: info.Mode().Perm(), simulates: cmd.Bool("simular"), notes: map[string]string{}, output: cmd.String("salida")}
	if b.table, err = readTable(input, cmd.String("sep")); err != nil {
		return nil, terminal.Wrong(err, cmd.Name)
	}
	b.session, err = connect(cmd, fiscope.WithQuotaReserve(cmd.Int("reserva")), fiscope.WithHook(b.hook), fiscope.WithObserver(b.observe))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.columns, err = find(b.table); err == nil && len(b.rows) == 0 {
		err = errors.New("no tiene filas")
	}
	if err != nil {
		return nil, terminal.Wrong(fmt.Errorf("%s: %w", input, err), cmd.Name)
	}
	if b.output == "" {
		b.output = input + "." + cmd.Name + ".csv"
		if b.service == mockService { // its answers must not mix with real ones
			b.output = input + "." + cmd.Name + "-mock.csv"
		}
	}
	return b, b.openKept()
}

// keptFile returns the name of the answers' file, next to the output.
func (b *batch) keptFile() string { return b.output + ".jsonl" }

// openKept opens the file with the answers of earlier runs, or creates it.
func (b *batch) openKept() error {
	name := b.keptFile()
	if filepath.Clean(b.output) == filepath.Clean(b.input) {
		return errors.New("la -salida no puede ser la entrada")
	}
	info, err := os.Stat(name)
	begins := err != nil || info.Size() == 0
	if _, err := os.Stat(b.output); err == nil && begins {
		return fmt.Errorf("%s ya existe y no es de este programa: bórrelo o indique otra -salida", b.output)
	}
	if !b.simulates {
		if b.kept, err = fiscope.NewResultsFile(name); err != nil {
			return notKept(name, err)
		}
	}
	err = b.load()
	if _, known := b.known["servicio "+b.service]; err == nil && !begins && !known {
		err = fmt.Errorf("las respuestas de %s no son de %s: indique otra -salida", name, b.service)
	}
	switch {
	case b.simulates:
		return err
	case err != nil:
		return errors.Join(err, b.kept.Close()) // nothing was written
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

// pending returns the inputs without an answer, each once, and how many others need no query. Rows without an input have "".
func (b *batch) pending(inputs []string) (left []string, saved int64) {
	seen := map[string]bool{}
	for _, input := range inputs {
		switch {
		case input == "":
		case b.known[input].answered() || seen[input]:
			saved++
		default:
			left = append(left, input)
		}
		seen[input] = true
	}
	return left, saved
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

// ask takes the lines of a batch of n queries, which stores its own answers.
func ask[E, R any](ctx context.Context, b *batch, n int, key func(E) string, lines iter.Seq2[fiscope.LineaLote[E, R], error]) error {
	if n == 0 || b.stopped != nil || b.simulates {
		return nil
	}
	b.of += int64(n)
	b.show("consultando")
	for line, err := range lines {
		if stopped := (*fiscope.LoteDetenidoError)(nil); errors.As(err, &stopped) {
			b.stopped = stopped
			break
		}
		// The answers after this line are of this day.
		if err := b.kept.Record(ctx, "fecha "+b.client.Hoy().String()); err != nil {
			return err
		}
		if err != nil && !errors.Is(err, fiscope.ErrNotFound) {
			b.notes[key(line.Entrada)] = explain(err)
		} else if line.Response.Source == fiscope.SourceRespaldo {
			b.notes[key(line.Entrada)] = fmt.Sprintf("el servicio no respondió; es del padrón del %s", fiscope.FechaEnLima(line.Response.AsOf))
		}
		b.done.Add(1)
		b.show("consultando")
	}
	if b.stopped == nil {
		b.stopped = ctx.Err()
	}
	return nil
}

// answer is a line of the results file.
type answer struct {
	Input   string
	Answer  json.RawMessage
	Error   string
	Pending bool
	date    string
}

// read decodes the answer in the contract's form; false if there is none.
func (a answer) read(into any) bool {
	return len(a.Answer) > 0 && json.Unmarshal(a.Answer, into) == nil
}

// answered reports whether the input needs no query.
func (a answer) answered() bool { return a.Input != "" && !a.Pending }

// load reads what was answered from the results file. The last line of an input holds.
func (b *batch) load() error {
	text, err := os.ReadFile(b.keptFile())
	if errors.Is(err, fs.ErrNotExist) { // -simular makes none
		err = nil
	}
	b.known = map[string]answer{}
	date := ""
	for line := range bytes.Lines(text) {
		a := answer{date: date}
		if json.Unmarshal(line, &a) != nil {
			continue // damaged: ask again
		}
		switch what, text, _ := strings.Cut(a.Input, " "); what {
		case "fecha":
			date = text
		case "cuota":
			b.quota = text
		default:
			b.known[a.Input] = a
		}
	}
	return err
}

// begin shows what was understood and how many queries the batch needs at most, and the progress.
func (b *batch) begin() func() {
	if b.simulates && !b.asJSON {
		b.err = b.out
	}
	left := 0
	for _, n := range b.queries {
		left += n
	}
	b.note("%s", b.understood(b.columns))
	b.note("%s: %s; por consultar: %s; con error: %s.", b.input, terminal.Rows(len(b.rows)), terminal.Thousands(left), terminal.Thousands(b.bad))
	b.progress = terminal.ShowProgress("fiscope", b.err)
	return b.progress.Stop
}

// lookUp looks up taxpayers.
func (b *batch) lookUp(ctx context.Context, rucs []string) error {
	lines := b.client.Contribuyentes.ConsultarLote(ctx, slices.Values(rucs), fiscope.LotePolicy{Progress: b.kept})
	return ask(ctx, b, len(rucs), func(ruc string) string { return ruc }, lines)
}
