package mockserver

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// OpenPoint is a field of [Assumptions] with the reason for its default.
type OpenPoint struct {
	Field   string
	Section string // of docs/contract.md; several separated by ", "
	Reason  string // for the default
}

// badRequest is one code for all invalid requests.
const badRequest = "BAD_REQUEST"

// openPoints are the fields of Assumptions, in their order, with other usual values.
var openPoints = []struct {
	OpenPoint
	others []any
}{
	{OpenPoint{"MissingKey", "5.4", "the status HTTP has for it"}, []any{Refusal{403, "FORBIDDEN"}, Refusal{400, badRequest}}},
	{OpenPoint{"InvalidKey", "5.4", "as for MissingKey; the error texts differ"}, []any{Refusal{403, "FORBIDDEN"}, Refusal{401, ""}}},
	{OpenPoint{"QuotaExceeded", "7, 8", "the status HTTP has for it"}, []any{Refusal{403, "QUOTA_EXCEEDED"}, Refusal{401, "UNAUTHORIZED"}, Refusal{503, "UNAVAILABLE"}, Refusal{429, ""}}},
	{OpenPoint{"Quota", "8", "enough for a test suite, small enough to reach"}, []any{Unlimited}},
	{OpenPoint{"ResetZone", "8", `a "daily" quota of a Peruvian service: 05:00 UTC`}, []any{time.UTC}},
	{OpenPoint{"ChargeFailures", "8", `"each call ... consumes 1 query"`}, []any{false}},
	{OpenPoint{"HeadersEverywhere", "8", "documented for lookup only"}, []any{true}},
	{OpenPoint{"HeadersOnErrors", "4.1, 8", `"response carries", whatever its status`}, []any{false}},
	{OpenPoint{"CodeInvalidRUC", "7", "says what it is"}, []any{badRequest}},
	{OpenPoint{"CodeInvalidLimit", "7", "says what it is"}, []any{badRequest}},
	{OpenPoint{"CodeMissingFields", "7", "says what it is"}, []any{badRequest}},
	{OpenPoint{"CodeInvalidCPERUC", "7", "the same fault as in lookup"}, []any{badRequest}},
	{OpenPoint{"CodeSUNATUnavailable", "7", "says what it is"}, []any{"INTERNAL_ERROR"}},
	{OpenPoint{"CodeInvalidDate", "7", "says what it is"}, []any{badRequest}},
	{OpenPoint{"Unknown", "2.1", "a record is served as it was put"}, []any{UnknownEmpty, UnknownDash, UnknownNull, UnknownAbsent}},
	{OpenPoint{"Estados", "3.1", "the table, with meanings; the other list has none"}, []any{EstadosLista, EstadosSUNAT}},
	{OpenPoint{"BlockedSOL", "4.3", "an answer must not help to guess credentials"}, []any{Refusal{403, "SOL_USER_BLOCKED"}}},
	{OpenPoint{"BlockAfter", "4.3", "a strict value for tests: published nowhere"}, []any{1, 0}},
	{OpenPoint{"BlockFor", "4.3", "as invented; while it lasts the right clave is refused too"}, []any{24 * time.Hour}},
}

// OpenPoints returns the fields of [Assumptions], in their order.
func OpenPoints() []OpenPoint {
	list := make([]OpenPoint, len(openPoints))
	for i, p := range openPoints {
		list[i] = p.OpenPoint
	}
	return list
}

// Reading is the default [Assumptions], or a copy with one field changed.
type Reading struct {
	Name        string // "default", or the change: "QuotaExceeded=403 QUOTA_EXCEEDED"
	Assumptions Assumptions
}

// Readings returns the default, and for each field its other usual values.
func Readings() []Reading {
	readings := []Reading{{"default", DefaultAssumptions()}}
	for _, p := range openPoints {
		for _, value := range p.others {
			a := DefaultAssumptions()
			reflect.ValueOf(&a).Elem().FieldByName(p.Field).Set(reflect.ValueOf(value))
			readings = append(readings, Reading{p.Field + "=" + strings.Trim(fmt.Sprint(value), "{ }"), a})
		}
	}
	return readings
}

// EachAssumption runs a subtest for each of the [Readings].
func EachAssumption[Subtest interface {
	Run(name string, test func(Subtest)) bool
}](t Subtest, test func(Subtest, Assumptions)) {
	for _, r := range Readings() {
		t.Run(r.Name, func(t Subtest) { test(t, r.Assumptions) })
	}
}
