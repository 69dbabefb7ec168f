package mockserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/relevance"
)

// Assumptions is how the mock interprets what docs/contract.md (sections in parentheses) leaves open. Start from
// [DefaultAssumptions] and change fields.
type Assumptions struct {
	MissingKey           Refusal        // answers a request without the X-API-KEY header (5.4)
	InvalidKey           Refusal        // answers a key that the server does not know (5.4)
	QuotaExceeded        Refusal        // answers a call when the day's quota is spent (7, 8)
	Quota                int            // the daily quota of the server's own key (8), unless WithQuota or WithData sets it
	ResetZone            *time.Location // the quota resets at midnight in this zone (8)
	ChargeFailures       bool           // answers other than 2xx also cost a query (8), except for a refused key and a spent quota
	HeadersEverywhere    bool           // every operation has the rate-limit headers, not only lookup (8)
	HeadersOnErrors      bool           // an error has them if its success would (4.1, 8)
	CodeInvalidRUC       string         // for a lookup's 400 (7)
	CodeInvalidLimit     string         // for a search's 400 about limit (7)
	CodeMissingFields    string         // for a receipt validation's 400 about missing, null or empty fields (7)
	CodeInvalidCPERUC    string         // for a receipt validation's 400 about a malformed RUC (7)
	CodeSUNATUnavailable string         // for a receipt validation's 500 (7)
	CodeInvalidDate      string         // for an exchange rate's 400 (7)
	Unknown              Unknown        // how a lookup writes a field set to "" or "-" (2.1), except ruc, razonSocial, estado, condicion
	Estados              Vocabulario    // the spelling of a taxpayer's estado (3.1)
	BlockedSOL           Refusal        // answers a validation with a blocked user's credentials (4.3)
	BlockAfter           int            // consecutive wrong attempts that block a SOL user (4.3); 0 means never
	BlockFor             time.Duration  // how long the block lasts (4.3)
}

// Refusal is an error answer that the contract does not show.
type Refusal struct {
	Status int    // 400 to 599
	Code   string // "" is sent as an empty code
}

// refusal returns the error answer.
func (r Refusal) refusal(format string, args ...any) answer {
	return refusal(r.Status, r.Code, format, args...)
}

// DefaultAssumptions returns the defaults. [OpenPoints] gives the reasons.
func DefaultAssumptions() Assumptions {
	return Assumptions{
		MissingKey:    Refusal{401, "UNAUTHORIZED"},
		InvalidKey:    Refusal{401, "UNAUTHORIZED"},
		QuotaExceeded: Refusal{429, "QUOTA_EXCEEDED"},
		Quota:         1000,
		ResetZone:     fiscope.Lima,

		ChargeFailures:  true,
		HeadersOnErrors: true,

		CodeInvalidRUC:       "INVALID_RUC",
		CodeInvalidLimit:     "INVALID_LIMIT",
		CodeMissingFields:    "MISSING_FIELDS",
		CodeInvalidCPERUC:    "INVALID_RUC",
		CodeSUNATUnavailable: "SUNAT_UNAVAILABLE",
		CodeInvalidDate:      "INVALID_DATE",

		Unknown:    UnknownAsPut,
		Estados:    EstadosTabla,
		BlockedSOL: Refusal{401, codeInvalidSOL},
		BlockAfter: defaultBlockAfter,
		BlockFor:   defaultBlockFor,
	}
}

// validate returns an error for values not based on DefaultAssumptions, or that make an error a success.
func (a Assumptions) validate() error {
	for field, v := range reflect.ValueOf(a).Fields() {
		switch value := v.Interface().(type) {
		case Refusal:
			if value.Status < 400 || value.Status > 599 {
				return fmt.Errorf("%s es %d %q: dé un estado de 400 a 599", field.Name, value.Status, value.Code)
			}
		case string: // a code
			if value == "" {
				return fmt.Errorf("%s está vacío: dé un código", field.Name)
			}
		}
	}
	switch {
	case a.Quota < Unlimited:
		return errors.New("Quota es menor que -1, que es sin límite")
	case a.ResetZone == nil:
		return errors.New("ResetZone está vacío: dé una zona horaria")
	case a.BlockAfter < 0 || a.BlockFor < 0:
		return errors.New("BlockAfter y BlockFor no pueden ser negativos")
	case a.BlockAfter > 0 && a.BlockFor == 0:
		return errors.New("BlockFor es 0: para no bloquear nunca, ponga BlockAfter en 0")
	}
	return cmp.Or(oneOf("Unknown", a.Unknown, unknowns), oneOf("Estados", a.Estados, vocabularios))
}

// oneOf returns an error if value is not in the field's list.
func oneOf[S ~string](field string, value S, values []S) error {
	if slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("%s es %q: los valores son %q", field, string(value), values)
}

// limits reports whether an operation's answers have the rate-limit headers.
func (a *Assumptions) limits(op Operation) bool { return op == OpConsultar || a.HeadersEverywhere }

// charges reports whether an answer with this status costs a query.
func (a *Assumptions) charges(status int) bool { return status < 300 || a.ChargeFailures }

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
