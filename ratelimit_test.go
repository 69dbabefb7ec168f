package fiscope_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// In a synctest bubble it is midnight UTC of 2000-01-01.
func TestRateLimitHeaders(t *testing.T) {
	const unknown = fiscope.NoHeader
	reset := time.Date(2000, 1, 1, 5, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		headers  string // as "limit|remaining|reset"; a dash is no header
		want     *fiscope.RateLimit
		warnings int
	}{
		"none":                        {"-|-|-", nil, 0},
		"all three":                   {"1000|999|2000-01-01T05:00:00Z", &fiscope.RateLimit{Limit: 1000, Remaining: 999, Reset: reset}, 0},
		"zero is not absent":          {"-|0|-", &fiscope.RateLimit{Limit: unknown, Remaining: 0}, 0},
		"fractional seconds":          {"-|-|2000-01-01T05:00:00.250Z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset.Add(250 * time.Millisecond)}, 0},
		"an offset":                   {"-|-|2000-01-01T00:00:00-05:00", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"an offset without colon":     {"-|-|2000-01-01T00:00:00.000-0500", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"no offset is UTC":            {"-|-|2000-01-01T05:00:00", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"Unix seconds":                {"-|-|946702800", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"Unix milliseconds":           {"-|-|946702800000", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"without seconds":             {"-|-|2000-01-01T05:00Z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"without minutes":             {"-|-|2000-01-01T05Z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"24:00 is the day's end":      {"-|-|1999-12-31T24:00:00-05:00", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"24:00 without seconds":       {"-|-|19991231T2400-0500", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"basic":                       {"-|-|20000101T050000Z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"basic, an offset":            {"-|-|20000101T000000-0500", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"basic, without seconds":      {"-|-|20000101T0500Z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"basic, no offset":            {"-|-|20000101T050000", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"an offset of hours":          {"-|-|2000-01-01T05:00:00+00", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"an offset of hours, west":    {"-|-|2000-01-01T00:00:00-05", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"an offset, without seconds":  {"-|-|2000-01-01T10:30+05:30", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"lower case":                  {"-|-|2000-01-01t05:00:00z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"a blank for the T":           {"-|-|2000-01-01 05:00:00Z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"a blank, lower case":         {"-|-|2000-01-01 05:00z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"blanks all over":             {"-|-|2000-01-01 05:00:00 +00:00", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"a blank, no offset":          {"-|-|2000-01-01 05:00:00", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"a blank, basic":              {"-|-|20000101 050000Z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"basic date alone":            {"-|-|20000101T05:00:00Z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset}, 0},
		"a comma":                     {"-|-|2000-01-01T05:00:00,250Z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset.Add(250 * time.Millisecond)}, 0},
		"a comma, basic":              {"-|-|20000101t000000,25-05", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset.Add(250 * time.Millisecond)}, 0},
		"a date alone":                {"-|-|2000-01-02", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset.Add(19 * time.Hour)}, 0},
		"24:00 of today":              {"-|-|2000-01-01T24:00:00Z", &fiscope.RateLimit{Limit: unknown, Remaining: unknown, Reset: reset.Add(19 * time.Hour)}, 0},
		"24:00:01":                    {"5|4|2000-01-01T24:00:01Z", &fiscope.RateLimit{Limit: 5, Remaining: 4}, 1},
		"an hour of one digit":        {"5|4|2000-01-01T9Z", &fiscope.RateLimit{Limit: 5, Remaining: 4}, 1},
		"no such day":                 {"5|4|20000100T050000Z", &fiscope.RateLimit{Limit: 5, Remaining: 4}, 1},
		"no such offset":              {"5|4|2000-01-01T05:00:00+99", &fiscope.RateLimit{Limit: 5, Remaining: 4}, 1},
		"a reset in the past":         {"5|4|1999-12-31T23:59:59Z", &fiscope.RateLimit{Limit: 5, Remaining: 4}, 1},
		"a reset now":                 {"5|4|2000-01-01T00:00:00Z", &fiscope.RateLimit{Limit: 5, Remaining: 4}, 1},
		"a reset 48 h ahead":          {"5|4|2000-01-03T00:00:00Z", &fiscope.RateLimit{Limit: 5, Remaining: 4}, 1},
		"a reset just under 48 h":     {"5|4|2000-01-02T23:59:59Z", &fiscope.RateLimit{Limit: 5, Remaining: 4, Reset: time.Date(2000, 1, 2, 23, 59, 59, 0, time.UTC)}, 0},
		"a reset in words":            {"5|4|tomorrow", &fiscope.RateLimit{Limit: 5, Remaining: 4}, 1},
		"seconds to go, not an epoch": {"5|4|3600", &fiscope.RateLimit{Limit: 5, Remaining: 4}, 1},
		"garbage in one":              {"many|4|2000-01-01T05:00:00Z", &fiscope.RateLimit{Limit: unknown, Remaining: 4, Reset: reset}, 1},
		"a number below zero":         {"5|-4|-", &fiscope.RateLimit{Limit: 5, Remaining: unknown}, 1},
		"a number with a sign":        {"+5|4|-", &fiscope.RateLimit{Limit: unknown, Remaining: 4}, 1},
		"a number that overflows":     {"99999999999999999999|4|-", &fiscope.RateLimit{Limit: unknown, Remaining: 4}, 1},
		"a fraction":                  {"5.0|4|-", &fiscope.RateLimit{Limit: unknown, Remaining: 4}, 1},
		"blanks around":               {" 5 | 4 | 2000-01-01T05:00:00Z ", &fiscope.RateLimit{Limit: 5, Remaining: 4, Reset: reset}, 0},
		"an epoch that overflows":     {"5|4|99999999999999999999", &fiscope.RateLimit{Limit: 5, Remaining: 4}, 1},
		"empty":                       {"||", &fiscope.RateLimit{Limit: unknown, Remaining: unknown}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lines []string
				for i, value := range strings.Split(test.headers, "|") {
					if value != "-" {
						lines = append(lines, []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}[i]+": "+value)
					}
				}
				for op, do := range operations { // documented for the lookup, read on every answer
					file := map[string]string{"consultar": "consultar_200.json", "buscar": "buscar_200.json", "validar": "validar_200_aceptado.json", "tipocambio": "tipocambio_200.json", "hoy": "tipocambio_200.json"}[op]
					client, _ := answers(t, raw(200, contract(t, file), lines...))
					assert.Nil(t, client.RateLimit())
					var resp fiscope.Response
					require.NoError(t, do(t.Context(), client, fiscope.WithResponse(&resp)), op)
					assert.Empty(t, cmp.Diff(test.want, resp.RateLimit), op)
					assert.Empty(t, cmp.Diff(test.want, client.RateLimit()), op)
					unreadable := 0
					for _, w := range resp.Warnings {
						if strings.Contains(w, "Ratelimit") {
							unreadable++
						}
					}
					assert.Equal(t, test.warnings, unreadable, op)
				}
			})
		})
	}
}

func TestAnErrorCarriesTheRateLimit(t *testing.T) {
	client, _ := answers(t, raw(404, contract(t, "consultar_404.json"), "X-RateLimit-Remaining: 3"))
	err := operations["consultar"](t.Context(), client)
	var e *fiscope.Error
	require.ErrorAs(t, err, &e)
	require.NotNil(t, e.RateLimit)
	assert.Equal(t, 3, e.RateLimit.Remaining)
	assert.Equal(t, 3, client.RateLimit().Remaining)
}

func TestTheLastRateLimitSeenCannotBeChanged(t *testing.T) {
	client, _ := answers(t, raw(200, contract(t, "consultar_200.json"), "X-RateLimit-Remaining: 3"))
	require.NoError(t, operations["consultar"](t.Context(), client))
	client.RateLimit().Remaining = 1000
	assert.Equal(t, 3, client.RateLimit().Remaining)
}

func ExampleRateLimit_String() {
	fmt.Println(fiscope.RateLimit{Limit: 1000, Remaining: 12, Reset: time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)})
	fmt.Println(fiscope.RateLimit{Limit: fiscope.NoHeader, Remaining: 12})
	// Output:
	// 12 of 1000 left, reset 2026-11-22T05:00:00Z
	// 12 of ? left, reset ?
}

func TestASpentQuotaIsKnownInAnyFormOfItsReset(t *testing.T) {
	for _, reset := range []string{"2000-01-01T05:00Z", "1999-12-31T24:00:00-05:00", "20000101T050000Z", "20000101T000000-0500", "2000-01-01T05:00:00+00", "2000-01-01t05:00:00z", "2000-01-01 05:00:00", "20000101 0500z", "2000-01-01T05:00:00,5Z"} {
		for op, do := range operations {
			t.Run(reset+" "+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					client, s := answers(t, raw(200, record, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: "+reset))
					require.NoError(t, operations["consultar"](t.Context(), client))
					require.ErrorIs(t, do(t.Context(), client), fiscope.ErrQuotaExceeded)
					assert.Len(t, s.seen(), 1)
				})
			})
		}
	}
}
