package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Observation is what was seen of something that the contract leaves open. The name is that of a field of
// mockserver.Assumptions, and the value is in the notation of fiscope-mock -assume; nil where it was not seen.
type Observation struct {
	Name  string  `json:"name"`
	Value *string `json:"value"`
}

// point is something that the contract leaves open.
type point struct {
	name    string
	section string // of docs/contrato.md; several with ", " between
	kind    valueKind
	ours    string                // what the mock does by default
	see     func(*record) *string // nil for a point that cannot be seen from outside
}

// valueKind is how Go writes the value of a point.
type valueKind int

const (
	ofRefusal  valueKind = iota // 401:UNAUTHORIZED
	ofText                      // a code, or a form
	ofValue                     // a number, true or false
	ofZone                      // America/Lima
	ofDuration                  // 30m0s
)

// points are those of mockserver.Assumptions, in their order.
var points = []point{
	{"MissingKey", "5.4", ofRefusal, "401:UNAUTHORIZED", func(r *record) *string { return r.keyRefusal(askNoKey) }},
	{"InvalidKey", "5.4", ofRefusal, "401:UNAUTHORIZED", func(r *record) *string { return r.keyRefusal(askBadKey) }},
	{"QuotaExceeded", "7, 8", ofRefusal, "429:QUOTA_EXCEEDED", nil},
	{"KeyBody", "5.4, 7", ofText, "contract", (*record).keyBody},
	{"QuotaBody", "7, 8", ofText, "contract", nil},
	{"Quota", "8", ofValue, "1000", (*record).quota},
	{"ResetZone", "8", ofZone, "America/Lima", (*record).resetZone},
	{"ResetRolling", "8", ofValue, "false", (*record).resetRolling},
	{"ResetForm", "8", ofText, "seconds", (*record).resetForm},
	{"QuotaRetryAfter", "7, 8", ofText, "none", nil},
	{"ChargeFailures", "8", ofValue, "true", (*record).chargeFailures},
	{"ChargeInvalid", "8", ofValue, "true", func(r *record) *string { return r.chargeOf(invalid) }},
	{"ChargeSOLRefused", "8", ofValue, "true", func(r *record) *string { return r.chargeOf(solRefused) }},
	{"ChargeNotFound", "8", ofValue, "true", func(r *record) *string { return r.chargeOf(notFound) }},
	{"ChargeUnavailable", "8", ofValue, "true", func(r *record) *string { return r.chargeOf(unavailable) }},
	{"HeadersEverywhere", "8", ofValue, "false", (*record).headersEverywhere},
	{"HeadersOnErrors", "4.1, 8", ofValue, "true", (*record).headersOnErrors},
	{"CodeInvalidRUC", "7", ofText, "INVALID_RUC", codeOf(http.StatusBadRequest, askTenDigits, askTwelveDigits, askLetter)},
	{"CodeInvalidLimit", "7", ofText, "INVALID_LIMIT", codeOf(http.StatusBadRequest, askLimitZero, askLimitOver, askLimitBelow)},
	{"CodeMissingFields", "7", ofText, "MISSING_FIELDS", codeOf(http.StatusBadRequest, askWithout+"claveSol", askWithout+"serie")},
	{"CodeInvalidCPERUC", "7", ofText, "INVALID_RUC", codeOf(http.StatusBadRequest, askMalformed+"rucEmisor", askMalformed+"rucSolicitante")},
	{"CodeInvalidField", "2.3, 7", ofText, "INVALID_FIELD", codeOf(http.StatusBadRequest, askOtherTipo)},
	{"CodeInvalidDate", "7", ofText, "INVALID_DATE", codeOf(http.StatusBadRequest, askDayFirst, askUnpadded, askNoDashes)},
	{"CodeSUNATUnavailable", "7", ofText, "SUNAT_UNAVAILABLE", codeOf(http.StatusInternalServerError, askReceipt+"1")},
	{"Unknown", "2.1", ofText, "as-put", (*record).unknown},
	{"CountBlanks", "4.2", ofValue, "false", (*record).countBlanks},
	{"SearchByWords", "4.2", ofValue, "false", (*record).searchByWords},
	{"Estados", "3.1", ofText, "tabla", (*record).estados},
	{"PrincipalSOL", "4.3", ofRefusal, "401:INVALID_SOL_CREDENTIALS", nil},
	{"BlockedSOL", "4.3", ofRefusal, "401:INVALID_SOL_CREDENTIALS", nil},
	{"UnknownSOL", "4.3, 7", ofRefusal, "401:INVALID_SOL_CREDENTIALS", nil},
	{"BlockAfter", "4.3", ofValue, "3", nil},
	{"BlockFor", "4.3", ofDuration, "30m0s", nil},
	{"PublicationDelay", "4.4", ofDuration, "0s", nil},
	{"ImpossibleDateNotFound", "4.4", ofValue, "false", (*record).impossibleDateNotFound},
}

