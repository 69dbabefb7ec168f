package conformance

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/mockserver"
)

// notation is a field of the mock's assumptions as fiscope-mock writes it.
func notation(a mockserver.Assumptions, field string) string {
	switch value := reflect.ValueOf(a).FieldByName(field).Interface().(type) {
	case mockserver.Refusal:
		return fmt.Sprintf("%d:%s", value.Status, value.Code)
	case *time.Location:
		return value.String()
	default:
		return fmt.Sprint(value)
	}
}

// The names, their order, sections and defaults are the mock's, of which this package imports nothing.
func TestThePointsAreThoseOfTheMock(t *testing.T) {
	var ours []mockserver.OpenPoint
	for _, p := range points {
		ours = append(ours, mockserver.OpenPoint{Field: p.name, Section: p.section})
		assert.Equal(t, notation(mockserver.DefaultAssumptions(), p.name), p.ours, p.name)
	}
	theirs := mockserver.OpenPoints()
	for i := range theirs {
		theirs[i].Reason = ""
	}
	assert.Equal(t, theirs, ours)
}

// seenBy are the observations that were made, by name.
func seenBy(observations []Observation) map[string]string {
	seen := map[string]string{}
	for _, o := range observations {
		if o.Value != nil {
			seen[o.Name] = *o.Value
		}
	}
	return seen
}

// Whatever the mock reads the contract like, the suite passes, and what it sees is what the mock does.
func TestEveryReadingPassesAndIsSeen(t *testing.T) {
	hidden := []string{ // from outside, without harm
		"QuotaExceeded", "CodeSUNATUnavailable", "Unknown", "BlockedSOL", "BlockAfter", "BlockFor",
	}
	for _, reading := range mockserver.Readings() {
		t.Run(reading.Name, func(t *testing.T) {
			a := reading.Assumptions
			results, observations := examine(t, newMock(t, mockserver.WithAssumptions(a)), fullTarget("http://mock.invalid"))
			failed := failing(results)
			if a.Estados == mockserver.EstadosSUNAT { // in neither list of the contract
				assert.Contains(t, failed, "3.1/estado")
				delete(failed, "3.1/estado")
			}
			if a.Quota == mockserver.Unlimited { // the mock has no headers then, and a lookup must
				for _, name := range []string{headerLimit, headerRemaining, headerReset} {
					assert.Contains(t, failed, "8/"+name)
					delete(failed, "8/"+name)
				}
			}
			assert.Empty(t, failed)

			seen := seenBy(observations)
			for _, p := range points {
				want := notation(a, p.name)
				switch {
				case slices.Contains(hidden, p.name):
					assert.NotContains(t, seen, p.name)
					continue
				case strings.HasPrefix(p.name, "Reset") && a.Quota == mockserver.Unlimited, p.name == "ChargeFailures" && a.Quota == mockserver.Unlimited:
					assert.NotContains(t, seen, p.name)
					continue
				case strings.HasPrefix(p.name, "Headers") && a.Quota == mockserver.Unlimited:
					continue
				}
				assert.Equal(t, want, seen[p.name], p.name)
			}
		})
	}
}

func TestHowAFieldWithoutAValueIsSeen(t *testing.T) {
	persona := mockserver.Persona("10999999960")
	persona.Direccion, persona.Tipo = "-", "-"
	for unknown, want := range map[mockserver.Unknown]string{
		mockserver.UnknownAsPut: "dash", mockserver.UnknownDash: "dash", mockserver.UnknownEmpty: "empty",
		mockserver.UnknownNull: "null", mockserver.UnknownAbsent: "absent",
	} {
		t.Run(string(unknown), func(t *testing.T) {
			a := mockserver.DefaultAssumptions()
			a.Unknown = unknown
			target := fullTarget("http://mock.invalid")
			target.RUC = persona.RUC
			results, observations := examine(t, newMock(t, mockserver.WithAssumptions(a), mockserver.WithContribuyentes(persona)), target)
			assert.Equal(t, want, seenBy(observations)["Unknown"])
			assert.Empty(t, failing(results), "that it is a text openapi.yaml says")
		})
	}
}

