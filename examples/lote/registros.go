package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// registro is a record of a CSV with the line on which it begins.
type registro struct {
	linea  int
	celdas []string // the line as it is where it is not CSV
	falla  string   // why it is not
}

// The longest line, and the most lines of a record whose quotes span several.
const (
	lineaMaxima  = 1 << 20
	lineasMaximo = 20
)

// leerRegistros reads line by line rather than with one csv.Reader: there, a quote that is never closed
// swallows the rest of the file. Here it spoils its own line and no other.
func leerRegistros(r io.Reader, separador rune) iter.Seq2[registro, error] {
	return func(yield func(registro, error) bool) {
		l := lector{lineas: bufio.NewScanner(r), separador: separador}
		l.lineas.Buffer(nil, lineaMaxima)
		for empezo := false; l.mirar(1); {
			if !empezo && lineaSep.MatchString(l.cola[0]) {
				l.usar(1)
				continue
			}
			reg := l.siguiente()
			if len(reg.celdas) == 0 {
				continue
			}
			if empezo = true; !yield(reg, nil) {
				return
			}
		}
		switch err := l.lineas.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(registro{}, fmt.Errorf("la línea %d pasa de un millón de letras: ¿es un CSV?", l.leidas+1))
		case err != nil:
			yield(registro{}, err)
		}
	}
}

type lector struct {
	lineas    *bufio.Scanner
	separador rune
	cola      []string // lines that were read and not used
	leidas    int      // lines that were used
}

// mirar reports whether there are n lines ahead.
func (l *lector) mirar(n int) bool {
	for len(l.cola) < n && l.lineas.Scan() {
		l.cola = append(l.cola, strings.TrimRight(l.lineas.Text(), "\r"))
	}
	return len(l.cola) >= n
}

func (l *lector) usar(n int) {
	l.cola = l.cola[n:]
	l.leidas += n
}

// siguiente takes a record: one line, or the few that a quoted cell with line breaks spans. An empty
// line is a record without cells.
func (l *lector) siguiente() registro {
	reg := registro{linea: l.leidas + 1}
	primera := l.cola[0]
	if strings.TrimSpace(primera) == "" {
		l.usar(1)
		return reg
	}
	if strings.Contains(primera, "\r") {
		reg.celdas, reg.falla = []string{primera}, "la línea tiene un retorno de carro"
		l.usar(1)
		return reg
	}
	texto := primera
	for n := 1; ; n++ {
		if celdas, err := partir(texto, l.separador, false); err == nil {
			if l.tragoFilas(celdas) {
				break
			}
			reg.celdas = celdas
			l.usar(n)
			return reg
		}
		if strings.Count(texto, `"`)%2 == 0 || n == lineasMaximo || !l.mirar(n+1) {
			break // all its quotes are closed: more lines do not help
		}
		texto += "\n" + l.cola[n]
	}
	l.usar(1)
	// A quote in the middle of a cell is a quote: TUBO DE 3/4" S.A.C. Where it opens a cell, it hid what
	// parts the others.
	if celdas, err := partir(primera, l.separador, true); err == nil && len(celdas) == 1+strings.Count(primera, string(l.separador)) {
		reg.celdas = celdas
		return reg
	}
	reg.celdas, reg.falla = []string{primera}, "la línea no es CSV: una comilla no se cierra"
	return reg
}

// tragoFilas reports whether a cell holds what is a row of its own, with a RUC: the quote before it was never
// closed, and the one that seems to close it is of another line.
func (l *lector) tragoFilas(celdas []string) bool {
	return slices.ContainsFunc(celdas, func(celda string) bool {
		return strings.Contains(celda, "\n") && slices.ContainsFunc(strings.FieldsFunc(celda, func(r rune) bool {
			return r == '\n' || r == l.separador
		}), func(parte string) bool { return onceDigitos.MatchString(sinFormato(parte)) })
	})
}

func partir(texto string, separador rune, comillasSueltas bool) ([]string, error) {
	r := csv.NewReader(strings.NewReader(texto))
	r.Comma, r.LazyQuotes = separador, comillasSueltas
	return r.Read()
}

// Excel reads a first line like "sep=;" and does not show it.
var lineaSep = regexp.MustCompile(`^(?i)"?sep=([;,\t|])"?[;,\t|]*$`)

// separadorDe returns the separator that a line declares, or has most of, outside of quotes.
func separadorDe(linea string) rune {
	if m := lineaSep.FindStringSubmatch(linea); m != nil {
		return rune(m[1][0])
	}
	veces := map[rune]int{}
	entre := false
	for _, letra := range linea {
		if letra == '"' {
			entre = !entre
		} else if !entre {
			veces[letra]++
		}
	}
	mejor := ','
	for _, s := range ";\t|" {
		if veces[s] > veces[mejor] {
			mejor = s
		}
	}
	return mejor
}
