package fiscope

import (
	"fmt"
	"regexp"
	"unicode/utf8"
)

const rucLen = 11

// checkRUC refuses what is not 11 ASCII digits (service.md, 4.1), and nothing more: the check digit is
// not part of the contract.
func checkRUC(field, ruc string) error {
	if len(ruc) == rucLen && digits(ruc) {
		return nil
	}
	for i, r := range ruc {
		if r < '0' || r > '9' {
			return invalid("%s must be exactly 11 digits: character %d is %q", field, utf8.RuneCountInString(ruc[:i])+1, r)
		}
	}
	return invalid("%s must be exactly 11 digits: it has %d", field, len(ruc))
}

// abridge shows the first two and the last three digits of a RUC: a RUC 10 contains its owner's DNI.
func abridge(ruc string) string {
	if len(ruc) != rucLen {
		return "…"
	}
	return ruc[:2] + "…" + ruc[rucLen-3:]
}

var rucInText = regexp.MustCompile(`\b[0-9]{11}\b`)

// abridgeRUCs abridges every RUC in a text.
func abridgeRUCs(s string) string { return rucInText.ReplaceAllStringFunc(s, abridge) }

// invalid is a rule of the contract that an input breaks. Its text names the field.
func invalid(format string, args ...any) error {
	return &Error{kind: ErrInvalidRequest, Message: fmt.Sprintf(format, args...)}
}
