package mockserver

import (
	"strings"

	"github.com/fiscope/fiscope/internal/relevance"
)

// Vocabulario is one spelling of the taxpayer states. docs/contrato.md, 3.1, gives two lists and does not say
// which one a response uses; the registry that the data come from has a third.
type Vocabulario string

// The vocabularies. They change only the states they know: "BAJA DE OFICIO" stays as it is in the
// contract's table, and ACTIVO is the same in all.
const (
	EstadosTabla Vocabulario = "tabla" // the status table (3.1): BAJA PROVISIONAL, BAJA DEFINITIVA, SUSPENSIÓN TEMPORAL
	EstadosLista Vocabulario = "lista" // the field description (3.1): BAJA, SUSPENSIÓN
	EstadosSUNAT Vocabulario = "sunat" // the registry's own: no accents, cut at 20 characters
)

var vocabularios = []Vocabulario{EstadosTabla, EstadosLista, EstadosSUNAT}

// estado writes a stored state in this vocabulary.
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