// What the mock has no form of, or what is not the same everywhere, is not seen.
func TestWhatIsSeenOfAnswers(t *testing.T) {
	reset := func(text string) func(http.Handler) http.Handler {
		return answering(lookup, answered200, func(a *reply) {
			a.header[http.CanonicalHeaderKey(headerReset)] = []string{text}
			a.header["Date"] = []string{"Fri, 20 Nov 2026 21:00:00 GMT"}
		})
	}
	code := func(text string) func(http.Handler) http.Handler {
		return answering(lookup, answered400, setMember("code", `"`+text+`"`))
	}
	refused := func(status int) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			for _, op := range operations {
				next = answering(op, answered400, failWith(status, "DESPACIO"))(next)
			}
			return next
		}
	}
	for name, c := range map[string]struct {
		breaks      func(http.Handler) http.Handler
		point, want string // "" for one that is not seen
	}{
		"Lima":                     {reset("2026-11-21T05:00:00Z"), "ResetZone", "America/Lima"},
		"UTC":                      {reset("2026-11-21T00:00:00Z"), "ResetZone", "UTC"},
		"west":                     {reset("2026-11-21T03:00:00Z"), "ResetZone", "Etc/GMT+3"},
		"east":                     {reset("2026-11-20T23:00:00Z"), "ResetZone", "Etc/GMT-1"},
		"the last second of a day": {reset("2026-11-20T23:59:59Z"), "ResetZone", ""},
		"some day":                 {reset("2031-01-01T12:34:56Z"), "ResetZone", ""},
		"a day that is past":       {reset("2020-01-01T12:34:56Z"), "ResetZone", ""},
		"a midnight of some year":  {reset("2031-01-01T05:00:00Z"), "ResetZone", "America/Lima"},
		"rolling":                  {reset("2026-11-21T20:31:07Z"), "ResetZone", ""},
		"rolling, from this hour":  {reset("2026-11-21T21:00:00Z"), "ResetZone", ""},
		"the basic format":         {reset("20261121T050000Z"), "ResetZone", "America/Lima"},
		"without seconds":          {reset("2026-11-21T05:00Z"), "ResetZone", "America/Lima"},
		"an offset":                {reset("2026-11-21T05:00:00+0000"), "ResetZone", "America/Lima"},
		"a comma":                  {reset("2026-11-21T05:00:00,5Z"), "ResetZone", "America/Lima"},
		"a long code":              {code(strings.Repeat("X", mostShown+1)), "CodeInvalidRUC", ""},
		"a code with the key":      {code("NO_" + strings.NewReplacer("&", `\u0026`, "<", `\u003c`).Replace(theKey)), "CodeInvalidRUC", ""},
		"throttled":                {refused(http.StatusTooManyRequests), "ChargeFailures", "true"},
		"redirected":               {refused(http.StatusFound), "ChargeFailures", "true"},
		"a failure of its own":     {refused(http.StatusInternalServerError), "ChargeFailures", "true"},
		"headers that differ":      {answering(rate, answered200, header(http.CanonicalHeaderKey(headerRemaining), "5")), "HeadersEverywhere", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, observations := examine(t, c.breaks(newMock(t)), fullTarget("http://mock.invalid"))
			assert.Equal(t, c.want, seenBy(observations)[c.point])
		})
	}
}

// A quota that begins anew while the suite runs is no fault of the service.
func TestANewDayMeanwhile(t *testing.T) {
	n := 0
	breaks := answering(lookup, answered200, func(a *reply) {
		if n++; n > 3 {
			a.header[http.CanonicalHeaderKey(headerReset)] = []string{"2099-11-22T05:00:00Z"}
			a.header[http.CanonicalHeaderKey(headerRemaining)] = []string{fmt.Sprint(1000 - n)}
		}
	})
	target := fullTarget("http://mock.invalid")
	target.CPE, target.WrongClave = nil, false
	results, _ := examine(t, breaks(newMock(t)), target)
	failed := failing(results)
	assert.NotContains(t, failed, "8/a search consumes 1 query, however many it finds")
	assert.Contains(t, skipping(results)["8/a search consumes 1 query, however many it finds"], "reset meanwhile")
}
