package mockserver

import (
	"errors"
	"fmt"
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
	// Quota is the daily quota of the server's own key, in calls (8). Default 1000; 0 refuses every call,
	// Unlimited none. WithQuota overrides it.
	Quota int
	// ResetZone is the zone at whose midnight the quota begins anew (8). Default fiscope.Lima.
	ResetZone *time.Location
	// ChargeFailures is whether a call that is not answered with 2xx consumes quota too (8). A 401 for the
	// key and a spent quota never do. Default true. When false the call is charged and then given back, so
	// a failure in flight can make a concurrent last call be refused.
	ChargeFailures bool
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

	// Estados is which spelling of a taxpayer's estado is served (3.1). Default EstadosTabla.
	Estados Vocabulario
	// BlockAfter is after how many wrong attempts in a row the tax authority blocks a SOL user (4.3).
	// Default 3, a strict value for tests: the real one is published nowhere. 0 blocks never.
	BlockAfter int
	// BlockFor is how long the block lasts (4.3). Default 30 minutes, as invented as BlockAfter.
	BlockFor time.Duration
	// PublicationDelay is how long after 17:00 Lima a day's rate appears (4.4: "normally" then, and none
	// for "very recent days"). Default 0.
	PublicationDelay time.Duration
}

// Refusal is the status and the body code of an error answer that the contract does not show.
type Refusal struct {
	Status int    // 400 to 599
	Code   string // not empty
}

// DefaultAssumptions returns the readings that the table in the package documentation gives.
func DefaultAssumptions() Assumptions {
	return Assumptions{
		MissingKey:     Refusal{401, "UNAUTHORIZED"},
		InvalidKey:     Refusal{401, "UNAUTHORIZED"},
		QuotaExceeded:  Refusal{429, "QUOTA_EXCEEDED"},
		Quota:          1000,
		ResetZone:      fiscope.Lima,
		ChargeFailures: true,

		HeadersOnErrors: true,

		CodeInvalidRUC:       "INVALID_RUC",
		CodeInvalidLimit:     "INVALID_LIMIT",
		CodeMissingFields:    "MISSING_FIELDS",
		CodeInvalidCPERUC:    "INVALID_RUC",
		CodeInvalidField:     "INVALID_FIELD",
		CodeInvalidDate:      "INVALID_DATE",
		CodeSUNATUnavailable: "SUNAT_UNAVAILABLE",

		Estados:    EstadosTabla,
		BlockAfter: 3,
		BlockFor:   30 * time.Minute,
	}
}

// validate refuses a value that was not built from DefaultAssumptions, or that breaks what the contract
// does say: an error has a status and a code.
func (a Assumptions) validate() error {
	for _, r := range []struct {
		field string
		Refusal
	}{{"MissingKey", a.MissingKey}, {"InvalidKey", a.InvalidKey}, {"QuotaExceeded", a.QuotaExceeded}} {
		if r.Status < 400 || r.Status > 599 || r.Code == "" {
			return fmt.Errorf("Assumptions.%s is %d %q: give a status of 400 to 599 and a code (begin with DefaultAssumptions)", r.field, r.Status, r.Code)
		}
	}
	for _, c := range []struct{ field, code string }{
		{"CodeInvalidRUC", a.CodeInvalidRUC}, {"CodeInvalidLimit", a.CodeInvalidLimit},
		{"CodeMissingFields", a.CodeMissingFields}, {"CodeInvalidCPERUC", a.CodeInvalidCPERUC},
		{"CodeInvalidField", a.CodeInvalidField}, {"CodeInvalidDate", a.CodeInvalidDate},
		{"CodeSUNATUnavailable", a.CodeSUNATUnavailable},
	} {
		if c.code == "" {
			return fmt.Errorf("Assumptions.%s is empty: begin with DefaultAssumptions", c.field)
		}
	}
	switch {
	case a.Quota < Unlimited:
		return errors.New("Assumptions.Quota is below Unlimited (-1)")
	case a.ResetZone == nil:
		return errors.New("Assumptions.ResetZone is nil: begin with DefaultAssumptions")
	case !a.Estados.known():
		return fmt.Errorf("Assumptions.Estados is %q: give EstadosTabla, EstadosLista or EstadosSUNAT", string(a.Estados))
	case a.BlockAfter < 0 || a.BlockFor < 0:
		return errors.New("Assumptions.BlockAfter and BlockFor cannot be negative")
	case a.BlockAfter > 0 && a.BlockFor == 0:
		return errors.New("Assumptions.BlockFor is 0: to never block, set BlockAfter to 0")
	case a.PublicationDelay < 0:
		return errors.New("Assumptions.PublicationDelay is negative: no rate appears before 17:00")
	}
	return nil
}

