package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/fiscope/fiscope"
)

// ubicarRUC finds the column of the RUC, as it was asked for (by name or position) or by itself, and
// whether the first record is a header. Where two columns could be it, it does not choose: to ask for
// the wrong taxpayers spends the quota.
func ubicarRUC(primeras []registro, pedida string) (columna int, encabezado bool, err error) {
	if len(primeras) == 0 {
		return 0, false, errors.New("no tiene filas")
	}
	primera := primeras[0].celdas
	if n, err := strconv.Atoi(pedida); err == nil {
		if n < 1 {
			return 0, false, errors.New("las columnas se cuentan desde 1")
		}
		return n - 1, len(primera) >= n && esTitulo(primera[n-1]), nil
	}
	if pedida != "" {
		for i, titulo := range primera {
			if strings.EqualFold(limpiar(titulo), limpiar(pedida)) {
				return i, true, nil
			}
		}
		return 0, false, fmt.Errorf("no hay columna «%s»; hay: %s", pedida, strings.Join(primera, ", "))
	}
	columna, err = mejorColumna(primeras)
	if err != nil {
		return 0, false, err
	}
	return columna, len(primera) > columna && esTitulo(primera[columna]), nil
}

// mejorColumna takes those that are called RUC or, if none is, all; and of them the one with most RUCs.
func mejorColumna(primeras []registro) (int, error) {
	ancho := 0
	rucs := map[int]int{}
	for _, r := range primeras {
		ancho = max(ancho, len(r.celdas))
		for i, celda := range r.celdas {
			if onceDigitos.MatchString(sinFormato(celda)) {
				rucs[i]++
			}
		}
	}
	var posibles []int
	for i, titulo := range primeras[0].celdas {
		palabras := strings.FieldsFunc(strings.ToLower(titulo), func(r rune) bool { return !unicode.IsLetter(r) })
		if slices.Contains(palabras, "ruc") {
			posibles = append(posibles, i)
		}
	}
	if posibles == nil {
		for i := range ancho {
			if rucs[i] > 0 || ancho == 1 {
				posibles = append(posibles, i)
			}
		}
	}
	slices.SortStableFunc(posibles, func(a, b int) int { return rucs[b] - rucs[a] })
	switch {
	case len(posibles) == 0:
		return 0, errors.New("no se ve la columna del RUC; indíquela con -columna")
	case len(posibles) > 1 && rucs[posibles[0]] == rucs[posibles[1]]:
		return 0, fmt.Errorf("las columnas %d y %d pueden ser la del RUC; indíquela con -columna", posibles[0]+1, posibles[1]+1)
	}
	return posibles[0], nil
}

// esTitulo: a wrong RUC in the first row is no header, and must be reported.
func esTitulo(celda string) bool {
	celda = limpiar(celda)
	return celda != "" && (celda[0] < '0' || celda[0] > '9')
}

var (
	onceDigitos = regexp.MustCompile(`^[0-9]{11}$`)
	cientifico  = regexp.MustCompile(`^[0-9][.,]?[0-9]*[eE]\+?[0-9]+$`)

	conDecimales = regexp.MustCompile(`^([0-9]{11})[.,]0+$`)
	conExponente = regexp.MustCompile(`^([0-9])[.,]([0-9]{10})[eE]\+?10$`)
)

// rucEn returns the RUC of a record, or why it has none that can be asked.
func (r registro) rucEn(columna int) (ruc, falla string) {
	if r.falla != "" {
		return "", r.falla
	}
	if len(r.celdas) <= columna {
		return "", fmt.Sprintf("no tiene columna %d", columna+1)
	}
	ruc = sinFormato(r.celdas[columna])
	switch soloDigitos := strings.Trim(ruc, "0123456789") == ""; {
	case ruc == "":
		return "", "el RUC está vacío"
	case cientifico.MatchString(ruc):
		return "", "la hoja de cálculo redondeó el RUC: dé formato de texto a su columna"
	case !soloDigitos:
		return "", "el RUC tiene algo que no es un dígito"
	case len(ruc) != 11:
		return "", fmt.Sprintf("el RUC tiene %d dígitos y no 11", len(ruc))
	case fiscope.ValidarRUC(ruc) != nil:
		return "", "el dígito verificador o el tipo de RUC está errado"
	}
	return ruc, ""
}

// sinFormato takes away what spreadsheets and data frames put to a RUC that they took for a number: a decimal
// point, or an exponent after all its 11 digits. One with fewer digits was rounded, and stays as it is.
func sinFormato(celda string) string {
	celda = limpiar(celda)
	if m := conDecimales.FindStringSubmatch(celda); m != nil {
		return m[1]
	}
	if m := conExponente.FindStringSubmatch(celda); m != nil {
		return m[1] + m[2]
	}
	return celda
}

// limpiar takes away what spreadsheets put around a number to keep it whole: blanks of every kind, an
// apostrophe, ="...". A control character stays: it may stand where a digit was.
func limpiar(celda string) string {
	celda = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Zs, unicode.Cf) {
			return -1
		}
		return r
	}, celda)
	if dentro, ok := strings.CutPrefix(celda, `="`); ok {
		celda = strings.TrimSuffix(dentro, `"`)
	}
	return strings.TrimPrefix(celda, "'")
}
