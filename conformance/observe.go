package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Observation is what was seen of a point that the contract leaves open. Name is a field of mockserver.Assumptions.
// Value is in the notation of fiscope-mock -assume; nil if it was not seen.
type Observation struct {
	Name  string  `json:"name"`
	Value *string `json:"value"`
}

// points are the fields of mockserver.Assumptions, in order.
var points = []struct {
	name    string
	section string               // of docs/contract.md; several are separated by ", "
	ours    string               // the mock's default
	see     func(*record) string // returns "" if it was not seen; nil if it cannot be seen from outside
}{
	{"MissingKey", "5.4", "401:UNAUTHORIZED", func(r *record) string { return r.keyRefusal(noKey) }},
	{"InvalidKey", "5.4", "401:UNAUTHORIZED", func(r *record) string { return r.keyRefusal(badKey) }},
	{"QuotaExceeded", "7, 8", "429:QUOTA_EXCEEDED", nil},
	{"Quota", "8", "1000", (*record).quota},
	{"ResetZone", "8", "America/Lima", (*record).resetZone},
	{"ChargeFailures", "8", "true", (*record).chargeFailures},
	{"HeadersEverywhere", "8", "false", func(r *record) string { return r.haveLimits((*exchange).succeeded, search, validation, rate) }},
	{"HeadersOnErrors", "4.1, 8", "true", func(r *record) string { return r.haveLimits((*exchange).isError, lookup) }},
	{"CodeInvalidRUC", "7", "INVALID_RUC", codeOf("4.1/10 digits are a 400", "4.1/12 digits are a 400", "4.1/a letter is a 400")},
	{"CodeInvalidLimit", "7", "INVALID_LIMIT", codeOf("4.2/limit 0 is a 400", "4.2/limit 51 is a 400", "4.2/limit -1 is a 400")},
	{"CodeMissingFields", "7", "MISSING_FIELDS", codeOf("2.3/claveSol is required", "2.3/serie is required")},
	{"CodeInvalidCPERUC", "7", "INVALID_RUC", codeOf("4.3/a malformed rucEmisor is a 400", "4.3/a malformed rucSolicitante is a 400")},
	{"CodeSUNATUnavailable", "7", "SUNAT_UNAVAILABLE", nil},
	{"CodeInvalidDate", "7", "INVALID_DATE", codeOf("4.4/DD-MM-YYYY with slashes is a 400", "4.4/YYYY-M-D is a 400", "4.4/YYYYMMDD is a 400")},
	{"Unknown", "2.1", "as-put", (*record).unknown},
	{"Estados", "3.1", "tabla", (*record).estados},
	{"BlockedSOL", "4.3", "401:INVALID_SOL_CREDENTIALS", nil},
	{"BlockAfter", "4.3", "3", nil},
	{"BlockFor", "4.3", "30m0s", nil},
}

// observe returns what was seen of each point, except a text with a secret or too long to be a code.
func observe(r *record) (seen []Observation) {
	for _, p := range points {
		o := Observation{Name: p.name}
		if p.see != nil {
			if value := p.see(r); value != "" && len(value) <= mostShown && r.secrets.hide(value) == value {
				o.Value = &value
			}
		}
		seen = append(seen, o)
	}
	return seen
}

// isError reports whether it was answered with 4xx or 5xx.
func (x *exchange) isError() bool { return x.has() && x.answer.status >= 400 && x.answer.status <= 599 }

// keyRefusal returns how a lookup's key was refused; "" if it was not answered with an error.
func (r *record) keyRefusal(key keyKind) string {
	x := r.named[keyName(lookup, key)]
	if !x.isError() {
		return ""
	}
	code, _ := x.object()["code"].(string)
	return fmt.Sprintf("%d:%s", x.answer.status, code)
}

// alone returns the only distinct text; "" if there are several or none.
func alone(texts []string) string {
	slices.Sort(texts)
	if texts = slices.Compact(texts); len(texts) == 1 {
		return texts[0]
	}
	return ""
}

// codeOf returns the code of the first of some questions that was answered with a 400 and a code.
func codeOf(names ...string) func(*record) string {
	return func(r *record) string {
		for _, name := range names {
			if x := r.named[name]; x.has() && x.answer.status == http.StatusBadRequest {
				if code, _ := x.object()["code"].(string); strings.TrimSpace(code) != "" {
					return code
				}
			}
		}
		return ""
	}
}

// unknown returns how lookups write a field without a value; "" if none was seen, or not all in one way.
func (r *record) unknown() string {
	var seen []string
	for _, t := range r.taxpayers(lookup) {
		for _, field := range []string{"direccion", "ubigeo", "departamento", "provincia", "distrito", "tipo", "actividadEconomica", "fechaInscripcion", "fechaInicioActividades"} {
			if written := map[string]string{"not there": "absent", "null": "null", `""`: "empty", `"-"`: "dash"}[member(t.object, field)]; written != "" {
				seen = append(seen, written)
			}
		}
	}
	return alone(seen)
}

// estados returns which spelling the states have: the table's, unless one that it lacks was seen.
func (r *record) estados() (spelling string) {
	for _, t := range r.taxpayers(lookup, search) {
		switch t.object["estado"] {
		case "BAJA", "SUSPENSIÓN":
			return "lista"
		case "SUSPENSION TEMPORAL": // from the registry's file, in neither list of the contract
			return "sunat"
		case "BAJA PROVISIONAL", "BAJA DEFINITIVA", "SUSPENSIÓN TEMPORAL":
			spelling = "tabla"
		}
	}
	return spelling
}
