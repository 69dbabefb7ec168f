package fiscope

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"github.com/fiscope/fiscope/internal/scrub"
)

// TipoComprobante is the code of a kind of receipt (docs/contract.md, 2.3).
type TipoComprobante string

// The kinds that can be validated.
const (
	TipoFactura     TipoComprobante = "01" // invoice
	TipoBoleta      TipoComprobante = "03" // sales receipt
	TipoNotaCredito TipoComprobante = "07" // credit note
	TipoNotaDebito  TipoComprobante = "08" // debit note
)

// Comprobante identifies one receipt (docs/contract.md, 2.3). It holds no credential: it can be logged and stored.
type Comprobante struct {
	RUCEmisor string          `json:"rucEmisor"` // RUC of the issuer, 11 digits
	Tipo      TipoComprobante `json:"tipoComprobante"`
	Serie     string          `json:"serie"`  // 1 to 4 capital letters and digits, such as F001
	Numero    int             `json:"numero"` // 1 to 99999999
}

// ValidarComprobante checks a receipt and sends nothing: what [CPEService.Validar] refuses before it sends, and its issuer
// as [ValidarRUC] does. A receipt that passes may not exist. The error is an ErrInvalidRequest; its Field names the field.
func ValidarComprobante(c Comprobante) error {
	return cmp.Or(c.check(), checkStrictRUC("rucEmisor", c.RUCEmisor))
}

func (c Comprobante) check() error {
	err := cmp.Or(checkRUC("rucEmisor", c.RUCEmisor), c.Tipo.check(), checkSerie(c.Serie))
	switch {
	case err != nil:
		return err
	case c.Numero < 1:
		return invalid("numero", "must be 1 or more: it is %d", c.Numero)
	case c.Numero > highestNumero:
		return invalid("numero", "must be %d or less", highestNumero)
	}
	return nil
}

func (t TipoComprobante) check() error {
	switch t {
	case TipoFactura, TipoBoleta, TipoNotaCredito, TipoNotaDebito:
		return nil
	}
	return invalid("tipoComprobante", "must be 01, 03, 07 or 08: it is %s", t.shown())
}

// shown returns the kind for an error text. A longer value may be a RUC or a DNI, so only its length is shown.
func (t TipoComprobante) shown() string {
	if len(t) > len(TipoFactura) {
		return fmt.Sprintf("%d bytes long", len(t))
	}
	return strconv.Quote(string(t))
}

// checkSerie refuses a text that is no series of any kind of receipt. Which letter goes with which kind is up to the
// tax authority.
func checkSerie(serie string) error {
	if serie == "" || len(serie) > 4 || strings.ContainsFunc(serie, notOfSerie) {
		return invalid("serie", "must be 1 to 4 capital letters and digits, as in F001: it is %q", scrub.Cut(scrub.AbridgeRUCs(serie), 10))
	}
	return nil
}

func notOfSerie(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }

// The longest number of a receipt, in digits, and the highest.
const (
	longestNumero = 8
	highestNumero = 99_999_999
)

// ParseSerieNumero reads the series and the number of a receipt as people write them: "F001-00000123", "f001-123",
// "F001 - 123", "F001 123". It returns the series in capitals, otherwise as written: "F1" is not "F001". The error is
// an ErrInvalidRequest; RUCs in it are abridged.
func ParseSerieNumero(s string) (serie string, numero int, err error) {
	return parseSerieNumero(s, fmt.Sprintf("%q is not a series and a number, as in F001-00000123", scrub.Cut(scrub.AbridgeRUCs(s), 40)))
}

// parseSerieNumero begins its error with the given words.
func parseSerieNumero(s, begin string) (serie string, numero int, err error) {
	wrong := func(field, why string) (string, int, error) {
		return "", 0, &Error{Err: ErrInvalidRequest, Field: field, Message: begin + ": " + why}
	}
	serie, number, dashed := strings.Cut(strings.Map(plainSerie, s), "-")
	words := strings.Fields(serie)
	switch {
	case dashed:
		serie, number = strings.Join(words, ""), strings.TrimSpace(number)
	case len(words) == 2:
		serie, number = words[0], words[1]
	default:
		return wrong("comprobante", "a dash must separate the series from the number")
	}
	if checkSerie(serie) != nil {
		return wrong("serie", "the series must be 1 to 4 letters and digits")
	}
	if !scrub.Digits(number) {
		return wrong("numero", "the number must be digits and nothing else")
	}
	if number = strings.TrimLeft(number, "0"); number == "" || len(number) > longestNumero {
		return wrong("numero", "the number must be 1 to 99999999")
	}
	numero, err = strconv.Atoi(number)
	return serie, numero, err
}

// plainSerie returns the capital of an ASCII letter, and '-' for every dash. Other alphabets are left alone: the
// capital of a dotless i would be an I.
func plainSerie(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r - 'a' + 'A'
	case unicode.Is(unicode.Pd, r), r == '\u2212': // the minus sign
		return '-'
	}
	return r
}

// SerieNumero returns the series and the number as printed on the receipt, with the number in eight digits:
// "F001-00000123". [ParseSerieNumero] reads it.
func (c Comprobante) SerieNumero() string {
	return fmt.Sprintf("%s-%0*d", c.Serie, longestNumero, c.Numero)
}

