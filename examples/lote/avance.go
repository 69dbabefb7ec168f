package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fiscope/fiscope"
)

// avance is what was answered so far: a file to which each answer is appended as one line of JSON.
//
// It is keyed by RUC and not by row, so the input may be corrected, sorted and extended between two runs.
// Each answer is one write, which outlives the program; it is forced to the disk once a second and at the
// end, so a power cut costs a second of answers. A line that was cut is cut off, and asked again.
//
// It is the progress of the batch, too: the library's file says which RUCs are done, and keeps another process out.
type avance struct {
	*fiscope.ProgressFile

	nuevo    bool // it had no answers when it was opened
	archivo  *os.File
	fin      int64
	donde    map[string]tramo // where in the file an answer is
	vencidos map[string]bool  // RUCs with an answer that is too old; they may have another
	firme    time.Time        // of the last sync
	desde    time.Time        // the oldest answer that is used
}

type tramo struct{ inicio, largo int64 }

// respuesta is the service's word on a RUC. Failures are not kept: the next run asks again.
type respuesta struct {
	RUC           string                 `json:"ruc"`
	Consultado    time.Time              `json:"consultado"`
	Contribuyente *fiscope.Contribuyente `json:"contribuyente"` // null: no taxpayer has that RUC
}

// cabecera is the first line. It binds the answers to who gave them.
type cabecera struct {
	Servicio string `json:"servicio"`
}

// leer finds the answers in the file and makes it end with a whole line.
func (a *avance) leer(servicio string, vigencia time.Duration) error {
	r := bufio.NewReader(a.archivo)
	for {
		linea, err := r.ReadBytes('\n')
		if err == io.EOF {
			break // without a line break: the write was cut
		}
		if err != nil {
			return err
		}
		inicio := a.fin
		a.fin += int64(len(linea))
		if inicio == 0 {
			var c cabecera
			if err := json.Unmarshal(linea, &c); err != nil {
				return errors.New("no es un archivo de avance")
			}
			if c.Servicio != servicio {
				return fmt.Errorf("sus respuestas son de %s y no de %s: indique otra -salida, o -de-nuevo", c.Servicio, servicio)
			}
			continue
		}
		var resp respuesta
		if json.Unmarshal(linea, &resp) != nil || resp.RUC == "" {
			continue // damaged: asked again
		}
		if time.Since(resp.Consultado) > vigencia {
			a.vencidos[resp.RUC] = true
			continue
		}
		a.donde[resp.RUC] = tramo{inicio, int64(len(linea))}
		if a.desde.IsZero() || resp.Consultado.Before(a.desde) {
			a.desde = resp.Consultado
		}
	}
	if err := a.archivo.Truncate(a.fin); err != nil {
		return err
	}
	if a.fin > 0 {
		return nil
	}
	return errors.Join(a.agregar(cabecera{servicio}), a.archivo.Sync(), sincronizarCarpeta(filepath.Dir(a.archivo.Name())))
}

// anotar takes note of the answers that were kept and not recorded before an earlier run was killed.
func (a *avance) anotar() error {
	for ruc := range a.donde {
		if err := a.Record(context.Background(), ruc); err != nil {
			return err
		}
	}
	return nil
}

// Done reports whether a RUC is recorded and its answer is here: a power cut can take one and leave the other.
func (a *avance) Done(ctx context.Context, ruc string) (bool, error) {
	if !a.tiene(ruc) {
		return false, nil
	}
	return a.ProgressFile.Done(ctx, ruc)
}

// tiene reports whether a RUC is answered.
func (a *avance) tiene(ruc string) bool { _, ok := a.donde[ruc]; return ok }

// guardar keeps an answer.
func (a *avance) guardar(r respuesta) error {
	inicio := a.fin
	if err := a.agregar(r); err != nil {
		return err
	}
	a.donde[r.RUC] = tramo{inicio, a.fin - inicio}
	if time.Since(a.firme) < time.Second {
		return nil
	}
	a.firme = time.Now()
	return a.archivo.Sync()
}

func (a *avance) agregar(v any) error {
	var linea bytes.Buffer
	if err := json.NewEncoder(&linea).Encode(v); err != nil {
		return err
	}
	n, err := a.archivo.WriteAt(linea.Bytes(), a.fin)
	if err != nil {
		return err // what was written of it is written over, or cut off by the next run
	}
	a.fin += int64(n)
	return nil
}

// de returns the answer for a RUC, and nil where there is none.
func (a *avance) de(ruc string) (*respuesta, error) {
	t, ok := a.donde[ruc]
	if !ok {
		return nil, nil
	}
	linea := make([]byte, t.largo)
	if _, err := a.archivo.ReadAt(linea, t.inicio); err != nil {
		return nil, err
	}
	var r respuesta
	return &r, json.Unmarshal(linea, &r)
}

func (a *avance) cerrar() {
	if a.archivo != nil {
		_ = a.archivo.Sync() // the last second; each error before was reported by guardar
		_ = a.archivo.Close()
	}
	_ = a.Close() // likewise
}
