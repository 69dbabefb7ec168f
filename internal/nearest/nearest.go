// Package nearest finds the route that an unknown path may have meant, for an error text.
package nearest

import "strings"

// Route is a method and a path. A segment in braces matches any.
type Route struct{ Method, Path string }

// String returns the route as a request line begins.
func (r Route) String() string { return r.Method + " " + r.Path }

// What a difference costs, in letters.
const (
	anySegment  = 3 // costs more than a typing error in the literal beside it
	tooMany     = 4 // a segment that the route does not have, however long
	otherMethod = 4
)

// Of returns the route that differs least from a request, and the first of several. The difference counts the letters
// of segments that differ, are missing or are extra; case is ignored. It is near if the path has at least a third of
// the route's letters. routes must not be empty.
func Of(method, path string, routes []Route) (best int, near bool) {
	got := segments(strings.ToLower(path))
	least := -1
	cost := func(got, want []string) int {
		return distance(got, want, func(string) int { return tooMany }, func(s string) int { return len(s) }, replacing)
	}
	for i, to := range routes {
		total := cost(got, segments(to.Path))
		if to.Method != method {
			total += otherMethod
		}
		if least < 0 || total < least {
			best, least = i, total
		}
	}
	to := segments(routes[best].Path)
	return best, 3*cost(got, to) <= 2*cost(nil, to)
}

func segments(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// replacing returns the cost of replacing one segment by another.
func replacing(got, want string) int {
	if strings.HasPrefix(want, "{") {
		return anySegment
	}
	one := func(byte) int { return 1 }
	letters := distance([]byte(got), []byte(want), one, one, func(a, b byte) int {
		if a == b {
			return 0
		}
		return 1
	})
	if letters > max(len(got), len(want))/2 { // too many for typing errors
		return tooMany + len(want)
	}
	return letters
}

// distance returns the Levenshtein distance between two lists, given the cost of an extra item, a missing one and a
// replaced one.
func distance[T any](got, want []T, extra, missing func(T) int, other func(got, want T) int) int {
	row := make([]int, len(want)+1) // the distance of got so far from each prefix of want
	for j, w := range want {
		row[j+1] = row[j] + missing(w)
	}
	for _, g := range got {
		diagonal := row[0]
		row[0] += extra(g)
		for j, w := range want {
			least := min(diagonal+other(g, w), row[j+1]+extra(g), row[j]+missing(w))
			diagonal, row[j+1] = row[j+1], least
		}
	}
	return row[len(want)]
}
