package padron

import (
	"fmt"

	"github.com/fiscope/fiscope"
)

// firstShown is how many odd rows of each kind a Report names.
const firstShown = 5

// Report says what a registry's file contains. Each odd row is in one count.
type Report struct {
	Rows  int // lines below the header, except blank ones
	Taken int // taxpayers

	TooFewFields int // rows that end before their last column; not taken
	TooLong      int // rows with more fields than columns, or of more than 8 KiB; not taken
	BadRUC       int // rows whose RUC is not 11 digits; not taken
	WithoutName  int // rows without a name; taken, and found by their RUC only
	Duplicates   int // rows that a later one of the same RUC replaces, with or without a name

	First  []OddRow      // the first ones of each kind
	SHA256 string        // of the file as it is, zipped or not; 64 hexadecimal digits
	Fecha  fiscope.Fecha // the day on which the data were written
}

// OddRow is a row that a [Report] counts as odd. It shows as little of the row as possible: no name and no full RUC.
type OddRow struct {
	Line int    // 1 is the header
	Why  string // "a RUC of 10 characters"
}

// Odd returns how many rows are odd.
func (r *Report) Odd() int {
	return r.TooFewFields + r.TooLong + r.BadRUC + r.WithoutName + r.Duplicates
}

// odd counts an odd row in the count of its kind.
func (r *Report) odd(count *int, line int, format string, args ...any) {
	if *count++; *count <= firstShown {
		r.First = append(r.First, OddRow{line, fmt.Sprintf(format, args...)})
	}
}
