package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
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
		&cli.BoolFlag{Name: "de-nuevo", Usage: "consulta, y paga, también lo que ya tiene respuesta", Local: true},
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
}

// batch is a run over a file, common to lote and compras.
type batch struct {
	*session
	*table
	input, output string
	mode          os.FileMode // of the input
	kept          *fiscope.ResultsFile
	notes         map[string]string // why an input has no final answer
	saved         int64             // queries that rows did not need
	progress      *terminal.Progress
	of            int64
	stopped       error

	done, spent atomic.Int64 // lines, and queries
	waits       sync.Once    // prints once that it waits for queries in flight
}

// openBatch reads the input first. heads finds its columns.
func openBatch(cmd *cli.Command, input string, heads func(*table) error) (*batch, error) {
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
	t, err := readTable(input, cmd.String("sep"))
	if err == nil {
		if err = heads(t); err == nil && len(t.rows) == 0 {
			err = errors.New("no tiene filas")
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", input, err)
		}
	}
	if err != nil {
		return nil, terminal.Wrong(err, cmd.Name)
	}
	b := &batch{table: t, input: input, mode: info.Mode().Perm(), notes: map[string]string{}, output: cmd.String("salida")}
	b.session, err = connect(cmd, fiscope.WithQuotaReserve(cmd.Int("reserva")), fiscope.WithHook(b.hook), fiscope.WithObserver(b.observe))
	if err != nil {
		return nil, err
	}
	if b.output == "" {
		b.output = input + "." + cmd.Name + ".csv"
		if b.service == mockService { // its answers must not mix with real ones
			b.output = input + "." + cmd.Name + "-mock.csv"
		}
	}
	if err = b.openKept(cmd.Bool("de-nuevo")); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// keptFile returns the name of the answers' file, next to the output.
func (b *batch) keptFile() string { return b.output + ".jsonl" }

// openKept opens the file with the answers of earlier runs, or creates it.
func (b *batch) openKept(anew bool) error {
	name := b.keptFile()
	if filepath.Clean(b.output) == filepath.Clean(b.input) {
		return errors.New("la -salida no puede ser la entrada")
	}
	if anew { // paid answers are renamed, not deleted
		if err := os.Rename(name, b.output+".anterior.jsonl"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	info, err := os.Stat(name)
	begins := err != nil || info.Size() == 0
	if _, err := os.Stat(b.output); err == nil && begins && !anew {
		return fmt.Errorf("%s ya existe y no es de este programa: bórrelo o indique otra -salida", b.output)
	}
	if b.kept, err = fiscope.NewResultsFile(name); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("la carpeta %s no existe", filepath.Dir(name))
	} else if err != nil {
		return fmt.Errorf("%s no se puede usar: otro proceso lo usa, o es de otro programa", name)
	}
	ctx := context.Background()
	if known, _ := b.kept.Done(ctx, "servicio "+b.service); begins || known {
		return b.kept.Record(ctx, "servicio "+b.service)
	}
	_ = b.kept.Close() // nothing was written
	return fmt.Errorf("las respuestas de %s no son de %s: indique otra -salida, o -de-nuevo", name, b.service)
}

// pending returns the inputs without an answer, each once. Rows without an input have "".
func (b *batch) pending(inputs []string) []string {
	var left []string
	seen := map[string]bool{}
	for _, input := range inputs {
		switch known, _ := b.kept.Done(context.Background(), input); {
		case input == "":
		case known || seen[input]:
			b.saved++
		default:
			left = append(left, input)
		}
		seen[input] = true
	}
	return left
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

// ask runs a batch, which stores its own answers. begin starts one over the inputs that are left.
func ask[E, R any](ctx context.Context, b *batch, left []E, key func(E) string, begin func(context.Context, iter.Seq[E], fiscope.LotePolicy) iter.Seq2[fiscope.LineaLote[E, R], error]) error {
	if len(left) == 0 || b.stopped != nil {
		return nil
	}
	b.of += int64(len(left))
	b.show("consultando")
	for line, err := range begin(ctx, slices.Values(left), fiscope.LotePolicy{Progress: b.kept}) {
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

// answers reads the results file. The last line of an input holds.
func (b *batch) answers() (map[string]answer, error) {
	f, err := os.Open(b.keptFile())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, date := map[string]answer{}, ""
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		a := answer{date: date}
		if json.Unmarshal(line, &a) != nil {
			continue // damaged: ask again
		}
		if _, err := fmt.Sscanf(a.Input, "fecha %s", &date); err != nil {
			found[a.Input] = a
		}
	}
}

// begin shows how many queries the batch needs, and the progress.
func (b *batch) begin(left, bad int) func() {
	b.note("%s: %s; por consultar: %s; con error: %s.", b.input, terminal.Rows(len(b.rows)), terminal.Thousands(left), terminal.Thousands(bad))
	b.progress = terminal.ShowProgress("fiscope", b.err)
	return b.progress.Stop
}

// lookUp looks up taxpayers.
func (b *batch) lookUp(ctx context.Context, rucs []string) error {
	begin := func(ctx context.Context, rucs iter.Seq[string], p fiscope.LotePolicy) iter.Seq2[fiscope.LineaLote[string, fiscope.Contribuyente], error] {
		return b.client.Contribuyentes.ConsultarLote(ctx, rucs, p)
	}
	return ask(ctx, b, rucs, func(ruc string) string { return ruc }, begin)
}
