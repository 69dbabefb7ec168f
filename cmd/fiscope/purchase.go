package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"github.com/fiscope/fiscope"
)

// purchase is a parsed row of compras.
type purchase struct {
	receipt fiscope.Comprobante
	wrong   string // why it cannot be validated
	other   bool   // the service does not validate its kind
	same    int    // the line with the same receipt; 0 for none
	soles   decimal.NullDecimal
	label   string
}

// cell returns a cell without a spreadsheet's changes; "" if the row is too short or the file lacks the column.
func (c columns) cell(r row, what column) string { return asWritten(c.text(r, what)) }

// text returns a cell for people.
func (c columns) text(r row, what column) string {
	if i, ok := c[what]; ok && i < len(r.cells) {
		return strings.TrimSpace(r.cells[i])
	}
	return ""
}

// seriesAndNumber joins the columns of series and number. The number may already include the series.
func (c columns) seriesAndNumber(r row) string {
	whole, series := c.cell(r, colNumber), c.cell(r, colSeries)
	own, _, err := fiscope.ParseSerieNumero(whole)
	if series == "" || err == nil && strings.EqualFold(own, series) {
		return whole
	}
	return series + "-" + whole
}

// read parses a row.
func (c columns) read(r row) purchase {
	ruc, wrong := readRUC(c.text(r, colIssuer))
	kind, number := kindOf(c.cell(r, colKind)), c.seriesAndNumber(r)
	series, n, err := fiscope.ParseSerieNumero(number)
	p := purchase{receipt: fiscope.Comprobante{RUCEmisor: ruc, Tipo: kind, Serie: series, Numero: n}, wrong: wrong}
	p.soles = readSoles(c.text(r, colAmount), c.text(r, colCurrency))
	last := strings.TrimLeft(c.cell(r, colLast), "0")
	switch {
	case kind != "" && kinds[kind] == "":
		p.wrong, p.other = "", true
	case wrong != "":
	case kind == "":
		p.wrong = fmt.Sprintf("tipo «%s»: solo se validan 01, 03, 07 y 08", shorten(c.text(r, colKind), 20))
	case err != nil:
		p.wrong = fmt.Sprintf("comprobante «%s»: escríbalo como F001-00000123", shorten(number, 30))
	case last != "" && last != fmt.Sprint(n):
		p.wrong = "es un rango de comprobantes: escriba uno en cada línea"
	}
	p.label = r.String()
	if p.wrong == "" && !p.other {
		p.label = fmt.Sprintf("%s %s %s  %s  %s", ruc, kind, p.receipt.SerieNumero(), c.text(r, colAmount), c.text(r, colName))
	}
	return p
}

var kindNames = map[string]fiscope.TipoComprobante{
	"01": fiscope.TipoFactura, "1": fiscope.TipoFactura, "factura": fiscope.TipoFactura, "ft": fiscope.TipoFactura, "fac": fiscope.TipoFactura,
	"03": fiscope.TipoBoleta, "3": fiscope.TipoBoleta, "boleta": fiscope.TipoBoleta, "boletadeventa": fiscope.TipoBoleta, "bv": fiscope.TipoBoleta,
	"07": fiscope.TipoNotaCredito, "7": fiscope.TipoNotaCredito, "notadecredito": fiscope.TipoNotaCredito, "nc": fiscope.TipoNotaCredito,
	"08": fiscope.TipoNotaDebito, "8": fiscope.TipoNotaDebito, "notadedebito": fiscope.TipoNotaDebito, "nd": fiscope.TipoNotaDebito,
}

var (
	// otherKinds are the codes of SUNAT's table 10 that the service does not validate.
	otherKinds  = regexp.MustCompile(`^(0[024-69]|[12][0-9]|3[0-7]|4[0-68-9]|5[0-6]|8[7-9]|9[16-9])$`)
	codeAndName = regexp.MustCompile(`^([0-9]{2})([a-z]+)$`) // 01 - Factura
)

// kindOf parses the kind of a receipt: its code, a common name, or both. It also returns the codes that the service does not
// validate. It returns "" for anything else; a sign that cannot be printed may replace a digit.
func kindOf(s string) fiscope.TipoComprobante {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return ""
	}
	name := strings.TrimSuffix(plain(s), "electronica")
	if both := codeAndName.FindStringSubmatch(name); both != nil && kindNames[both[1]] == kindNames[both[2]] {
		name = both[1]
	}
	if otherKinds.MatchString(name) {
		return fiscope.TipoComprobante(name)
	}
	return kindNames[name]
}

var (
	solesSign    = regexp.MustCompile(`^(S/\.?|PEN)|(PEN|SOLES)$`)
	decimalPoint = regexp.MustCompile(`^-?([0-9]+|[0-9]{1,3}(,[0-9]{3})+)(\.([0-9]{1,2}|[0-9]{4,}))?$`)
	decimalComma = regexp.MustCompile(`^-?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+),[0-9]{1,2}$`)
)

// readSoles reads an amount in soles. It is not valid in another currency, or if it could be read in two ways, as 1.250.
func readSoles(amount, currency string) (soles decimal.NullDecimal) {
	text := solesSign.ReplaceAllString(strings.ToUpper(strings.Join(strings.Fields(amount), "")), "")
	switch {
	case !slices.Contains([]string{"", "pen", "s", "sol", "soles", "mn"}, plain(currency)):
		return soles
	case decimalPoint.MatchString(text):
		text = strings.ReplaceAll(text, ",", "")
	case decimalComma.MatchString(text):
		text = strings.ReplaceAll(strings.ReplaceAll(text, ".", ""), ",", ".")
	default:
		return soles
	}
	sum, err := decimal.NewFromString(text)
	return decimal.NullDecimal{Decimal: sum, Valid: err == nil}
}