// Reading is one way to read the contract: the default, or the default with one field changed.
type Reading struct {
	Name        string // "default", or the field with its value: "QuotaExceeded=403 FORBIDDEN"
	Assumptions Assumptions
}

// Readings returns the default reading, and each field of [Assumptions] changed to each other value that
// services like this one are known for.
func Readings() []Reading {
	readings := []Reading{{"default", DefaultAssumptions()}}
	other := func(name string, change func(*Assumptions)) {
		a := DefaultAssumptions()
		change(&a)
		readings = append(readings, Reading{name, a})
	}
	other("MissingKey=403 FORBIDDEN", func(a *Assumptions) { a.MissingKey = Refusal{403, "FORBIDDEN"} })
	other("MissingKey=400 BAD_REQUEST", func(a *Assumptions) { a.MissingKey = Refusal{400, "BAD_REQUEST"} })
	other("InvalidKey=403 FORBIDDEN", func(a *Assumptions) { a.InvalidKey = Refusal{403, "FORBIDDEN"} })
	other("QuotaExceeded=403 QUOTA_EXCEEDED", func(a *Assumptions) { a.QuotaExceeded = Refusal{403, "QUOTA_EXCEEDED"} })
	other("QuotaExceeded=401 UNAUTHORIZED", func(a *Assumptions) { a.QuotaExceeded = Refusal{401, "UNAUTHORIZED"} })
	other("QuotaExceeded=503 UNAVAILABLE", func(a *Assumptions) { a.QuotaExceeded = Refusal{503, "UNAVAILABLE"} })
	other("Quota=Unlimited", func(a *Assumptions) { a.Quota = Unlimited })
	other("ResetZone=UTC", func(a *Assumptions) { a.ResetZone = time.UTC })
	other("ChargeFailures=false", func(a *Assumptions) { a.ChargeFailures = false })
	other("HeadersEverywhere=true", func(a *Assumptions) { a.HeadersEverywhere = true })
	other("HeadersOnErrors=false", func(a *Assumptions) { a.HeadersOnErrors = false })
	const one = "BAD_REQUEST" // one code for all that is wrong with a request
	other("CodeInvalidRUC=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidRUC = one })
	other("CodeInvalidLimit=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidLimit = one })
	other("CodeMissingFields=BAD_REQUEST", func(a *Assumptions) { a.CodeMissingFields = one })
	other("CodeInvalidCPERUC=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidCPERUC = one })
	other("CodeInvalidField=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidField = one })
	other("CodeInvalidDate=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidDate = one })
	other("CodeSUNATUnavailable=INTERNAL_ERROR", func(a *Assumptions) { a.CodeSUNATUnavailable = "INTERNAL_ERROR" })
	other("Estados=lista", func(a *Assumptions) { a.Estados = EstadosLista })
	other("Estados=sunat", func(a *Assumptions) { a.Estados = EstadosSUNAT })
	other("BlockAfter=1", func(a *Assumptions) { a.BlockAfter = 1 })
	other("BlockAfter=0", func(a *Assumptions) { a.BlockAfter = 0 })
	other("BlockFor=24h", func(a *Assumptions) { a.BlockFor = 24 * time.Hour })
	other("PublicationDelay=16h", func(a *Assumptions) { a.PublicationDelay = 16 * time.Hour })
	return readings
}

// EachAssumption runs a test under every reading of what the contract leaves open, a subtest each: what
// passes in all of them does not depend on a guess. With [testing.T]:
//
//	mockserver.EachAssumption(t, func(t *testing.T, a mockserver.Assumptions) {
//		srv := mockserver.New(t, mockserver.WithAssumptions(a))
//		...
//	})
func EachAssumption[TB interface {
	Run(name string, test func(TB)) bool
}](t TB, test func(TB, Assumptions)) {
	for _, r := range Readings() {
		t.Run(r.Name, func(t TB) { test(t, r.Assumptions) })
	}
}
