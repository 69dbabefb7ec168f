// Package nearest finds the route that somebody may have meant: for the error text of a path that there is not.
package nearest

import "strings"

// Route is a method and a path. A segment of the path in braces stands for any.
type Route struct{ Method, Path string }

// String is the route as a request's line begins.
func (r Route) String() string { return r.Method + " " + r.Path }

// What a difference costs, in letters.
const (
	anySegment  = 3 // dearer than one typing error in the literal beside it
	tooMany     = 4 // a segment that the route does not have, however long
	otherMethod = 4
)

// longest bounds the work for one path: what comes after it makes no route nearer.
const longest = 200

// Of returns which of the routes, of which there is one at least, differs least from a request: in letters of
// the segments that are other ones, missing or too many, in any case; then the first. It is near if the path has at
// least a third of the route's.
func Of(method, path string, routes []Route) (best int, near bool) {
	if method == "HEAD" {
		method = "GET"
	}
	got := segments(strings.ToLower(path[:min(len(path), longest)]))
	least := -1
	cost := func(got, want []string) int {
		return distance(got, want, func(string) int { return tooMany }, func(s string) int { return len(s) }, other)
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

// other is what it costs to take one segment for another one.
func other(got, want string) int {
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
	if letters > max(len(got), len(want))/2 { // it is no typing error
		return tooMany + len(want)
	}
	return letters
}

// distance is the edit distance of Levenshtein between two lists, with what one item costs that is too many,
// one that is missing, and one that is another.
func distance[T any](got, want []T, extra, missing func(T) int, other func(got, want T) int) int {
	row := make([]int, len(want)+1) // the distances of got so far from each beginning of want
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
