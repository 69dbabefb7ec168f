package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fiscope/fiscope"
)

// columna is what a column holds.
type columna string

const (
	colRUC         columna = "rucEmisor"
	colTipo        columna = "tipo"
	colComprobante columna = "comprobante"
	colSerie       columna = "serie"
	colNumero      columna = "numero"
	colNumeroFinal columna = "numero final"
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
	"ncomprobante": colComprobante, "nocomprobante": colComprobante, "numerocomprobante": colComprobante,
	"nrodecomprobante": colComprobante, "ndecomprobante": colComprobante, "numerodecomprobante": colComprobante,
	"serie": colSerie, "numero": colNumero, "nro": colNumero, "correlativo": colNumero,
	"importe": colImporte, "importetotal": colImporte, "monto": colImporte, "total": colImporte,
	"proveedor": colProveedor, "razonsocial": colProveedor, "nombre": colProveedor,
}

// titulosSIRE are those of the files that SUNAT's Sistema Integrado de Registros Electrónicos hands out. There
// "RUC" and "Razón social" are whose ledger it is, so these go before the others.
var titulosSIRE = map[string]columna{
	"nrodocidentidad": colRUC, "apellidosnombresrazonsocial": colProveedor,
	"tipocpdoc": colTipo, "seriedelcdp": colSerie, "totalcp": colImporte,
	"nrocpodoc": colNumero, "nrocpodocnroinicialrango": colNumero, "nrofinalrango": colNumeroFinal,
}

// leerTitulos returns nil where the first line holds no titles.
func leerTitulos(celdas []string) (columnas, error) {
	c, sire := columnas{}, columnas{}
	for i, celda := range celdas {
		donde, que := c, titulos[plano(celda)]
		if que == "" {
			donde, que = sire, titulosSIRE[plano(celda)]
		}
		if _, repetida := donde[que]; que != "" && repetida {
			return nil, fmt.Errorf("hay dos columnas «%s»", que)
		}
		if que != "" {
			donde[que] = i
		}
	}
	for que, i := range sire {
		c[que] = i
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

// dato is a cell of which the receipt is made, as it was before a spreadsheet or a data frame wrote it.
func (c columnas) dato(celdas []string, que columna) string { return sinFormato(c.celda(celdas, que)) }

// comprobante returns the series and the number as one text. They stand in one column or in two, and a number
// beside its series may be the whole.
func (c columnas) comprobante(celdas []string) string {
	junto, serie := c.dato(celdas, colComprobante), c.dato(celdas, colSerie)
	suya, _, err := fiscope.ParseSerieNumero(junto)
	if serie == "" || err == nil && strings.EqualFold(suya, serie) {
		return junto
	}
	return serie + "-" + cmp.Or(junto, c.dato(celdas, colNumero))
}
