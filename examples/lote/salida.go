package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// publicar writes the output: every row of the input, in its order, the bad and the pending ones too.
// It is written aside and put in place at once, so a reader sees the old one or the new one, and never
// half of one. Where it cannot be put in place (on Windows, while a spreadsheet has it open) the old one
// stays and the answers are safe.
//
// It is UTF-8 with a byte order mark, by which spreadsheets know it, and has the input's separator.
func publicar(ruta string, e *entrada, ancho int, a *avance, sinRespuesta map[string]string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(ruta), ".lote-*.csv")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it may be closed already, and goes anyway
			err = errors.Join(fmt.Errorf("no se pudo escribir %s: %w", ruta, err), os.Remove(f.Name()))
		}
	}()
	b := bufio.NewWriter(f)
	if err := escribir(b, e, ancho, a, sinRespuesta); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	// As readable as the input: CreateTemp's files are its owner's alone.
	if info, err := os.Stat(e.ruta); err == nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil && runtime.GOOS != "windows" {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), ruta); err != nil {
		return err
	}
	return sincronizarCarpeta(filepath.Dir(ruta))
}

func escribir(out io.Writer, e *entrada, ancho int, a *avance, sinRespuesta map[string]string) error {
	if _, err := io.WriteString(out, "\ufeff"); err != nil {
		return err
	}
	w := csv.NewWriter(out)
	w.Comma = e.separador
	propios := make([]string, ancho)
	for i := range propios {
		propios[i] = fmt.Sprintf("columna_%d", i+1)
		if i < len(e.encabezado) {
			propios[i] = e.encabezado[i]
		}
	}
	if err := w.Write(append(propios, titulos...)); err != nil {
		return err
	}
	for f, err := range e.filas() {
		if err != nil {
			return err
		}
		nuevas, err := columnas(f, a, sinRespuesta)
		if err != nil {
			return err
		}
		fila := make([]string, ancho, ancho+len(titulos))
		copy(fila, f.celdas) // the input's own cells are copied as they are
		if err := w.Write(append(fila, nuevas...)); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// sincronizarCarpeta makes a new name outlive a power cut. Windows has no such call.
func sincronizarCarpeta(ruta string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(ruta)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
