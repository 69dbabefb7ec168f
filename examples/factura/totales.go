package main

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/shopspring/decimal"
)

// tasaIGV is 18 %: the general rate of the Impuesto General a las Ventas together with the Impuesto de
// Promoción Municipal that is added to it (TUO of the IGV law, Decreto Supremo 055-99-EF, article 17, and
// Decreto Legislativo 776, article 76, with their amendments). How the 18 are split changes over the
// years; some activities have another rate, and some none. Which one is yours is for you and your
// accountant to decide.
var tasaIGV = decimal.RequireFromString("0.18")

const centimos = 2

// importes are the totals of an invoice in one currency.
//
// The rounding rule is one: to the céntimo, half away from zero, before anything is added. A line is
// cantidad times valorUnitario, rounded; the valor de venta is the sum of the lines; the IGV is 18 % of
// it, rounded; the total is the sum of both. In the other currency the valor de venta and the IGV are
// converted and rounded, and the total is again their sum: so what is printed always adds up. Intermediate
// results are exact: no float is involved anywhere.
type importes struct{ valorVenta, igv decimal.Decimal }

func (i importes) total() decimal.Decimal { return i.valorVenta.Add(i.igv) }

// totalizar returns the valor de venta of each line, and the totals in the invoice's own currency.
func totalizar(lineas []linea) (valores []decimal.Decimal, total importes, err error) {
	for n, l := range lineas {
		if !l.Cantidad.IsPositive() || !l.ValorUnitario.IsPositive() {
			return nil, total, invalido("la línea %d necesita «cantidad» y «valorUnitario» mayores que cero", n+1)
		}
		valor := l.Cantidad.Mul(l.ValorUnitario.Decimal).Round(centimos)
		valores = append(valores, valor)
		total.valorVenta = total.valorVenta.Add(valor)
	}
	if total.valorVenta.IsZero() {
		return nil, total, invalido("el total es 0.00: las líneas no llegan a un céntimo")
	}
	total.igv = total.valorVenta.Mul(tasaIGV).Round(centimos)
	return valores, total, nil
}

// aSoles converts dollars. Sales use the selling rate.
func (i importes) aSoles(venta decimal.Decimal) importes {
	return importes{i.valorVenta.Mul(venta).Round(centimos), i.igv.Mul(venta).Round(centimos)}
}

// aDolares converts soles. A rate is above zero, or the client would not have returned it.
func (i importes) aDolares(venta decimal.Decimal) importes {
	return importes{i.valorVenta.DivRound(venta, centimos), i.igv.DivRound(venta, centimos)}
}

// MarshalJSON writes the amounts as texts with both decimals.
func (i importes) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		ValorVenta string `json:"valorVenta"`
		IGV        string `json:"igv"`
		Total      string `json:"total"`
	}{i.valorVenta.StringFixed(centimos), i.igv.StringFixed(centimos), i.total().StringFixed(centimos)})
}

// numero is a decimal of a request, as a JSON number or as a text. Its digits are read as they are
// written. Exponents are refused: 1e999999999 is short to send and long to multiply.
type numero struct{ decimal.Decimal }

var formaDeNumero = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,10})?$`)

// UnmarshalJSON implements json.Unmarshaler.
func (n *numero) UnmarshalJSON(raw []byte) (err error) {
	texto := string(raw)
	if sinComillas, ok := strings.CutPrefix(texto, `"`); ok {
		texto = strings.TrimSuffix(sinComillas, `"`)
	}
	if !formaDeNumero.MatchString(texto) {
		return invalido("un número se escribe como 1250.50: hasta 12 enteros y 10 decimales, sin signo")
	}
	n.Decimal, err = decimal.NewFromString(texto)
	return err
}
