package mockserver

import (
	"slices"
	"strings"
	"time"
)

// OpenPoint is a field of [Assumptions]: something that the contract leaves open.
type OpenPoint struct {
	Field   string
	Section string // of docs/contrato.md; several with ", " between
	Reason  string // of the default
}

// OpenPoints returns the fields of [Assumptions], in their order.
func OpenPoints() []OpenPoint {
	points := make([]OpenPoint, len(openPoints))
	for i, p := range openPoints {
		points[i] = p.OpenPoint
	}
	return points
}

type openPoint struct {
	OpenPoint
	others []otherReading
}

// otherReading is a value of a field that is not the default.
type otherReading struct {
	value  string
	set    func(*Assumptions)
	paired bool // a client can trip over it together with another point
}

func alone(value string, set func(*Assumptions)) otherReading {
	return otherReading{value, set, false}
}

func paired(value string, set func(*Assumptions)) otherReading {
	return otherReading{value, set, true}
}

// badRequest is one code for all that is wrong with a request.
const badRequest = "BAD_REQUEST"

var openPoints = []openPoint{
	{OpenPoint{"MissingKey", "5.4", "the status HTTP has for it"}, []otherReading{
		alone("403 FORBIDDEN", func(a *Assumptions) { a.MissingKey = Refusal{403, "FORBIDDEN"} }),
		alone("400 BAD_REQUEST", func(a *Assumptions) { a.MissingKey = Refusal{400, badRequest} }),
	}},
	{OpenPoint{"InvalidKey", "5.4", "as for MissingKey; the error text tells them apart"}, []otherReading{
		paired("403 FORBIDDEN", func(a *Assumptions) { a.InvalidKey = Refusal{403, "FORBIDDEN"} }),
		alone("401 with an empty code", func(a *Assumptions) { a.InvalidKey = Refusal{401, ""} }),
	}},
	{OpenPoint{"QuotaExceeded", "7, 8", "the status HTTP has for it"}, []otherReading{
		paired("403 QUOTA_EXCEEDED", func(a *Assumptions) { a.QuotaExceeded = Refusal{403, "QUOTA_EXCEEDED"} }),
		paired("401 UNAUTHORIZED", func(a *Assumptions) { a.QuotaExceeded = Refusal{401, "UNAUTHORIZED"} }),
		paired("503 UNAVAILABLE", func(a *Assumptions) { a.QuotaExceeded = Refusal{503, "UNAVAILABLE"} }),
		alone("429 with an empty code", func(a *Assumptions) { a.QuotaExceeded = Refusal{429, ""} }),
	}},
	{OpenPoint{"KeyBody", "5.4, 7", "the form that all errors have"}, []otherReading{
		alone("no-code", func(a *Assumptions) { a.KeyBody = ErrorBodyNoCode }),
		alone("message", func(a *Assumptions) { a.KeyBody = ErrorBodyMessage }),
		paired("page", func(a *Assumptions) { a.KeyBody = ErrorBodyPage }),
		paired("empty", func(a *Assumptions) { a.KeyBody = ErrorBodyEmpty }),
	}},
	{OpenPoint{"QuotaBody", "7, 8", "the form that all errors have"}, []otherReading{
		alone("no-code", func(a *Assumptions) { a.QuotaBody = ErrorBodyNoCode }),
		alone("message", func(a *Assumptions) { a.QuotaBody = ErrorBodyMessage }),
		paired("page", func(a *Assumptions) { a.QuotaBody = ErrorBodyPage }),
		paired("empty", func(a *Assumptions) { a.QuotaBody = ErrorBodyEmpty }),
	}},
	{OpenPoint{"Quota", "8", "enough for a test suite, small enough to reach"}, []otherReading{
		alone("Unlimited", func(a *Assumptions) { a.Quota = Unlimited }),
	}},
	{OpenPoint{"ResetZone", "8", `a "daily" quota of a Peruvian service: 05:00 UTC`}, []otherReading{
		alone("UTC", func(a *Assumptions) { a.ResetZone = time.UTC }),
	}},
	{OpenPoint{"ResetRolling", "8", `a "daily" quota is of a day, not of 24 hours`}, []otherReading{
		paired("true", func(a *Assumptions) { a.ResetRolling = true }),
	}},
	{OpenPoint{"ResetForm", "8", "the shortest that every reader of ISO 8601 takes"}, []otherReading{
		alone("fraction", func(a *Assumptions) { a.ResetForm = ResetFraction }),
		alone("offset", func(a *Assumptions) { a.ResetForm = ResetOffset }),
		paired("fraction-offset", func(a *Assumptions) { a.ResetForm = ResetFractionOffset }),
	}},
	{OpenPoint{"QuotaRetryAfter", "7, 8", "the contract names three headers, and not this one"}, []otherReading{
		paired("seconds", func(a *Assumptions) { a.QuotaRetryAfter = RetryAfterSeconds }),
		paired("date", func(a *Assumptions) { a.QuotaRetryAfter = RetryAfterInstant }),
	}},
	{OpenPoint{"ChargeFailures", "8", `"each call ... consumes 1 query"`}, []otherReading{
		paired("false", func(a *Assumptions) { a.ChargeFailures = false }),
	}},
	{OpenPoint{"ChargeInvalid", "8", "as for ChargeFailures: each call"}, []otherReading{
		alone("false", func(a *Assumptions) { a.ChargeInvalid = false }),
	}},
	{OpenPoint{"ChargeSOLRefused", "8", "as for ChargeFailures: each call"}, []otherReading{
		alone("false", func(a *Assumptions) { a.ChargeSOLRefused = false }),
	}},
	{OpenPoint{"ChargeNotFound", "8", "as for ChargeFailures: each call"}, []otherReading{
		alone("false", func(a *Assumptions) { a.ChargeNotFound = false }),
	}},
	{OpenPoint{"ChargeUnavailable", "8", "as for ChargeFailures: each call"}, []otherReading{
		alone("false", func(a *Assumptions) { a.ChargeUnavailable = false }),
	}},
	{OpenPoint{"HeadersEverywhere", "8", "documented for lookup only"}, []otherReading{
		paired("true", func(a *Assumptions) { a.HeadersEverywhere = true }),
	}},
	{OpenPoint{"HeadersOnErrors", "4.1, 8", `"response carries", whatever its status`}, []otherReading{
		paired("false", func(a *Assumptions) { a.HeadersOnErrors = false }),
	}},
	{OpenPoint{"CodeInvalidRUC", "7", "says what it is"}, []otherReading{
		alone(badRequest, func(a *Assumptions) { a.CodeInvalidRUC = badRequest }),
	}},
	{OpenPoint{"CodeInvalidLimit", "7", "says what it is"}, []otherReading{
		alone(badRequest, func(a *Assumptions) { a.CodeInvalidLimit = badRequest }),
	}},
	{OpenPoint{"CodeMissingFields", "7", "says what it is"}, []otherReading{
		alone(badRequest, func(a *Assumptions) { a.CodeMissingFields = badRequest }),
	}},
	{OpenPoint{"CodeInvalidCPERUC", "7", "the same fault as in lookup"}, []otherReading{
		alone(badRequest, func(a *Assumptions) { a.CodeInvalidCPERUC = badRequest }),
	}},
	{OpenPoint{"CodeInvalidField", "2.3, 7", "no row for it: a wrong type, tipoComprobante or numero"}, []otherReading{
		alone(badRequest, func(a *Assumptions) { a.CodeInvalidField = badRequest }),
	}},
	{OpenPoint{"CodeInvalidDate", "7", "says what it is"}, []otherReading{
		alone(badRequest, func(a *Assumptions) { a.CodeInvalidDate = badRequest }),
	}},
	{OpenPoint{"CodeSUNATUnavailable", "7", "says what it is"}, []otherReading{
		alone("INTERNAL_ERROR", func(a *Assumptions) { a.CodeSUNATUnavailable = "INTERNAL_ERROR" }),
	}},
	{OpenPoint{"Unknown", "2.1", "a record is served as it was put"}, []otherReading{
		alone("empty", func(a *Assumptions) { a.Unknown = UnknownEmpty }),
		alone("dash", func(a *Assumptions) { a.Unknown = UnknownDash }),
		paired("null", func(a *Assumptions) { a.Unknown = UnknownNull }),
		paired("absent", func(a *Assumptions) { a.Unknown = UnknownAbsent }),
	}},
	{OpenPoint{"CountBlanks", "4.2", "blanks are no text to search"}, []otherReading{
		alone("true", func(a *Assumptions) { a.CountBlanks = true }),
	}},
	{OpenPoint{"SearchByWords", "4.2", `"the text may occur anywhere in the name": the text, not its words`}, []otherReading{
		alone("true", func(a *Assumptions) { a.SearchByWords = true }),
	}},
	{OpenPoint{"Estados", "3.1", "the table, with meanings; the other list has none"}, []otherReading{
		paired("lista", func(a *Assumptions) { a.Estados = EstadosLista }),
		paired("sunat", func(a *Assumptions) { a.Estados = EstadosSUNAT }),
	}},
	{OpenPoint{"PrincipalSOL", "4.3", "never valid here: wrong credentials"}, []otherReading{
		alone("403 PRINCIPAL_SOL_USER", func(a *Assumptions) { a.PrincipalSOL = Refusal{403, "PRINCIPAL_SOL_USER"} }),
		alone("400 BAD_REQUEST", func(a *Assumptions) { a.PrincipalSOL = Refusal{400, badRequest} }),
	}},
	{OpenPoint{"BlockedSOL", "4.3", "what the credentials are is not told to one who guesses"}, []otherReading{
		paired("403 SOL_USER_BLOCKED", func(a *Assumptions) { a.BlockedSOL = Refusal{403, "SOL_USER_BLOCKED"} }),
		alone("423 SOL_USER_BLOCKED", func(a *Assumptions) { a.BlockedSOL = Refusal{423, "SOL_USER_BLOCKED"} }),
	}},
	{OpenPoint{"UnknownSOL", "4.3, 7", `"wrong portal user or password"`}, []otherReading{
		alone("404 SOL_USER_NOT_FOUND", func(a *Assumptions) { a.UnknownSOL = Refusal{404, "SOL_USER_NOT_FOUND"} }),
		alone("400 BAD_REQUEST", func(a *Assumptions) { a.UnknownSOL = Refusal{400, badRequest} }),
	}},
	{OpenPoint{"BlockAfter", "4.3", "a strict value for tests: published nowhere"}, []otherReading{
		alone("1", func(a *Assumptions) { a.BlockAfter = 1 }),
		alone("0", func(a *Assumptions) { a.BlockAfter = 0 }),
	}},
	{OpenPoint{"BlockFor", "4.3", "as invented; while it lasts the right clave is refused too"}, []otherReading{
		alone("24h", func(a *Assumptions) { a.BlockFor = 24 * time.Hour }),
	}},
	{OpenPoint{"PublicationDelay", "4.4", `"normally" at 17:00 Lima, the only hour given`}, []otherReading{
		alone("16h", func(a *Assumptions) { a.PublicationDelay = 16 * time.Hour }),
	}},
	{OpenPoint{"ImpossibleDateNotFound", "4.4", "a day that no calendar has is no date"}, []otherReading{
		alone("true", func(a *Assumptions) { a.ImpossibleDateNotFound = true }),
	}},
}

