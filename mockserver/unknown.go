package mockserver

import "encoding/json"

// Unknown is how a lookup writes a field that has no value, which docs/contrato.md, 2.1, does not say.
type Unknown string

// The ways to write it. A field has no value where it was put as "" or "-".
const (
	UnknownAsPut  Unknown = "as-put" // as it was put, but an ordinary value in ubigeo and the dates, which have a form
	UnknownEmpty  Unknown = "empty"  // ""
	UnknownDash   Unknown = "dash"   // "-", as the registry's file has it
	UnknownNull   Unknown = "null"   // null
	UnknownAbsent Unknown = "absent" // without the member
)

var unknowns = []Unknown{UnknownAsPut, UnknownEmpty, UnknownDash, UnknownNull, UnknownAbsent}

// text returns what a field is written as where that is a text, as it is but for null and absent.
func (u Unknown) text(value string) string {
	if value == "" || value == "-" {
		switch u {
		case UnknownEmpty:
			return ""
		case UnknownDash:
			return "-"
		case UnknownAsPut, UnknownNull, UnknownAbsent:
		}
	}
	return value
}

// value returns what a field is written as for null and absent: nil for nothing, where its tag has omitempty.
func (u Unknown) value(value string) any {
	switch {
	case value != "" && value != "-":
		return value
	case u == UnknownNull:
		return json.RawMessage("null")
	}
	return nil
}
