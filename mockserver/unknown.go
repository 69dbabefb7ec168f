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

// write returns what a field is written as: nil for nothing, where its tag has omitempty. Of a value it is the
// pointer, which costs nothing.
func (u Unknown) write(value *string) any {
	if *value != "" && *value != "-" {
		return value
	}
	switch u {
	case UnknownEmpty:
		return ""
	case UnknownDash:
		return "-"
	case UnknownNull:
		return json.RawMessage("null")
	case UnknownAbsent:
		return nil
	}
	return value
}
