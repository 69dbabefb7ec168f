package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/fiscope/fiscope/mockserver"
)

// kind is what requests of the report have in common.
type kind struct {
	what, code, fault string
	status            int
}

// report writes what the mock server saw: how many calls there were, and how often each thing happened of
// those that the journal still has, in the order in which it first did.
func report(w io.Writer, mock *mockserver.Server) {
	requests, dropped := mock.Requests(), mock.Dropped("")
	times, first := map[kind]int{}, map[kind]int64{}
	for _, r := range requests {
		k := kind{cmp.Or(string(r.Op), r.Method+" "+r.Path), r.Code, r.Fault, r.Status}
		if times[k]++; times[k] == 1 {
			first[k] = r.N
		}
	}
	calls, spent := mock.Totals()
	_, _ = fmt.Fprintf(w, "fiscope-mock: %d calls, %d queries spent\n", calls, spent)
	if dropped > 0 {
		_, _ = fmt.Fprintf(w, "  the journal had no room for %d of them, which are not counted below: see -journal\n", dropped)
	}
	if n := calls - len(requests) - dropped; n > 0 {
		_, _ = fmt.Fprintf(w, "  the journal was reset after %d of them, which are not counted below\n", n)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range slices.SortedFunc(maps.Keys(times), func(a, b kind) int { return cmp.Compare(first[a], first[b]) }) {
		status := fmt.Sprint(k.status)
		if k.status == 0 {
			status = "no answer"
		}
		notes := k.code
		if k.fault != "" {
			notes = strings.TrimSpace(notes + " fault " + k.fault)
		}
		_, _ = fmt.Fprintf(table, "  %d x\t%s\t%s\t%s\n", times[k], printable(k.what), status, printable(notes))
	}
	_ = table.Flush() // stderr is gone: nobody to tell
}

// printable keeps a path or a name from writing control characters on a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
