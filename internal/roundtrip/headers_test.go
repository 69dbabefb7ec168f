package roundtrip_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/roundtrip"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	const ahead = 3 * time.Hour
	for name, test := range map[string]struct {
		header, date string
		wait         time.Duration
		ok           bool
	}{
		"seconds":                  {"3", "", 3 * time.Second, true},
		"a fraction":               {"1.5", "", 1500 * time.Millisecond, true},
		"blanks":                   {" 7 ", "", 7 * time.Second, true},
		"zero":                     {"0", "", 0, true},
		"below zero":               {"-5", "", 0, true},
		"huge":                     {"99999999999999999999", "", roundtrip.LongestWait, true},
		"a date":                   {at(4 * time.Second), "", 4 * time.Second, true},
		"RFC 850":                  {"Friday, 20-Nov-26 10:00:04 GMT", "", 4 * time.Second, true},
		"asctime":                  {"Fri Nov 20 10:00:04 2026", "", 4 * time.Second, true},
		"a date in the past":       {at(-time.Minute), "", 0, true},
		"a date far ahead":         {"Sun, 01 Jan 2090 00:00:00 GMT", at(0), roundtrip.LongestWait, true},
		"of a clock ahead":         {at(ahead + 4*time.Second), at(ahead), 4 * time.Second, true},
		"of a clock behind":        {at(-ahead + 4*time.Second), at(-ahead), 4 * time.Second, true},
		"of a clock that is wrong": {at(4 * time.Second), "Thu, 01 Jan 1970 00:00:00 GMT", 4 * time.Second, true},
		"of a clock a year behind": {at(4 * time.Second), at(4*time.Second - roundtrip.LongestWait), 4 * time.Second, true},
		"an invalid Date":          {at(4 * time.Second), "soon", 4 * time.Second, true},
		"seconds need no Date":     {"4", at(ahead), 4 * time.Second, true},
		"words":                    {"soon", "", 0, false},
		"a version":                {"1.2.3", "", 0, false},
		"infinity":                 {"Inf", "", 0, false},
		"hexadecimal":              {"0x10", "", 0, false},
		"empty":                    {"", "", 0, false},
	} {
		wait, ok := roundtrip.RetryAfter(http.Header{"Retry-After": {test.header}, "Date": {test.date}}, now)
		assert.Equal(t, test.wait, wait, name)
		assert.Equal(t, test.ok, ok, name)
	}
}
