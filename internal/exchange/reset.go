package exchange

import (
	"strconv"
	"strings"
	"time"
)

// The reset of a daily quota is at most a day ahead; the second day allows for clocks and zones.
const farthestReset = 48 * time.Hour

// Reset reads RFC 3339 with or without zone, fraction or seconds, Unix seconds or Unix milliseconds, and returns the
// zero time for anything else. A reset more than 48 hours ahead is garbage: it would close the quota for too long.
func Reset(text string, now time.Time) (reset time.Time) {
	if strings.Trim(text, "0123456789") == "" {
		n, _ := strconv.ParseInt(text, 10, 64) // a number that is too large is far ahead
		if reset = time.Unix(n, 0); reset.Sub(now) >= farthestReset {
			reset = time.UnixMilli(n)
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			reset = at
			break
		}
	}
	if reset.Sub(now) >= farthestReset {
		return time.Time{}
	}
	return reset.UTC()
}
