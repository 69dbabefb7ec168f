package main

import (
	"encoding/csv"
	"errors"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// registro is a record of the CSV with the line on which it begins.
type registro struct {
	linea  int
	celdas []string
	falla  string // why it has no cells
}

// lineasMaximo is the most lines of a record: a cell in quotes may hold line breaks.
const lineasMaximo = 20

// leerRegistros reads line by line rather than with one csv.Reader: there, a quote that is never closed
// swallows the rest of the file. Here it spoils its own line and no other.
func leerRegistros(texto string) (iter.Seq[registro], error) {
	lineas := strings.Split(texto, "\n")
	for i, linea := range lineas {
		lineas[i] = strings.TrimRight(linea, "\r")
	}
	primera := max(0, slices.IndexFunc(lineas, func(linea string) bool { return strings.TrimSpace(linea) != "" }))
	if strings.Contains(lineas[primera], "\r") {
		return nil, errors.New("las líneas terminan en CR, como en un Mac antiguo: guárdelo como «CSV UTF-8»")
	}
	separador, declarado := separadorDe(lineas[primera])
	return func(yield func(registro) bool) {
		for n := 0; n < len(lineas); {
			r, largo := registro{linea: n + 1}, 1
			if strings.TrimSpace(lineas[n]) != "" && (n > primera || !declarado) {
				r.celdas, largo, r.falla = primerRegistro(lineas[n:], separador)
				if !yield(r) {
					return
				}
			}
			n += largo
		}
	}, nil
}

// primerRegistro returns the cells of the first record, and how many lines it has.
func primerRegistro(lineas []string, separador rune) (celdas []string, largo int, falla string) {
	var primero error
	for n := 1; n <= min(len(lineas), lineasMaximo); n++ {
		if strings.Contains(lineas[n-1], "\r") {
			return nil, 1, "tiene un retorno de carro dentro de la línea"
		}
		texto := strings.Join(lineas[:n], "\n")
		lector := csv.NewReader(strings.NewReader(texto))
		lector.Comma = separador
		celdas, err := lector.Read()
		if err == nil && !tragoLineas(celdas, separador) {
			return celdas, n, ""
		}
		if n == 1 {
			primero = err
		}
		if err == nil || strings.Count(texto, `"`)%2 == 0 {
			break
		}
	}
	if errors.Is(primero, csv.ErrQuote) && strings.Count(lineas[0], `"`)%2 == 1 {
		return nil, 1, "comillas que no se cierran"
	}
	return nil, 1, "comillas fuera de lugar: escriba \"\" dentro de un texto entre comillas"
}

// tragoLineas reports whether a cell holds what is a line of its own, with two separators or more: the quote
// before it was never closed, and the one that seems to close it is of another line.
func tragoLineas(celdas []string, separador rune) bool {
	return slices.ContainsFunc(celdas, func(celda string) bool {
		return strings.Contains(celda, "\n") && slices.ContainsFunc(strings.Split(celda, "\n"), func(linea string) bool {
			return strings.Count(linea, string(separador)) >= 2
		})
	})
}

// Excel reads a first line like "sep=;" and does not show it.
var lineaSep = regexp.MustCompile(`^(?i)"?sep=([;,\t|])"?[;,\t|]*$`)

// separadorDe is the one that the first line declares, or has most of.
func separadorDe(primera string) (separador rune, declarado bool) {
	if m := lineaSep.FindStringSubmatch(primera); m != nil {
		return rune(m[1][0]), true
	}
	separador = ';'
	for _, r := range ",\t|" {
		if strings.Count(primera, string(r)) > strings.Count(primera, string(separador)) {
			separador = r
		}
	}
	return separador, false
}
