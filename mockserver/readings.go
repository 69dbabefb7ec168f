package mockserver

import (
	"slices"
	"time"
)

// OpenPoint is a field of [Assumptions] with the reason for its default.
type OpenPoint struct {
	Field   string
	Section string // of docs/contract.md; several separated by ", "
	Reason  string // for the default
}

// OpenPoints returns the fields of [Assumptions], in their order.
func OpenPoints() []OpenPoint { return slices.Clone(openPoints) }

var openPoints = []OpenPoint{
	{"MissingKey", "5.4", "the status HTTP has for it"},
	{"InvalidKey", "5.4", "as for MissingKey; the error texts differ"},
	{"QuotaExceeded", "7, 8", "the status HTTP has for it"},
	{"Quota", "8", "enough for a test suite, small enough to reach"},
	{"ResetZone", "8", `a "daily" quota of a Peruvian service: 05:00 UTC`},
	{"ChargeFailures", "8", `"each call ... consumes 1 query"`},
	{"HeadersEverywhere", "8", "documented for lookup only"},
	{"HeadersOnErrors", "4.1, 8", `"response carries", whatever its status`},
	{"CodeInvalidRUC", "7", "says what it is"},
	{"CodeInvalidLimit", "7", "says what it is"},
	{"CodeMissingFields", "7", "says what it is"},
	{"CodeInvalidCPERUC", "7", "the same fault as in lookup"},
	{"CodeSUNATUnavailable", "7", "says what it is"},
	{"CodeInvalidDate", "7", "says what it is"},
	{"Unknown", "2.1", "a record is served as it was put"},
	{"Estados", "3.1", "the table, with meanings; the other list has none"},
	{"BlockedSOL", "4.3", "an answer must not help to guess credentials"},
	{"BlockAfter", "4.3", "a strict value for tests: published nowhere"},
	{"BlockFor", "4.3", "as invented; while it lasts the right clave is refused too"},
}

// Reading is the default [Assumptions], or a copy with one field changed.
type Reading struct {
	Name        string // "default", or the change: "QuotaExceeded=403 QUOTA_EXCEEDED"
	Assumptions Assumptions
}

// badRequest is one code for all invalid requests.
const badRequest = "BAD_REQUEST"

// Readings returns the default, and for each field its other usual values.
func Readings() []Reading {
	readings := []Reading{{"default", DefaultAssumptions()}}
	other := func(name string, change func(*Assumptions)) {
		a := DefaultAssumptions()
		change(&a)
		readings = append(readings, Reading{name, a})
	}
	other("MissingKey=403 FORBIDDEN", func(a *Assumptions) { a.MissingKey = Refusal{403, "FORBIDDEN"} })
	other("MissingKey=400 BAD_REQUEST", func(a *Assumptions) { a.MissingKey = Refusal{400, badRequest} })
	other("InvalidKey=403 FORBIDDEN", func(a *Assumptions) { a.InvalidKey = Refusal{403, "FORBIDDEN"} })
	other("InvalidKey=401 with an empty code", func(a *Assumptions) { a.InvalidKey = Refusal{401, ""} })
	other("QuotaExceeded=403 QUOTA_EXCEEDED", func(a *Assumptions) { a.QuotaExceeded = Refusal{403, "QUOTA_EXCEEDED"} })
	other("QuotaExceeded=401 UNAUTHORIZED", func(a *Assumptions) { a.QuotaExceeded = Refusal{401, "UNAUTHORIZED"} })
	other("QuotaExceeded=503 UNAVAILABLE", func(a *Assumptions) { a.QuotaExceeded = Refusal{503, "UNAVAILABLE"} })
	other("QuotaExceeded=429 with an empty code", func(a *Assumptions) { a.QuotaExceeded = Refusal{429, ""} })
	other("Quota=Unlimited", func(a *Assumptions) { a.Quota = Unlimited })
	other("ResetZone=UTC", func(a *Assumptions) { a.ResetZone = time.UTC })
	other("ChargeFailures=false", func(a *Assumptions) { a.ChargeFailures = false })
	other("HeadersEverywhere=true", func(a *Assumptions) { a.HeadersEverywhere = true })
	other("HeadersOnErrors=false", func(a *Assumptions) { a.HeadersOnErrors = false })
	other("CodeInvalidRUC=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidRUC = badRequest })
	other("CodeInvalidLimit=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidLimit = badRequest })
	other("CodeMissingFields=BAD_REQUEST", func(a *Assumptions) { a.CodeMissingFields = badRequest })
	other("CodeInvalidCPERUC=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidCPERUC = badRequest })
	other("CodeSUNATUnavailable=INTERNAL_ERROR", func(a *Assumptions) { a.CodeSUNATUnavailable = "INTERNAL_ERROR" })
	other("CodeInvalidDate=BAD_REQUEST", func(a *Assumptions) { a.CodeInvalidDate = badRequest })
	for _, unknown := range unknowns[1:] {
		other("Unknown="+string(unknown), func(a *Assumptions) { a.Unknown = unknown })
	}
	for _, estados := range vocabularios[1:] {
		other("Estados="+string(estados), func(a *Assumptions) { a.Estados = estados })
	}
	other("BlockedSOL=403 SOL_USER_BLOCKED", func(a *Assumptions) { a.BlockedSOL = Refusal{403, "SOL_USER_BLOCKED"} })
	other("BlockAfter=1", func(a *Assumptions) { a.BlockAfter = 1 })
	other("BlockAfter=0", func(a *Assumptions) { a.BlockAfter = 0 })
	other("BlockFor=24h", func(a *Assumptions) { a.BlockFor = 24 * time.Hour })
	return readings
}

// EachAssumption runs a subtest for each of the [Readings].
func EachAssumption[TB interface {
	Run(name string, test func(TB)) bool
}](t TB, test func(TB, Assumptions)) {
	for _, r := range Readings() {
		t.Run(r.Name, func(t TB) { test(t, r.Assumptions) })
	}
}
