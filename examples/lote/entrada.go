package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// entrada is the input and how it is read. It is read anew for each pass, so that a file of any length
// takes no memory.
type entrada struct {
	ruta       string
	texto      codificacion
	separador  rune
	encabezado []string // nil where there is none
	columna    int      // of the RUC
}

// fila is a row of data.
type fila struct {
	registro
	ruc   string // what can be asked; "" where nothing can
	falla string // why not
}

// abrirEntrada finds out how a file is written: its encoding, its separator, its header, its RUCs.
func abrirEntrada(ruta, columna string) (*entrada, error) {
	texto, err := codificacionDe(ruta)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no existe el archivo %s", ruta)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("no hay permiso para leer %s", ruta)
	case err != nil:
		return nil, fmt.Errorf("no se puede leer %s: %w", ruta, err)
	}
	e := &entrada{ruta: ruta, texto: texto}
	primera, err := e.primeraLinea()
	if err != nil {
		return nil, err
	}
	e.separador = separadorDe(primera)
	var primeras []registro
	for r, err := range e.registros() {
		if err != nil {
			return nil, err
		}
		if primeras = append(primeras, r); len(primeras) == 100 {
			break
		}
	}
	var conEncabezado bool
	if e.columna, conEncabezado, err = ubicarRUC(primeras, columna); err != nil {
		return nil, fmt.Errorf("%s: %w", ruta, err)
	}
	if conEncabezado {
		e.encabezado = primeras[0].celdas
	}
	return e, nil
}

// filas yields the rows of data, the bad ones too.
func (e *entrada) filas() iter.Seq2[fila, error] {
	return func(yield func(fila, error) bool) {
		saltar := e.encabezado != nil
		for r, err := range e.registros() {
			if saltar && err == nil {
				saltar = false
				continue
			}
			f := fila{registro: r}
			if err == nil {
				f.ruc, f.falla = r.rucEn(e.columna)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// registros reads the file from its beginning.
func (e *entrada) registros() iter.Seq2[registro, error] {
	return func(yield func(registro, error) bool) {
		f, err := os.Open(e.ruta)
		if err != nil {
			yield(registro{}, err)
			return
		}
		defer f.Close()
		leerRegistros(e.texto.NewDecoder().Reader(f), e.separador)(yield)
	}
}

func (e *entrada) primeraLinea() (string, error) {
	f, err := os.Open(e.ruta)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lineas := bufio.NewScanner(e.texto.NewDecoder().Reader(f))
	lineas.Buffer(nil, lineaMaxima)
	for lineas.Scan() {
		if strings.TrimSpace(lineas.Text()) != "" {
			linea := strings.TrimRight(lineas.Text(), "\r")
			if strings.Contains(linea, "\r") {
				return "", fmt.Errorf("las líneas de %s terminan en CR, como en un Mac antiguo: guárdelo como «CSV UTF-8»", e.ruta)
			}
			return linea, nil
		}
	}
	if lineas.Err() != nil {
		return "", fmt.Errorf("%s: %w", e.ruta, lineas.Err())
	}
	return "", fmt.Errorf("%s está vacío", e.ruta)
}

// codificacion is how a file writes its letters.
type codificacion struct {
	encoding.Encoding
	nombre string
}

// codificacionDe looks at the whole file: what is not UTF-8 anywhere is Windows-1252, which is what
// spreadsheets in Peru write, and of which Latin-1 is a part. A few letters at its beginning would not
// do: the first Ñ may stand in the last row.
func codificacionDe(ruta string) (codificacion, error) {
	f, err := os.Open(ruta)
	if err != nil {
		return codificacion{}, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	if bom, _ := r.Peek(2); string(bom) == "\xff\xfe" || string(bom) == "\xfe\xff" {
		return codificacion{unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "UTF-16"}, nil
	}
	for {
		switch letra, largo, err := r.ReadRune(); {
		case errors.Is(err, io.EOF):
			return codificacion{unicode.UTF8BOM, "UTF-8"}, nil
		case err != nil:
			return codificacion{}, err
		case letra == utf8.RuneError && largo == 1:
			return codificacion{charmap.Windows1252, "Latin-1"}, nil
		}
	}
}
