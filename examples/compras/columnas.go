package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// columna is what a column holds.
type columna string

const (
	colRUC         columna = "rucEmisor"
	colTipo        columna = "tipo"
	colComprobante columna = "comprobante"
	colSerie       columna = "serie"
	colNumero      columna = "numero"
	colImporte     columna = "importe"
	colProveedor   columna = "proveedor"
)

// columnas says where each is.
type columnas map[columna]int

// The order of a file without titles.
var sinTitulos = columnas{colRUC: 0, colTipo: 1, colComprobante: 2, colImporte: 3, colProveedor: 4}

// titulos are the names that people give to the columns, as plano leaves them.
var titulos = map[string]columna{
	"rucemisor": colRUC, "ruc": colRUC, "rucproveedor": colRUC, "rucdelproveedor": colRUC,
	"tipo": colTipo, "tipocomprobante": colTipo, "tipodecomprobante": colTipo, "tipodocumento": colTipo,
	"comprobante": colComprobante, "serienumero": colComprobante, "documento": colComprobante, "nrocomprobante": colComprobante,
	"serie": colSerie, "numero": colNumero, "nro": colNumero, "correlativo": colNumero,
	"importe": colImporte, "importetotal": colImporte, "monto": colImporte, "total": colImporte,
	"proveedor": colProveedor, "razonsocial": colProveedor, "nombre": colProveedor,
}

// leerTitulos returns nil where the first line holds no titles.
func leerTitulos(celdas []string) (columnas, error) {
	c := columnas{}
	for i, celda := range celdas {
		que, ok := titulos[plano(celda)]
		if _, repetida := c[que]; ok && repetida {
			return nil, fmt.Errorf("hay dos columnas «%s»", que)
		}
		if ok {
			c[que] = i
		}
	}
	if len(c) == 0 {
		return nil, nil
	}
	_, junto := c[colComprobante]
	_, serie := c[colSerie]
	_, numero := c[colNumero]
	if !junto && !(serie && numero) {
		return nil, fmt.Errorf("falta la columna «%s», o «%s» y «%s»", colComprobante, colSerie, colNumero)
	}
	for _, que := range []columna{colRUC, colTipo} {
		if _, ok := c[que]; !ok {
			return nil, fmt.Errorf("falta la columna «%s»", que)
		}
	}
	return c, nil
}

// celda is "" where the line is too short or the file has no such column.
func (c columnas) celda(celdas []string, que columna) string {
	if i, ok := c[que]; ok && i < len(celdas) {
		return celdas[i]
	}
	return ""
}

// plano is a text in small letters and digits, without accents or anything else: "Serie-Número" and
// "SERIE NUMERO" are the same title.
func plano(s string) string {
	return strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		if i := strings.IndexRune("áéíóúüñ", r); i >= 0 {
			return []rune("aeiouun")[utf8.RuneCountInString("áéíóúüñ"[:i])]
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// limpiar returns a cell as UTF-8, without what a terminal would obey. Bytes that are not UTF-8 are
// Latin-1, in which each byte is the code point of its character.
func limpiar(s string) string {
	if !utf8.ValidString(s) {
		runas := make([]rune, len(s))
		for i := range len(s) {
			runas[i] = rune(s[i])
		}
		s = string(runas)
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// recortar returns at most ancho runes of a text.
func recortar(s string, ancho int) string {
	if runas := []rune(s); len(runas) > ancho {
		return string(runas[:ancho-1]) + "…"
	}
	return s
}