// Reading is one way to read the contract: the default, or the default with fields changed.
type Reading struct {
	Name        string // "default", or what was changed: "QuotaExceeded=403 QUOTA_EXCEEDED", "ResetRolling=true, Unknown=null"
	Assumptions Assumptions
}

// newReading returns the default with some fields changed: by their place in openPoints.
func newReading(changes map[int]otherReading) Reading {
	a := DefaultAssumptions()
	var names []string
	for i, p := range openPoints {
		if other, changed := changes[i]; changed {
			other.set(&a)
			names = append(names, p.Field+"="+other.value)
		}
	}
	return Reading{strings.Join(names, ", "), a}
}

// Readings returns the default reading, and each field of [Assumptions] changed to each other value that
// services like this one are known for.
func Readings() []Reading {
	readings := []Reading{{"default", DefaultAssumptions()}}
	for i, p := range openPoints {
		for _, other := range p.others {
			readings = append(readings, newReading(map[int]otherReading{i: other}))
		}
	}
	return readings
}

// PairedReadings returns readings with several fields changed: of the fields that a client can trip over
// together, such as the status, the body and the headers of a spent quota, every two values meet in one reading
// at least. It gives some twenty of them, where all combinations would be a hundred thousand.
func PairedReadings() []Reading {
	var points []int            // that are paired ...
	var values [][]otherReading // ... and the values of each besides the default
	var sizes []int             // ... and how many with it
	for i, p := range openPoints {
		own := slices.DeleteFunc(slices.Clone(p.others), func(o otherReading) bool { return !o.paired })
		if len(own) > 0 {
			points, values, sizes = append(points, i), append(values, own), append(sizes, len(own)+1)
		}
	}
	var readings []Reading
	for _, row := range allPairs(sizes) {
		changes := map[int]otherReading{}
		for i, value := range row {
			if value > 0 {
				changes[points[i]] = values[i][value-1]
			}
		}
		if len(changes) > 1 { // the others are among Readings
			readings = append(readings, newReading(changes))
		}
	}
	return readings
}

// EachAssumption runs a test under the [Readings] and the [PairedReadings], a subtest each, fewer than eighty in
// all: what passes in all of them does not depend on a guess about what the contract leaves open. With
// [testing.T]:
//
//	mockserver.EachAssumption(t, func(t *testing.T, a mockserver.Assumptions) {
//		srv := mockserver.New(t, mockserver.WithAssumptions(a))
//		...
//	})
func EachAssumption[TB interface {
	Run(name string, test func(TB)) bool
}](t TB, test func(TB, Assumptions)) {
	for _, r := range slices.Concat(Readings(), PairedReadings()) {
		t.Run(r.Name, func(t TB) { test(t, r.Assumptions) })
	}
}
