package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/padron"
)

// lookForNew is how often the file of -padron is looked at.
const lookForNew = 500 * time.Millisecond

// registro answers from the index of -padron. An index that replaces it is read through and taken up while it serves;
// what is no index, or was changed, leaves the one that is open in its place. The first one answers at once, and is read
// through meanwhile. Where the open file itself was written over, nothing is answered of it.
type registro struct {
	name    string
	log     *slog.Logger
	index   atomic.Pointer[openIndex]
	seen    fs.FileInfo // the file, as the last look found it; nil for none
	changed error       // what Verify said of it, when two looks had found it the same
	told    string      // why it is not taken up, as the log has it
	end     context.CancelFunc
	gone    sync.WaitGroup
}

// openIndex is an index with what its file was when it was opened.
type openIndex struct {
	*padron.Index
	file   fs.FileInfo
	failed atomic.Bool // a call has
	harmed atomic.Bool // its file is no index any more: what it still answers may be wrong
}

// openRegistro opens an index, and looks for its successors until it is closed.
func openRegistro(name string, log *slog.Logger) (*registro, error) {
	index, err := openAt(name)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	r := &registro{name: name, log: log, end: end}
	r.index.Store(index)
	r.gone.Go(func() { r.follow(ctx) })
	return r, nil
}

func openAt(name string) (*openIndex, error) {
	file, err := os.Stat(name) // before it is opened: what comes between is seen to be new
	if err != nil {
		return nil, err
	}
	index, err := padron.Open(name)
	if err != nil {
		return nil, err
	}
	return &openIndex{Index: index, file: file}, nil
}

// follow looks whether the open index is as it was made, and then takes up each one that comes in its place.
func (r *registro) follow(ctx context.Context) {
	if first := r.index.Load(); first.Verify(ctx) != nil {
		first.harmed.Store(true) // a look says why
	}
	ticker := time.NewTicker(lookForNew)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.look(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// look takes up the file if it is another one than that which is open, or was written over, or fails.
func (r *registro) look(ctx context.Context) {
	old := r.index.Load()
	file, err := os.Stat(r.name)
	if err == nil && same(file, old.file) && !old.failed.Load() && !old.harmed.Load() {
		r.told = ""
		return
	}
	if err == nil && os.SameFile(file, old.file) && !same(file, old.file) {
		old.harmed.Store(true)
	}
	settled := err != nil && r.seen == nil || err == nil && r.seen != nil && same(file, r.seen)
	r.seen = file
	next, err := r.openNext(ctx, settled)
	if err != nil {
		if ctx.Err() != nil {
			return
		}
		if file != nil && os.SameFile(file, old.file) {
			old.harmed.Store(true)
		}
		if text := err.Error(); settled && text != r.told { // while it is written, it is soon another thing
			r.told = text
			r.log.Warn("the file at -padron is no index that can be taken up", "error", text)
		}
		return
	}
	r.told = ""
	r.index.Store(next)
	_ = old.Close() // after the calls under way; what is closed was only read
	info := next.Info()
	r.log.Info("another index at -padron is taken up", "taxpayers", info.Contribuyentes, "date", day(info.Fecha))
}

// openNext opens the file and reads it through, which takes time: what is settled is read once.
func (r *registro) openNext(ctx context.Context, settled bool) (*openIndex, error) {
	if settled && r.changed != nil {
		return nil, r.changed
	}
	r.changed = nil
	next, err := openAt(r.name)
	if err != nil {
		return nil, err
	}
	if err := next.Verify(ctx); err != nil {
		if settled {
			r.changed = err
		}
		_ = next.Close() // it was only read
		return nil, err
	}
	return next, nil
}

// same reports whether a file is the other one, and as it was.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// close ends it, when it is asked no more. A nil registro has nothing to end.
func (r *registro) close() error {
	if r == nil {
		return nil
	}
	r.end()
	r.gone.Wait()
	return r.index.Load().Close()
}

// PorRUC implements [mockserver.Registro].
func (r *registro) PorRUC(ctx context.Context, ruc string) (found mockserver.Contribuyente, ok bool, err error) {
	err = r.ask(ctx, func(index *padron.Index) error {
		c, _, err := index.Contribuyente(ctx, ruc)
		if errors.Is(err, fiscope.ErrNotFound) {
			return nil
		}
		if err == nil {
			found, ok = contribuyente(c), true
		}
		return err
	})
	return found, ok, err
}

// Buscar implements [mockserver.Registro].
func (r *registro) Buscar(ctx context.Context, texto string, limite int) (found []mockserver.Contribuyente, err error) {
	err = r.ask(ctx, func(index *padron.Index) error {
		cs, err := index.Buscar(ctx, texto, limite)
		found = make([]mockserver.Contribuyente, len(cs))
		for i := range cs {
			found[i] = contribuyente(&cs[i])
		}
		return err
	})
	return found, err
}

// ask asks the index, or the next one where it was closed meanwhile.
func (r *registro) ask(ctx context.Context, do func(*padron.Index) error) error {
	for {
		index := r.index.Load()
		err := errHarmed
		if !index.harmed.Load() {
			err = do(index.Index)
		}
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case errors.Is(err, os.ErrClosed) && index != r.index.Load():
			continue
		}
		if !index.failed.Swap(true) {
			r.log.Error("the index at -padron cannot be read", "error", err)
		}
		return unreadable{err, r.name}
	}
}

var errHarmed = errors.New("the file of the open index was written over")

// unreadable is why an index does not answer. What the mock answers then tells it in Spanish.
type unreadable struct {
	error
	name string
}

func (u unreadable) Unwrap() error { return u.error }

// Spanish is the reason in Spanish.
func (u unreadable) Spanish() string {
	return fmt.Sprintf("el índice %s de -padron fue sobrescrito, cortado o dañado: créelo de nuevo con fiscope-mock padron import", filepath.Base(u.name))
}

// contribuyente is a taxpayer of the registry as the mock has it. The registry has no tipo, actividad or fechas. Its
// estado and condición are "-" where it has none: the mock would take a blank one for ACTIVO and HABIDO.
func contribuyente(c *fiscope.Contribuyente) mockserver.Contribuyente {
	return mockserver.Contribuyente{
		RUC:          c.RUC,
		RazonSocial:  c.RazonSocial,
		Estado:       cmp.Or(string(c.Estado), "-"),
		Condicion:    cmp.Or(string(c.Condicion), "-"),
		Direccion:    c.Direccion,
		Ubigeo:       c.Ubigeo,
		Departamento: c.Departamento,
		Provincia:    c.Provincia,
		Distrito:     c.Distrito,
	}
}
