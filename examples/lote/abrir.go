package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fiscope/fiscope"
)

// abrirAvance opens the answers of a folder, or begins them, and locks them. Those that are older than vigencia
// are as if they were not there: a taxpayer is active and habido on the day of the answer.
func abrirAvance(carpeta, servicio string, deNuevo bool, vigencia time.Duration) (_ *avance, err error) {
	if err := os.MkdirAll(carpeta, 0o700); err != nil {
		return nil, err
	}
	hechos, err := fiscope.NewProgressFile(filepath.Join(carpeta, "hechos"))
	if err != nil {
		return nil, fmt.Errorf("no se puede usar %s; si otro proceso trabaja sobre ella, dos pagarían lo mismo: %w", carpeta, err)
	}
	a := &avance{ProgressFile: hechos, donde: map[string]tramo{}, vencidos: map[string]bool{}}
	defer func() {
		if err != nil {
			a.cerrar()
		}
	}()
	ruta := filepath.Join(carpeta, "respuestas.jsonl")
	if deNuevo {
		// Paid answers are put aside rather than erased.
		if err := os.Rename(ruta, filepath.Join(carpeta, "respuestas.anterior.jsonl")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	_, err = os.Stat(ruta)
	a.nuevo = errors.Is(err, fs.ErrNotExist) && !deNuevo
	if a.archivo, err = os.OpenFile(ruta, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if err := a.leer(servicio, vigencia); err != nil {
		return nil, fmt.Errorf("%s: %w", ruta, err)
	}
	return a, a.anotar()
}
