package exchange_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/exchange"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	for name, test := range map[string]struct {
		retryAfter, date string
		wait             time.Duration
		read             bool
	}{
		"none":                    {"", "", 0, false},
		"seconds":                 {"3", "", 3 * time.Second, true},
		"a fraction":              {" 1.5 ", "", 1500 * time.Millisecond, true},
		"below zero":              {"-3", "", 0, true},
		"huge":                    {"1" + "000000000000000000000", "", year, true},
		"a version":               {"1.2.3", "", 0, false},
		"a range":                 {"1-2", "", 0, false},
		"a point":                 {".", "", 0, false},
		"not a number":            {"NaN", "", 0, false},
		"a date":                  {"Fri, 20 Nov 2026 10:00:04 GMT", "", 4 * time.Second, true},
		"of a clock that is late": {"Fri, 20 Nov 2026 07:00:04 GMT", "Fri, 20 Nov 2026 07:00:00 GMT", 4 * time.Second, true},
		"of one that is ahead":    {"Fri, 20 Nov 2026 13:00:04 GMT", "Fri, 20 Nov 2026 13:00:00 GMT", 4 * time.Second, true},
		"of one that never ran":   {"Fri, 20 Nov 2026 10:00:04 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", 4 * time.Second, true},
		"a Date that is none":     {"Fri, 20 Nov 2026 10:00:04 GMT", "today", 4 * time.Second, true},
		"in the past":             {"Fri, 20 Nov 2026 12:59:00 GMT", "Fri, 20 Nov 2026 13:00:00 GMT", 0, true},
		"far ahead":               {"Fri, 20 Nov 2090 10:00:00 GMT", "Fri, 20 Nov 2026 10:00:00 GMT", year, true},
	} {
		t.Run(name, func(t *testing.T) {
			wait, read := exchange.RetryAfter(http.Header{"Retry-After": {test.retryAfter}, "Date": {test.date}}, now)
			assert.Equal(t, test.wait, wait)
			assert.Equal(t, test.read, read)
		})
	}
}
