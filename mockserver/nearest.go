package mockserver

import "strings"

// longPath bounds the work for one path: what comes after it makes no route nearer.
const longPath = 200

// nearest returns the operation whose path differs least from path, in letters per segment.
func nearest(path string) *operation {
	path = strings.ToLower(path[:min(len(path), longPath)])
	got := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if len(got) == 0 || distance(got[0], "api") > 1 {
		got = append([]string{"api"}, got...) // a forgotten prefix would make every route look alike
	}
	best, least := search, -1
	for _, op := range operations() {
		if d := pathDistance(got, strings.Split(op.path[1:], "/")); least < 0 || d < least {
			best, least = op, d
		}
	}
	return best
}

func pathDistance(got, want []string) int {
	total := 0
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			total += len(want[i])
		case i >= len(want):
			total += len(got[i])
		case want[i] == "{ruc}":
			total += 3 // anything goes, but dearer than one typing error in the literal beside it
		default:
			total += distance(got[i], want[i])
		}
	}
	return total
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
