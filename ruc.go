package fiscope

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fiscope/fiscope/internal/scrub"
)

const rucLen = 11

// ClaseRUC is the kind of taxpayer: the first two digits of a RUC. The set is open: the registry has others, such as
// "00".
type ClaseRUC string

// The kinds that most callers tell apart. RUCs that begin with 15, 16 or 17 are special or not domiciled.
const (
	ClasePersonaNatural  ClaseRUC = "10" // the eight digits after it are the person's DNI
	ClasePersonaJuridica ClaseRUC = "20" // legal entity: company, association, public body
)

// ClaseDeRUC returns the first two digits of a RUC; "" if ruc is not 11 digits. It ignores the check digit.
func ClaseDeRUC(ruc string) ClaseRUC {
	if len(ruc) != rucLen || !scrub.Digits(ruc) {
		return ""
	}
	return ClaseRUC(ruc[:2])
}

// DNIDeRUC returns the DNI, 8 digits, in the RUC of a natural person. ok is false unless the RUC begins with 10 and
// [ValidarRUC] accepts it: a mistyped one may hold another person's DNI.
func DNIDeRUC(ruc string) (dni string, ok bool) {
	if ClaseDeRUC(ruc) != ClasePersonaNatural || ValidarRUC(ruc) != nil {
		return "", false
	}
	return ruc[2 : rucLen-1], true
}

// RUCDeDNI returns the RUC that a person with that DNI has, if registered. ok is false if dni is not 8 digits: a
// leading zero that a spreadsheet dropped is not restored.
func RUCDeDNI(dni string) (ruc string, ok bool) {
	if len(dni) != rucLen-3 || !scrub.Digits(dni) {
		return "", false
	}
	ruc = string(ClasePersonaNatural) + dni
	return ruc + strconv.Itoa(checkDigit(ruc)), true
}

// ValidarRUC checks more of a RUC than the service does: the check digit, and that the first two digits are 10, 15, 16,
// 17 or 20. A RUC that passes may not exist. See [WithStrictRUC]. The error is an ErrInvalidRequest.
//
// The check digit is 11 minus the sum, modulo 11, of the first ten digits times 5 4 3 2 7 6 5 4 3 2; 10 is written 0
// and 11 is written 1.
func ValidarRUC(ruc string) error { return checkStrictRUC("ruc", ruc) }

// ParseRUC returns the digits of a RUC that a person typed, without blanks, dots and dashes. The error is that of
// [ValidarRUC].
func ParseRUC(text string) (string, error) {
	ruc := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) || r == '.' {
			return -1
		}
		return r
	}, text)
	if err := ValidarRUC(ruc); err != nil {
		return "", err
	}
	return ruc, nil
}

// checkRUC refuses anything but 11 ASCII digits (docs/contract.md, 4.1). The check digit is not part of the contract.
func checkRUC(field, ruc string) error {
	if len(ruc) == rucLen && scrub.Digits(ruc) {
		return nil
	}
	for i, r := range ruc {
		if r < '0' || r > '9' {
			return invalid(field, "must be exactly 11 digits: character %d is %q", utf8.RuneCountInString(ruc[:i])+1, r)
		}
	}
	err := newError(invalidInput, "%s must be exactly 11 digits: it has %d", field, len(ruc))
	if err.Field = field; len(ruc) > 1 {
		err.texto = fmt.Sprintf("%s no es válido: tiene %d dígitos y son 11.", rucDeCampo[field], len(ruc))
	}
	return err
}

// checkStrictRUC also refuses a wrong check digit and a prefix that is not in use.
func checkStrictRUC(field, ruc string) error {
	if err := checkRUC(field, ruc); err != nil {
		return err
	}
	if int(ruc[rucLen-1]-'0') != checkDigit(ruc) {
		err := newError(invalidInput, "%s %s does not match its check digit: a digit is wrong, or two are swapped", field, scrub.AbridgeRUC(ruc))
		err.Field, err.texto = field, rucDeCampo[field]+" no es válido, un dígito no corresponde: revíselo."
		return err
	}
	if !slices.Contains([]ClaseRUC{ClasePersonaNatural, "15", "16", "17", ClasePersonaJuridica}, ClaseDeRUC(ruc)) {
		return invalid(field, "%s must begin with 10, 15, 16, 17 or 20", scrub.AbridgeRUC(ruc))
	}
	return nil
}

// checkDigit returns the check digit of the first ten digits of a RUC.
func checkDigit(ruc string) int {
	sum := 0
	for i, weight := range [rucLen - 1]int{5, 4, 3, 2, 7, 6, 5, 4, 3, 2} {
		sum += weight * int(ruc[i]-'0')
	}
	return (11 - sum%11) % 10 // 10 is written 0, and 11 is written 1
}