// observe returns what was seen of each point, but for a text with a secret and one that is too long to be a code.
func observe(r *record) (seen []Observation) {
	for _, p := range points {
		o := Observation{Name: p.name}
		if p.see != nil {
			if value := p.see(r); value != nil && len(*value) <= mostShown && r.secrets.hide(*value) == *value {
				o.Value = value
			}
		}
		seen = append(seen, o)
	}
	return seen
}

// answerTo is the exchange of a question that has an answer, nil for none.
func (r *record) answerTo(name string) *exchange {
	x := r.named[name]
	if x == nil || x.unsent != nil || x.failed != nil {
		return nil
	}
	return x
}

// keyRefusal is how a lookup's key was refused. The mock refuses with an error and nothing else.
func (r *record) keyRefusal(ask string) *string {
	x := r.answerTo(ask + string(lookup))
	if x == nil || x.answer.status < http.StatusBadRequest || x.answer.status > 599 {
		return nil
	}
	code, _ := x.object()["code"].(string)
	return value(fmt.Sprintf("%d:%s", x.answer.status, code))
}

// keyBody is the form of the bodies that refuse a key, where all have one, and the mock has it.
func (r *record) keyBody() *string {
	var form *string
	for _, ask := range []string{askNoKey, askBadKey} {
		x := r.answerTo(ask + string(lookup))
		if x == nil || x.answer.status < http.StatusBadRequest {
			continue
		}
		its := x.errorBody()
		if its == "" || form != nil && *form != its {
			return nil
		}
		form = &its
	}
	return form
}

// errorBody is the form of an error's body, "" for one that the mock does not have.
func (x *exchange) errorBody() string {
	body := x.object()
	_, says := body["error"].(string)
	_, codes := body["code"].(string)
	_, tells := body["message"].(string)
	switch {
	case x.answer.cut != nil:
		return ""
	case len(x.answer.body) == 0:
		return "empty"
	case says && codes:
		return "contract"
	case says:
		return "no-code"
	case tells:
		return "message"
	case strings.HasPrefix(x.answer.header.Get("Content-Type"), "text/html"):
		return "page"
	}
	return ""
}

// codeOf is the code of the first of some questions that was answered with a status and a code.
func codeOf(status int, names ...string) func(*record) *string {
	return func(r *record) *string {
		for _, name := range names {
			if x := r.answerTo(name); x != nil && x.answer.status == status {
				if code, _ := x.object()["code"].(string); strings.TrimSpace(code) != "" {
					return &code
				}
			}
		}
		return nil
	}
}

// unknown is how a lookup writes a field that has no value, where one was seen, and all in one way.
func (r *record) unknown() *string {
	var seen []string
	for _, name := range []string{askLookup, askFound} {
		taxpayer, ok := r.valueOf(name).(map[string]any)
		if !ok {
			continue
		}
		for _, field := range []string{"direccion", "ubigeo", "departamento", "provincia", "distrito", "tipo", "actividadEconomica",
			"fechaInscripcion", "fechaInicioActividades"} {
			switch text, there := taxpayer[field]; {
			case !there:
				seen = append(seen, "absent")
			case text == nil:
				seen = append(seen, "null")
			case text == "":
				seen = append(seen, "empty")
			case text == "-":
				seen = append(seen, "dash")
			}
		}
	}
	if seen = slices.Compact(seen); len(seen) == 1 {
		return &seen[0]
	}
	return nil
}

func (r *record) countBlanks() *string {
	x := r.answerTo(askBlanks)
	switch {
	case x == nil:
		return nil
	case x.answer.status == http.StatusOK:
		return truth(true)
	case x.object()["code"] == "SEARCH_TOO_SHORT":
		return truth(false)
	}
	return nil
}

func (r *record) searchByWords() *string {
	found, ok := r.valueOf(askWords).([]any)
	finds := slices.Contains(rucs(found), r.named[askLookup].ruc())
	if !ok || !finds && len(found) >= mostResults {
		return nil
	}
	return truth(finds)
}

// estados is the spelling of the states: that of the table, unless one was seen that it does not have.
func (r *record) estados() *string {
	var spelling *string
	for _, x := range r.exchanges {
		taxpayers, _ := r.valueOf(x.name).([]any)
		if x.request.op == lookup {
			taxpayers = []any{r.valueOf(x.name)}
		}
		for _, one := range taxpayers {
			taxpayer, _ := one.(map[string]any)
			switch taxpayer["estado"] {
			case "BAJA", "SUSPENSIÓN":
				return value("lista")
			case "SUSPENSION TEMPORAL": // of the registry's file, in neither list of the contract
				return value("sunat")
			case "BAJA PROVISIONAL", "BAJA DEFINITIVA", "SUSPENSIÓN TEMPORAL":
				spelling = value("tabla")
			}
		}
	}
	return spelling
}

func (r *record) impossibleDateNotFound() *string {
	switch x := r.answerTo(askImpossible); {
	case x == nil:
		return nil
	case x.answer.status == http.StatusNotFound:
		return truth(true)
	case x.answer.status == http.StatusBadRequest:
		return truth(false)
	}
	return nil
}
