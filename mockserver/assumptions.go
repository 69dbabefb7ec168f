package mockserver

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/fiscope/fiscope"
)

// Assumptions is how this mock reads what the contract (docs/contrato.md) calls "not shown" or leaves
// undetermined: one field each, with the section in parentheses. The table in the package documentation has
// every field's default, section and reason. It is a plain comparable value: take [DefaultAssumptions],
// change fields, and give it to [WithAssumptions].
type Assumptions struct {
	// MissingKey answers a request without the X-API-KEY header (5.4). Default 401 UNAUTHORIZED.
	MissingKey Refusal
	// InvalidKey answers a key that the server does not know (5.4). Default 401 UNAUTHORIZED.
	InvalidKey Refusal
	// QuotaExceeded answers a call when the day's quota is spent (7, 8). Default 429 QUOTA_EXCEEDED.
	QuotaExceeded Refusal
	// KeyBody is the form of the answers to a missing or unknown key (5.4). Default ErrorBodyContract.
	KeyBody ErrorBody
	// QuotaBody is the form of the answer to a spent quota (7, 8). Default ErrorBodyContract.
	QuotaBody ErrorBody
	// Quota is the daily quota of the server's own key, in calls (8). Default 1000; 0 refuses every call,
	// Unlimited none. WithQuota, and data that name the key, override it; Server.Assumptions shows what is in force.
	Quota int
	// ResetZone is the zone at whose midnight the quota begins anew (8). Default fiscope.Lima.
	ResetZone *time.Location
	// ResetRolling is whether the quota begins anew 24 hours after the first call that used it, instead of at
	// midnight (8). Default false.
	ResetRolling bool
	// ResetForm is how X-RateLimit-Reset writes its instant in UTC (8). Default ResetSeconds.
	ResetForm ResetForm
	// QuotaRetryAfter is whether a spent quota carries Retry-After, and how (7, 8). Default RetryAfterNone.
	QuotaRetryAfter RetryAfterForm
	// ChargeFailures is whether a call that is not answered with 2xx consumes quota too (8). A 401 for the
	// key and a spent quota never do. Default true. When false the call is charged and then given back, so
	// a failure in flight can make a concurrent last call be refused.
	ChargeFailures bool
	// ChargeInvalid is whether, while ChargeFailures is true, a request that breaks a rule does: 400, and
	// any 4xx that the next two do not have (8). Default true.
	ChargeInvalid bool
	// ChargeSOLRefused is the same for refused SOL credentials: 401 and 403 (8). Default true.
	ChargeSOLRefused bool
	// ChargeNotFound is the same for what there is not: 404 (8). Default true.
	ChargeNotFound bool
	// ChargeUnavailable is the same for a service that fails: 5xx (8). Default true.
	ChargeUnavailable bool
	// HeadersEverywhere is whether the three operations other than lookup also carry the rate-limit
	// headers (8). Default false.
	HeadersEverywhere bool
	// HeadersOnErrors is whether an answer that is not 2xx carries the headers, where its success would
	// (4.1, 8). Default true. An answer to a missing or unknown key never does.
	HeadersOnErrors bool

	// CodeInvalidRUC is the code of a lookup's 400 (7). Default INVALID_RUC.
	CodeInvalidRUC string
	// CodeInvalidLimit is the code of a search's 400 for limit (7). Default INVALID_LIMIT.
	CodeInvalidLimit string
	// CodeMissingFields is the code of a receipt validation's 400 for fields that are missing, null or
	// empty (7). Default MISSING_FIELDS.
	CodeMissingFields string
	// CodeInvalidCPERUC is the code of a receipt validation's 400 for a malformed RUC (7). Default
	// INVALID_RUC.
	CodeInvalidCPERUC string
	// CodeInvalidField is the code of a receipt validation's 400 for a field of the wrong JSON type, a
	// tipoComprobante out of the list or a numero below 1 (2.3; 7 has no row for it). Default
	// INVALID_FIELD.
	CodeInvalidField string
	// CodeInvalidDate is the code of an exchange rate's 400 (7). Default INVALID_DATE.
	CodeInvalidDate string
	// CodeSUNATUnavailable is the code of a receipt validation's 500 (7). Default SUNAT_UNAVAILABLE.
	CodeSUNATUnavailable string

	// Unknown is how a lookup writes a field that has no value: one that was put as "" or "-" (2.1). Default
	// UnknownAsPut. It is applied to all fields but ruc, razonSocial, estado and condicion.
	Unknown Unknown
	// CountBlanks is whether the blanks around razonSocial count as characters of it (4.2). Default false.
	CountBlanks bool
	// SearchByWords is whether a search also finds the names that hold all words of the text, in any order and
	// without regard to punctuation, after those that hold the text as it is (4.2). Default false. A
	// [Registro] other than RegistroEnMemoria finds what it finds.
	SearchByWords bool

	// Estados is which spelling of a taxpayer's estado is served (3.1). Default EstadosTabla.
	Estados Vocabulario
	// PrincipalSOL answers a validation with a principal user's credentials, blocked or not (4.3). Default 401
	// INVALID_SOL_CREDENTIALS.
	PrincipalSOL Refusal
	// BlockedSOL answers one with a blocked user's (4.3). Default 401 INVALID_SOL_CREDENTIALS.
	BlockedSOL Refusal
	// UnknownSOL answers one with a user that rucSolicitante does not have (4.3). Default 401
	// INVALID_SOL_CREDENTIALS.
	UnknownSOL Refusal
	// BlockAfter is after how many wrong attempts in a row the tax authority blocks a SOL user (4.3).
	// Default 3, a strict value for tests: the real one is published nowhere. 0 blocks never.
	BlockAfter int
	// BlockFor is how long the block lasts (4.3). Default 30 minutes, as invented as BlockAfter.
	BlockFor time.Duration
	// PublicationDelay is how long after 17:00 Lima a day's rate appears (4.4: "normally" then, and none
	// for "very recent days"). Default 0.
	PublicationDelay time.Duration
	// ImpossibleDateNotFound is whether a fecha of the form YYYY-MM-DD that no calendar has, such as 30
	// February, is a date without a rate, 404 NOT_FOUND, instead of a 400 with CodeInvalidDate (4.4).
	// Default false.
	ImpossibleDateNotFound bool
}

