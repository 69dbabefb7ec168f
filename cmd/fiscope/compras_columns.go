package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fiscope/fiscope"
)

// column is the meaning of a column.
type column string

const (
	colRUC     column = "rucEmisor"
	colKind    column = "tipo"
	colReceipt column = "comprobante"
	colSeries  column = "serie"
	colNumber  column = "numero"
	colLast    column = "numero final"
	colAmount  column = "importe"
	colName    column = "proveedor"
)

// columns has the index of each column.
type columns map[column]int

// untitled is the order of columns in a file without titles.
var untitled = columns{colRUC: 0, colKind: 1, colReceipt: 2, colAmount: 3, colName: 4}

// titles are common names of the columns, as returned by plain.
var titles = map[string]column{
	"rucemisor": colRUC, "ruc": colRUC, "rucproveedor": colRUC, "rucdelproveedor": colRUC,
	"tipo": colKind, "tipocomprobante": colKind, "tipodecomprobante": colKind, "tipodocumento": colKind,
	"comprobante": colReceipt, "serienumero": colReceipt, "documento": colReceipt, "nrocomprobante": colReceipt,
	"ncomprobante": colReceipt, "nocomprobante": colReceipt, "numerocomprobante": colReceipt,
	"nrodecomprobante": colReceipt, "ndecomprobante": colReceipt, "numerodecomprobante": colReceipt,
	"serie": colSeries, "numero": colNumber, "nro": colNumber, "correlativo": colNumber,
	"importe": colAmount, "importetotal": colAmount, "monto": colAmount, "total": colAmount,
	"proveedor": colName, "razonsocial": colName, "nombre": colName,
}

// titlesSIRE are the titles of files from SUNAT's Sistema Integrado de Registros Electrónicos. There "RUC" and "Razón
// social" are the ledger owner's, so these titles have precedence.
var titlesSIRE = map[string]column{
	"nrodocidentidad": colRUC, "apellidosnombresrazonsocial": colName,
	"tipocpdoc": colKind, "seriedelcdp": colSeries, "totalcp": colAmount,
	"nrocpodoc": colNumber, "nrocpodocnroinicialrango": colNumber, "nrofinalrango": colLast,
}

// findPurchases finds the columns by their titles, and removes the header if there is one.
func (t *table) findPurchases() (columns, error) {
	found, sire := columns{}, columns{}
	for i, cell := range t.rows[0].cells {
		where, what := found, titles[plain(cell)]
		if what == "" {
			where, what = sire, titlesSIRE[plain(cell)]
		}
		if _, twice := where[what]; what != "" && twice {
			return nil, fmt.Errorf("hay dos columnas «%s»", what)
		}
		if what != "" {
			where[what] = i
		}
	}
	for what, i := range sire {
		found[what] = i
	}
	if len(found) == 0 {
		if !slices.ContainsFunc(t.rows, func(r row) bool { return untitled.read(r).wrong == "" }) {
			return nil, fmt.Errorf("no se entiende ninguna fila: los títulos van en la primera línea (línea %d: %s)", t.rows[0].line, untitled.read(t.rows[0]).wrong)
		}
		return untitled, nil
	}
	_, whole := found[colReceipt]
	_, series := found[colSeries]
	_, number := found[colNumber]
	if !whole && !(series && number) {
		return nil, errors.New("falta la columna «comprobante», o «serie» y «numero»")
	}
	for _, what := range []column{colRUC, colKind} {
		if _, ok := found[what]; !ok {
			return nil, fmt.Errorf("falta la columna «%s»", what)
		}
	}
	t.takeHeader()
	return found, nil
}

// cell returns a cell without a spreadsheet's changes; "" if the row is too short or the file lacks the column.
func (c columns) cell(r row, what column) string {
	if i, ok := c[what]; ok && i < len(r.cells) {
		return asWritten(r.cells[i])
	}
	return ""
}

// text returns a cell for people.
func (c columns) text(r row, what column) string {
	if i, ok := c[what]; ok && i < len(r.cells) {
		return strings.TrimSpace(r.cells[i])
	}
	return ""
}

// seriesAndNumber joins the columns of series and number. The number may already include the series.
func (c columns) seriesAndNumber(r row) string {
	whole, series := c.cell(r, colReceipt), c.cell(r, colSeries)
	if whole == "" {
		whole = c.cell(r, colNumber)
	}
	own, _, err := fiscope.ParseSerieNumero(whole)
	if series == "" || err == nil && strings.EqualFold(own, series) {
		return whole
	}
	return series + "-" + whole
}

// read parses a row.
func (c columns) read(r row) purchase {
	ruc, kind, number := c.cell(r, colRUC), kindOf(c.cell(r, colKind)), c.seriesAndNumber(r)
	p := purchase{}
	var err error
	p.receipt.RUCEmisor, p.receipt.Tipo = ruc, kind
	p.receipt.Serie, p.receipt.Numero, err = fiscope.ParseSerieNumero(number)
	last := strings.TrimLeft(c.cell(r, colLast), "0")
	p.label = fmt.Sprintf("%s %s %s  %s  %s", ruc, kind, p.receipt.SerieNumero(), c.text(r, colAmount), c.text(r, colName))
	switch {
	case fiscope.ClaseDeRUC(ruc) == "":
		p.wrong = fmt.Sprintf("RUC «%s»: deben ser 11 dígitos", shorten(ruc, 20))
	case fiscope.ValidarRUC(ruc) != nil:
		p.wrong = "un dígito del RUC es incorrecto, o hay dos cambiados de lugar"
	case kind == "":
		p.wrong = fmt.Sprintf("tipo «%s»: solo se validan 01, 03, 07 y 08", shorten(c.text(r, colKind), 20))
	case err != nil:
		p.wrong = fmt.Sprintf("comprobante «%s»: escríbalo como F001-00000123", shorten(number, 30))
	case last != "" && last != fmt.Sprint(p.receipt.Numero):
		p.wrong = "es un rango de comprobantes: escriba uno en cada línea"
	}
	if p.wrong != "" {
		p.label = r.String()
	}
	return p
}

// kindOf parses the type of a receipt: its code, or a common name.
func kindOf(s string) fiscope.TipoComprobante {
	name := plain(s)
	if kind := kindNames[name]; kind != "" {
		return kind
	}
	return kindNames[strings.TrimSuffix(name, "electronica")]
}

var kindNames = map[string]fiscope.TipoComprobante{
	"01": fiscope.TipoFactura, "1": fiscope.TipoFactura, "factura": fiscope.TipoFactura, "ft": fiscope.TipoFactura,
	"03": fiscope.TipoBoleta, "3": fiscope.TipoBoleta, "boleta": fiscope.TipoBoleta, "boletadeventa": fiscope.TipoBoleta, "bv": fiscope.TipoBoleta,
	"07": fiscope.TipoNotaCredito, "7": fiscope.TipoNotaCredito, "notadecredito": fiscope.TipoNotaCredito, "nc": fiscope.TipoNotaCredito,
	"08": fiscope.TipoNotaDebito, "8": fiscope.TipoNotaDebito, "notadedebito": fiscope.TipoNotaDebito, "nd": fiscope.TipoNotaDebito,
}
