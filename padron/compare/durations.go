package main

import (
	"fmt"
	"slices"
	"time"
)

// bound is how long a search of SQLite may take.
const bound = 10 * time.Second

// percentiles returns how long calls took: the middle one, and the one that 99 of 100 are below.
func percentiles(took []time.Duration) string {
	slices.Sort(took)
	tell := func(at int) string {
		if took[at] >= bound {
			return "> " + short(bound)
		}
		return short(took[at])
	}
	return tell(len(took)/2) + ", " + tell(len(took)*99/100)
}

// short returns a duration in two digits or three.
func short(d time.Duration) string {
	unit, n := "s", d.Seconds()
	for _, smaller := range []string{"ms", "µs"} {
		if n < 1 {
			unit, n = smaller, n*1000
		}
	}
	if n < 9.95 {
		return fmt.Sprintf("%.1f %s", n, unit)
	}
	return fmt.Sprintf("%.0f %s", n, unit)
}
