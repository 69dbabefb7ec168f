package fiscope

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"
)

// QR is the content of the code on a printed receipt. It has no currency and is not signed: only [CPEService.Validar]
// can say whether the receipt exists. The buyer's document may be a DNI: take care where you store it.
type QR struct {
	Comprobante     Comprobante     `json:"comprobante"`
	IGV             decimal.Decimal `json:"igv"`             // the total tax; zero if missing
	Total           decimal.Decimal `json:"total"`           // in the currency of the receipt
	Fecha           Fecha           `json:"fecha"`           // of issue
	TipoDocumento   string          `json:"tipoDocumento"`   // of the buyer, from SUNAT's catalogue 06: "6" is a RUC, "1" a DNI; "" if missing
	NumeroDocumento string          `json:"numeroDocumento"` // of the buyer; "" if missing
	ValorResumen    string          `json:"valorResumen"`    // the digest of the signed file, in Base64; "" if missing
}

// ParseQR reads the text of the code on a printed receipt:
//
//	RUC|type|series|number|IGV|total|date|buyer's document type|buyer's document|digest
//
// The fields are those of SUNAT's Anexo 6, "Aspectos técnicos", 6.4.3 (Resolución 097-2012/SUNAT, as amended by
// 113-2018). IGV may be empty, the fields after the date may be missing, and those after the digest are ignored. A date
// is YYYY-MM-DD, DD/MM/YYYY or DD-MM-YYYY. An amount may have a decimal point, never a comma, and the IGV must not
// exceed the total. The error is an ErrInvalidRequest; it names the field and shows at most two characters of its text.
func ParseQR(s string) (QR, error) {
	fields := strings.Split(s, "|")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
		if strings.ContainsFunc(fields[i], breaksLine) {
			return QR{}, notComprobante(fmt.Sprintf("a line break stands within field %d of a receipt's code: it may be two codes", i+1))
		}
	}
	const least = 7
	if len(fields) < least {
		return QR{}, notComprobante(fmt.Sprintf("a receipt's code needs %d fields or more, separated by |: this has %d", least, len(fields)))
	}
	c, err := newComprobante(fields[0], fields[1], fields[2]+"-"+fields[3])
	if err != nil {
		return QR{}, err
	}
	q := QR{Comprobante: c}
	var ok bool
	if q.IGV, ok = importeDeQR(cmp.Or(fields[4], "0")); !ok {
		return QR{}, notOfQR("IGV")
	}
	if q.Total, ok = importeDeQR(fields[5]); !ok {
		return QR{}, notOfQR("total")
	}
	if q.IGV.GreaterThan(q.Total) {
		return QR{}, fmt.Errorf("%w: the IGV of a receipt's code is above its total", ErrInvalidRequest)
	}
	if q.Fecha, ok = fechaDeQR(fields[6]); !ok {
		return QR{}, notOfQR("date")
	}
	rest := append(fields[least:], "", "", "")
	q.TipoDocumento, q.NumeroDocumento, q.ValorResumen = rest[0], rest[1], rest[2]
	return q, nil
}

// notOfQR names a field without its text: if the fields are shifted, the text may be the buyer's document.
func notOfQR(name string) error {
	return fmt.Errorf("%w: the %s of a receipt's code cannot be read", ErrInvalidRequest, name)
}

func breaksLine(r rune) bool {
	return unicode.IsControl(r) && r != '\t' || r == '\u2028' || r == '\u2029'
}

var formaDeImporte = regexp.MustCompile(`^[0-9]{1,15}(\.[0-9]{1,12})?$`)

func importeDeQR(s string) (importe decimal.Decimal, ok bool) {
	if !formaDeImporte.MatchString(s) {
		return importe, false
	}
	importe, err := decimal.NewFromString(s)
	return importe, err == nil
}

// dayFirst matches a date as it is written in Peru.
var dayFirst = regexp.MustCompile(`^([0-9]{2})[/-]([0-9]{2})[/-]([0-9]{4})$`)

func fechaDeQR(s string) (Fecha, bool) {
	f, err := ParseFecha(dayFirst.ReplaceAllString(s, "$3-$2-$1"))
	return f, err == nil
}
