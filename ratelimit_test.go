package fiscope_test

import (
	"errors"
	"fmt"
	"net"
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
	reset := time.Date(2000, 1, 1, 5, 0, 0, 0, time.UTC)
	at := func(reset time.Time) *fiscope.RateLimit {
		return &fiscope.RateLimit{Reset: reset}
	}
	for name, test := range map[string]struct {
		headers  string // as "limit|remaining|reset"; a dash is no header
		want     *fiscope.RateLimit
		warnings int
	}{
		"none":                        {"-|-|-", nil, 0},
		"all three":                   {"1000|999|2000-01-01T05:00:00Z", &fiscope.RateLimit{Limit: new(1000), Remaining: new(999), Reset: reset}, 0},
		"zero is not absent":          {"1|0|-", &fiscope.RateLimit{Limit: new(1), Remaining: new(0)}, 0},
		"blanks around":               {" 5 | 4 | 2000-01-01T05:00:00Z ", &fiscope.RateLimit{Limit: new(5), Remaining: new(4), Reset: reset}, 0},
		"empty":                       {"||", &fiscope.RateLimit{}, 0},
		"an unlimited plan":           {"-1|-1|-", nil, 0},
		"... with a limit of zero":    {"0|478|2000-01-01T05:00:00Z", nil, 0},
		"... with one number":         {"500|-1|-", nil, 0},
		"a fraction of a second":      {"-|-|2000-01-01T05:00:00.250Z", at(reset.Add(250 * time.Millisecond)), 0},
		"an offset":                   {"-|-|2000-01-01T00:00:00-05:00", at(reset), 0},
		"no zone is UTC":              {"-|-|2000-01-01T05:00:00", at(reset), 0},
		"without seconds":             {"-|-|2000-01-01T05:00Z", at(reset), 0},
		"without both":                {"-|-|2000-01-01T05:00", at(reset), 0},
		"Unix seconds":                {"-|-|946702800", at(reset), 0},
		"Unix milliseconds":           {"-|-|946702800000", at(reset), 0},
		"a reset in the past":         {"5|4|1999-12-31T23:59:59Z", &fiscope.RateLimit{Limit: new(5), Remaining: new(4)}, 1},
		"a reset now":                 {"5|4|2000-01-01T00:00:00Z", &fiscope.RateLimit{Limit: new(5), Remaining: new(4)}, 1},
		"a reset 48 h ahead":          {"5|4|2000-01-03T00:00:00Z", &fiscope.RateLimit{Limit: new(5), Remaining: new(4)}, 1},
		"a reset just under 48 h":     {"5|4|2000-01-02T23:59:59Z", &fiscope.RateLimit{Limit: new(5), Remaining: new(4), Reset: reset.Add(43*time.Hour - time.Second)}, 0},
		"a reset in words":            {"5|4|tomorrow", &fiscope.RateLimit{Limit: new(5), Remaining: new(4)}, 1},
		"seconds to go, not an epoch": {"5|4|3600", &fiscope.RateLimit{Limit: new(5), Remaining: new(4)}, 1},
		"an epoch that overflows":     {"5|4|99999999999999999999", &fiscope.RateLimit{Limit: new(5), Remaining: new(4)}, 1},
		"garbage in one":              {"many|4|2000-01-01T05:00:00Z", &fiscope.RateLimit{Remaining: new(4), Reset: reset}, 1},
		"a number that overflows":     {"99999999999999999999|4|-", &fiscope.RateLimit{Remaining: new(4)}, 1},
		"a fraction":                  {"5.0|4|-", &fiscope.RateLimit{Remaining: new(4)}, 1},
	} {
		inBubble(t, name, func(t *testing.T) {
			var lines []string
			for i, value := range strings.Split(test.headers, "|") {
				if value != "-" {
					lines = append(lines, []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}[i]+": "+value)
				}
			}
			for op, body := range map[string]string{"consultar": record, "buscar": results, "validar": verdict, "tipocambio": price} {
				client, _ := answers(t, raw(200, body, lines...)) // documented for the lookup, read on every answer
				assert.Nil(t, client.RateLimit())
				var resp fiscope.Response
				require.NoError(t, operations[op](t.Context(), client, fiscope.WithResponse(&resp)))
				assert.Empty(t, cmp.Diff(test.want, resp.RateLimit), op)
				assert.Empty(t, cmp.Diff(test.want, client.RateLimit()), op)
				assert.Len(t, resp.Warnings, test.warnings, op)
			}
		})
	}
}

