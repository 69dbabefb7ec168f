package main

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/mockserver"
)

// recordEvery is how often -record writes its file.
const recordEvery = time.Minute

// recording has the real service's answers for the file of -record, and the file's earlier data.
type recording struct {
	file string

	mu             sync.Mutex
	before         mockserver.Data
	contribuyentes map[string]mockserver.Contribuyente
	tiposCambio    map[string]mockserver.TipoCambio
	unwritten      bool
}

// readRecording returns the recording of a file, which may be missing or empty.
func readRecording(file string) (*recording, error) {
	r := &recording{file: file, contribuyentes: map[string]mockserver.Contribuyente{}, tiposCambio: map[string]mockserver.TipoCambio{}}
	text, err := readPlain(file)
	if err == nil && len(text) > 0 {
		r.before, err = mockserver.LoadData(file)
	}
	if err != nil {
		return nil, err
	}
	r.add(r.before)
	r.unwritten = false
	tried, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // check now that the folder is writable
	if err == nil {
		_ = tried.Close()
		err = os.Remove(tried.Name())
	}
	return r, err
}

// add adds an answer. A search result replaces nothing.
func (r *recording) add(d mockserver.Data) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range d.Contribuyentes {
		if _, known := r.contribuyentes[c.RUC]; !known || c != c.Partial() {
			r.contribuyentes[c.RUC], r.unwritten = c, true
		}
	}
	for _, t := range d.TiposCambio {
		r.tiposCambio[t.Fecha], r.unwritten = t, true
	}
}

// data returns the file's data and the answers since.
func (r *recording) data() mockserver.Data {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.before
	d.Contribuyentes = slices.SortedFunc(maps.Values(r.contribuyentes), func(a, b mockserver.Contribuyente) int { return cmp.Compare(a.RUC, b.RUC) })
	d.TiposCambio = slices.SortedFunc(maps.Values(r.tiposCambio), func(a, b mockserver.TipoCambio) int { return cmp.Compare(a.Fecha, b.Fecha) })
	return d
}

// save writes the answers since the last save.
func (r *recording) save() error {
	if r == nil {
		return nil
	}
	d := r.data()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.unwritten {
		return nil
	}
	err := writeWhole(r.file, d.Write)
	r.unwritten = err != nil
	return err
}

// follow saves every minute, until ctx ends.
func (r *recording) follow(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(recordEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := r.save(); err != nil {
				log.Warn("no se pudo escribir -record", "error", terminal.InSpanish(err))
			}
		}
	}
}
