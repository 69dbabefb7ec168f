package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progreso shows how far the batch is: a bar on a terminal, and elsewhere (a log, cron) a plain line each
// tenth of the way or each minute.
type progreso struct {
	mu           sync.Mutex
	out          io.Writer
	barra        *progressbar.ProgressBar // nil where out is not a terminal
	hechos, todo int
	decima       int // of the last line; 0 before the first
	ultima       time.Time
}

func nuevoProgreso(out io.Writer, todo int) *progreso {
	f, ok := out.(*os.File)
	return progresoEn(out, todo, ok && term.IsTerminal(int(f.Fd())))
}

func progresoEn(out io.Writer, todo int, terminal bool) *progreso {
	p := &progreso{out: out, todo: todo, ultima: time.Now()}
	if terminal && todo > 0 {
		p.barra = progressbar.NewOptions(todo,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription("Consultando"),
			progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(20), // with the rest it fits into 80 columns up to a million RUCs
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), // what follows says it better
		)
	}
	return p
}

// sumar counts one more.
func (p *progreso) sumar() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hechos++
	if p.barra != nil {
		_ = p.barra.Add(1) // a bar that cannot be drawn stops nothing
		return
	}
	decima := p.hechos * 10 / p.todo
	if p.todo < 20 && p.hechos < p.todo || decima == p.decima && time.Since(p.ultima) < time.Minute {
		return
	}
	p.decima, p.ultima = decima, time.Now()
	fmt.Fprintf(p.out, "%s de %s (%d %%)\n", miles(p.hechos), miles(p.todo), p.hechos*100/p.todo)
}

// avisar prints a line of its own. It may be called while others count.
func (p *progreso) avisar(texto string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.barra != nil {
		_ = p.barra.Clear()
	}
	fmt.Fprintln(p.out, texto)
}

// terminar clears the bar, for what is said next.
func (p *progreso) terminar() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.barra != nil {
		_ = p.barra.Clear()
	} else if p.decima > 0 {
		fmt.Fprintln(p.out)
	}
}
