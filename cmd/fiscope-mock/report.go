package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/mockserver"
)

// kind groups requests in the report.
type kind struct {
	what, code, fault string
	status            int
}

// report writes how many calls the mock server got, and how often each kind, in order.
func report(w io.Writer, mock *mockserver.Server) {
	requests, dropped := mock.Requests(), mock.Control().Dropped("")
	times, first := map[kind]int{}, map[kind]int64{}
	for _, r := range requests {
		k := kind{cmp.Or(string(r.Op), r.Method+" "+r.Path), r.Code, r.Fault, r.Status}
		if times[k]++; times[k] == 1 {
			first[k] = r.N
		}
	}
	calls, spent := mock.Totals()
	_, _ = fmt.Fprintf(w, "fiscope-mock: llamadas: %d, consultas gastadas: %d\n", calls, spent)
	if dropped > 0 {
		_, _ = fmt.Fprintf(w, "  el historial no tuvo espacio para %d, que abajo no se cuentan: vea -journal\n", dropped)
	}
	if n := calls - len(requests) - dropped; n > 0 {
		_, _ = fmt.Fprintf(w, "  el historial se borró tras %d, que abajo no se cuentan\n", n)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range slices.SortedFunc(maps.Keys(times), func(a, b kind) int { return cmp.Compare(first[a], first[b]) }) {
		answered := fmt.Sprint(k.status)
		if k.status == 0 {
			answered = "sin respuesta"
		}
		notes := k.code
		if k.fault != "" {
			notes = strings.TrimSpace(notes + " falla " + k.fault)
		}
		_, _ = fmt.Fprintf(table, "  %d x\t%s\t%s\t%s\n", times[k], terminal.Printable(k.what), answered, terminal.Printable(notes))
	}
	_ = table.Flush() // stderr may be closed
}