// DefaultAssumptions returns the readings that the table in the package documentation gives.
func DefaultAssumptions() Assumptions {
	wrongSOL := Refusal{401, codeInvalidSOL}
	return Assumptions{
		MissingKey:      Refusal{401, "UNAUTHORIZED"},
		InvalidKey:      Refusal{401, "UNAUTHORIZED"},
		QuotaExceeded:   Refusal{429, "QUOTA_EXCEEDED"},
		KeyBody:         ErrorBodyContract,
		QuotaBody:       ErrorBodyContract,
		Quota:           1000,
		ResetZone:       fiscope.Lima,
		ResetForm:       ResetSeconds,
		QuotaRetryAfter: RetryAfterNone,

		ChargeFailures:    true,
		ChargeInvalid:     true,
		ChargeSOLRefused:  true,
		ChargeNotFound:    true,
		ChargeUnavailable: true,
		HeadersOnErrors:   true,

		CodeInvalidRUC:       "INVALID_RUC",
		CodeInvalidLimit:     "INVALID_LIMIT",
		CodeMissingFields:    "MISSING_FIELDS",
		CodeInvalidCPERUC:    "INVALID_RUC",
		CodeInvalidField:     "INVALID_FIELD",
		CodeInvalidDate:      "INVALID_DATE",
		CodeSUNATUnavailable: "SUNAT_UNAVAILABLE",

		Unknown:      UnknownAsPut,
		Estados:      EstadosTabla,
		PrincipalSOL: wrongSOL,
		BlockedSOL:   wrongSOL,
		UnknownSOL:   wrongSOL,
		BlockAfter:   3,
		BlockFor:     30 * time.Minute,
	}
}