func TestAnErrorCarriesTheRateLimit(t *testing.T) {
	client, _ := answers(t, raw(404, contract(t, "consultar_404.json"), "X-RateLimit-Remaining: 3"))
	err := operations["consultar"](t.Context(), client)
	var e *fiscope.Error
	require.ErrorAs(t, err, &e)
	require.NotNil(t, e.RateLimit)
	assert.Equal(t, new(3), e.RateLimit.Remaining)
	*client.RateLimit().Remaining = 1000
	assert.Equal(t, new(3), client.RateLimit().Remaining, "the last that was seen cannot be changed")
}

func ExampleRateLimit_String() {
	fmt.Println(fiscope.RateLimit{Limit: new(1000), Remaining: new(12), Reset: time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)})
	fmt.Println(fiscope.RateLimit{Remaining: new(12)})
	// Output:
	// 12 of 1000 left, reset 2026-11-22T05:00:00Z
	// 12 of ? left, reset ?
}

func TestTheRateLimitCountsWhatWasSentSince(t *testing.T) {
	for left, after := range map[int]int{999: 992, 7: 0, 3: 0} {
		s := &service{answers: []handler{raw(200, record, "X-RateLimit-Limit: 1000", fmt.Sprint("X-RateLimit-Remaining: ", left)), raw(200, verdict)}}
		client := newClient(t, s, fiscope.WithoutQuotaGate())
		assert.Nil(t, client.RateLimit())
		require.NoError(t, operations["consultar"](t.Context(), client))
		assert.Equal(t, &fiscope.RateLimit{Limit: new(1000), Remaining: new(left)}, client.RateLimit())
		for range 7 {
			require.NoError(t, operations["validar"](t.Context(), client))
		}
		assert.Equal(t, &fiscope.RateLimit{Limit: new(1000), Remaining: new(after), Estimated: true}, client.RateLimit())
		s.answers = []handler{broken(&net.OpError{Op: "dial", Err: errors.New("refused")})}
		require.Error(t, operations["validar"](t.Context(), client))
		s.answers = []handler{raw(200, record, "X-RateLimit-Limit: 1000", "X-RateLimit-Remaining: 990")}
		require.NoError(t, operations["consultar"](t.Context(), client))
		assert.Equal(t, &fiscope.RateLimit{Limit: new(1000), Remaining: new(990)}, client.RateLimit())
	}
}

// Of answers to queries under way at once the lowest is the last.
func TestTheRateLimitOfQueriesUnderWayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := answers(t, after(time.Second, raw(200, record, "X-RateLimit-Remaining: 998")), after(2*time.Second, raw(200, record, "X-RateLimit-Remaining: 999")))
		together(2, func(n int) {
			time.Sleep(time.Duration(n) * time.Millisecond)
			assert.NoError(t, operations["consultar"](t.Context(), client))
		})
		assert.Equal(t, &fiscope.RateLimit{Remaining: new(998)}, client.RateLimit())
	})
}

func TestWhatWasNotSentTakesNoQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := newChangingClient(t, raw(200, record, "X-RateLimit-Remaining: 1", "X-RateLimit-Reset: 2000-01-01T12:00:00Z"))
		require.NoError(t, operations["consultar"](t.Context(), client))
		s.become(unsent)
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrUnavailable)
		s.become(raw(200, record))
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.ErrorIs(t, operations["consultar"](t.Context(), client), fiscope.ErrQuotaExceeded)
	})
}