// String returns issuer's RUC, kind, series and number as in the names of receipt files:
// "20100070970-01-F001-00000123". [ParseComprobante] reads it.
func (c Comprobante) String() string {
	return c.RUCEmisor + "-" + string(c.Tipo) + "-" + c.SerieNumero()
}

// ParseComprobante reads what String writes, and the names of receipt files (SUNAT, Anexo 6 of Resolución 097-2012):
// "20100070970-01-F001-00000123.xml" or .zip, and "R-...zip", with or without a folder. It refuses kinds that cannot be
// validated, such as a daily summary (RC). The error is an ErrInvalidRequest; it shows at most two characters of the
// text.
func ParseComprobante(s string) (Comprobante, error) {
	name := strings.TrimSpace(s[strings.LastIndexAny(s, `/\`)+1:])
	if suffix := strings.ToLower(name[max(0, len(name)-4):]); suffix == ".xml" || suffix == ".zip" {
		name = name[:len(name)-len(suffix)]
	}
	if strings.HasPrefix(name, "R-") || strings.HasPrefix(name, "r-") {
		name = name[2:]
	}
	parts := strings.SplitN(name, "-", 3)
	if len(parts) < 3 {
		return Comprobante{}, notComprobante("not the name of a receipt: want RUC-kind-series-number, alone or with .xml or .zip")
	}
	if strings.Contains(parts[2], ".") {
		return Comprobante{}, notComprobante("not the name of a receipt's file: it must end in .xml or .zip")
	}
	return newComprobante(parts[0], parts[1], parts[2])
}

// notComprobante is the error for a text that is not a receipt. It shows nothing of the text.
func notComprobante(why string) error {
	return &Error{Err: ErrInvalidRequest, Field: "comprobante", Message: why}
}

// newComprobante returns a receipt from its parts. Its error shows at most two characters of one.
func newComprobante(ruc, tipo, serieNumero string) (Comprobante, error) {
	if err := TipoComprobante(tipo).check(); err != nil {
		return Comprobante{}, err
	}
	if before, _, dashed := strings.Cut(strings.Map(plainSerie, serieNumero), "-"); dashed && len(strings.Fields(before)) > 1 {
		return Comprobante{}, &Error{Err: ErrInvalidRequest, Field: "serie", Message: "not a receipt: the series must be 1 to 4 letters and digits, without blanks"}
	}
	serie, numero, err := parseSerieNumero(serieNumero, "not a receipt")
	if err = cmp.Or(err, checkRUC("rucEmisor", ruc)); err != nil {
		return Comprobante{}, err
	}
	return Comprobante{RUCEmisor: ruc, Tipo: TipoComprobante(tipo), Serie: serie, Numero: numero}, nil
}

// seriesDe has the usual series of each kind of receipt: the electronic ones, and 1 to 4 digits on paper. Receipts
// issued on the tax authority's own portal have E001 or EB01.
var seriesDe = map[TipoComprobante]struct {
	serie *regexp.Regexp
	want  string
}{
	TipoFactura:     {regexp.MustCompile(`^(F[A-Z0-9]{3}|E001|[0-9]{1,4})$`), "F y tres más, o E001"},
	TipoBoleta:      {regexp.MustCompile(`^(B[A-Z0-9]{3}|EB01|[0-9]{1,4})$`), "B y tres más, o EB01"},
	TipoNotaCredito: {regexp.MustCompile(`^([FB][A-Z0-9]{3}|E001|EB01|[0-9]{1,4})$`), "F o B y tres más, o E001 o EB01"},
	TipoNotaDebito:  {regexp.MustCompile(`^([FB][A-Z0-9]{3}|E001|EB01|[0-9]{1,4})$`), "F o B y tres más, o E001 o EB01"},
}

// Advertencia returns one line in Spanish if the series is unusual for the kind: one of them may be mistyped. Otherwise
// it returns "". The contract does not relate them, so Validar accepts any pair.
func (c Comprobante) Advertencia() string {
	of, ok := seriesDe[c.Tipo]
	switch {
	case !ok:
		return fmt.Sprintf("tipoComprobante no es 01, 03, 07 ni 08: es %s", c.Tipo.shown())
	case !of.serie.MatchString(c.Serie):
		return fmt.Sprintf("la serie %q no es usual para tipoComprobante %s: se espera %s, o de 1 a 4 dígitos si es de papel", scrub.Cut(scrub.AbridgeRUCs(c.Serie), 10), c.Tipo, of.want)
	}
	return ""
}

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
	igv, okIGV := importeDeQR(cmp.Or(fields[4], "0"))
	total, okTotal := importeDeQR(fields[5])
	fecha, err := ParseFecha(dayFirst.ReplaceAllString(fields[6], "$3-$2-$1"))
	switch {
	case !okIGV:
		return QR{}, notOfQR("IGV")
	case !okTotal:
		return QR{}, notOfQR("total")
	case igv.GreaterThan(total):
		return QR{}, fmt.Errorf("%w: the IGV of a receipt's code is above its total", ErrInvalidRequest)
	case err != nil:
		return QR{}, notOfQR("date")
	}
	rest := append(fields[least:], "", "", "")
	return QR{c, igv, total, fecha, rest[0], rest[1], rest[2]}, nil
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