// validate refuses a value that was not built from DefaultAssumptions, or that is no error where the contract
// has one.
func (a Assumptions) validate() error {
	for _, r := range []struct {
		field string
		Refusal
	}{
		{"MissingKey", a.MissingKey}, {"InvalidKey", a.InvalidKey}, {"QuotaExceeded", a.QuotaExceeded},
		{"PrincipalSOL", a.PrincipalSOL}, {"BlockedSOL", a.BlockedSOL}, {"UnknownSOL", a.UnknownSOL},
	} {
		if r.Status < 400 || r.Status > 599 {
			return cannotTake("Assumptions.%s is %d %q: give a status of 400 to 599 (begin with DefaultAssumptions)", "%s es %d %q: dé un estado de 400 a 599", r.field, r.Status, r.Code)
		}
	}
	for _, c := range []struct{ field, code string }{
		{"CodeInvalidRUC", a.CodeInvalidRUC}, {"CodeInvalidLimit", a.CodeInvalidLimit},
		{"CodeMissingFields", a.CodeMissingFields}, {"CodeInvalidCPERUC", a.CodeInvalidCPERUC},
		{"CodeInvalidField", a.CodeInvalidField}, {"CodeInvalidDate", a.CodeInvalidDate},
		{"CodeSUNATUnavailable", a.CodeSUNATUnavailable},
	} {
		if c.code == "" {
			return cannotTake("Assumptions.%s is empty: begin with DefaultAssumptions", "%s está vacío: dé un código", c.field)
		}
	}
	if err := cmp.Or(
		oneOf("KeyBody", a.KeyBody, errorBodies), oneOf("QuotaBody", a.QuotaBody, errorBodies),
		oneOf("ResetForm", a.ResetForm, resetForms), oneOf("QuotaRetryAfter", a.QuotaRetryAfter, retryAfterForms),
		oneOf("Unknown", a.Unknown, unknowns), oneOf("Estados", a.Estados, vocabularios),
	); err != nil {
		return err
	}
	switch {
	case a.Quota < Unlimited:
		return cannotTake("Assumptions.Quota is below Unlimited (-1)", "Quota es menor que -1, que es sin límite")
	case a.ResetZone == nil:
		return cannotTake("Assumptions.ResetZone is nil: begin with DefaultAssumptions", "ResetZone está vacío: dé una zona horaria")
	case a.BlockAfter < 0 || a.BlockFor < 0:
		return cannotTake("Assumptions.BlockAfter and BlockFor cannot be negative", "BlockAfter y BlockFor no pueden ser negativos")
	case a.BlockAfter > 0 && a.BlockFor == 0:
		return cannotTake("Assumptions.BlockFor is 0: to never block, set BlockAfter to 0", "BlockFor es 0: para no bloquear nunca, ponga BlockAfter en 0")
	case a.PublicationDelay < 0:
		return cannotTake("Assumptions.PublicationDelay is negative: no rate appears before 17:00", "PublicationDelay es negativo: ningún tipo de cambio aparece antes de las 17:00")
	}
	return nil
}

// oneOf refuses a value of a field that has a list of them.
func oneOf[S ~string](field string, value S, values []S) error {
	if slices.Contains(values, value) {
		return nil
	}
	return cannotTake("Assumptions.%s is %q: the values are %q (begin with DefaultAssumptions)", "%s es %q: los valores son %q", field, string(value), values)
}

// charges reports whether an answer with a status consumes quota.
func (a *Assumptions) charges(status int) bool {
	switch {
	case status < 300:
		return true
	case !a.ChargeFailures:
		return false
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return a.ChargeSOLRefused
	case status == http.StatusNotFound:
		return a.ChargeNotFound
	case status >= 500:
		return a.ChargeUnavailable
	case status >= 400:
		return a.ChargeInvalid
	}
	return true // a redirect, of a fault
}

// ofSOL is the refusal of a SOL attempt that was not accepted.
func (a *Assumptions) ofSOL(o outcome) Refusal {
	switch {
	case o.principal:
		return a.PrincipalSOL
	case o.result == SOLBlocked:
		return a.BlockedSOL
	case o.result == SOLUnknown:
		return a.UnknownSOL
	}
	return Refusal{http.StatusUnauthorized, codeInvalidSOL} // wrong, as the contract has it
}
