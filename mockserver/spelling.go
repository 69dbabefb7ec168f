package mockserver

import (
	"encoding/json"
	"strings"

	"github.com/fiscope/fiscope/internal/relevance"
)

// Unknown says how a lookup writes a field without a value.
type Unknown string

// The ways to write a field set to "" or "-".
const (
	UnknownAsPut  Unknown = "as-put" // unchanged, except an ordinary value in ubigeo and the dates, which have a form
	UnknownEmpty  Unknown = "empty"  // ""
	UnknownDash   Unknown = "dash"   // "-", as in the registry's file
	UnknownNull   Unknown = "null"   // null
	UnknownAbsent Unknown = "absent" // without the member
)

var unknowns = []Unknown{UnknownAsPut, UnknownEmpty, UnknownDash, UnknownNull, UnknownAbsent}

// value returns the value of a field: nil for none, since its tag has omitempty.
func (u Unknown) value(put, conforming string) any {
	if put != "" && put != "-" {
		return put
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
	return conforming
}

// Vocabulario is one spelling of the taxpayer states (docs/contract.md, 3.1).
type Vocabulario string

// The vocabularies. An unknown state stays as it is.
const (
	EstadosTabla Vocabulario = "tabla" // the status table (3.1): BAJA PROVISIONAL, BAJA DEFINITIVA, SUSPENSIÓN TEMPORAL
	EstadosLista Vocabulario = "lista" // the field description (3.1): BAJA, SUSPENSIÓN
	EstadosSUNAT Vocabulario = "sunat" // the registry's own: no accents, cut at 20 characters
)

var vocabularios = []Vocabulario{EstadosTabla, EstadosLista, EstadosSUNAT}

// estado returns a stored state in this vocabulary.
func (v Vocabulario) estado(stored string) string {
	switch v {
	case EstadosLista:
		switch {
		case strings.HasPrefix(stored, "BAJA"):
			return "BAJA"
		case strings.HasPrefix(stored, "SUSPENSI"):
			return "SUSPENSIÓN"
		}
	case EstadosSUNAT:
		plain := []rune(strings.ToUpper(relevance.Fold(stored)))
		return string(plain[:min(len(plain), 20)])
	case EstadosTabla:
		if stored == "SUSPENSION TEMPORAL" {
			return "SUSPENSIÓN TEMPORAL"
		}
	}
	return stored
}
