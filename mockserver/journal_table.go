package mockserver

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/fiscope/fiscope"
)

// table formats requests, one per line; why returns the reason why a request does not count, or "", shown in the line below.
// Without why none is marked.
func (s *Server) table(all []entry, why func(*entry) string) string {
	calls, _ := s.Totals()
	switch {
	case len(all) == 0 && calls > 0:
		return fmt.Sprintf("The journal is empty: it has no such request of the %d that came.\n", calls)
	case len(all) == 0:
		return "The journal is empty: no request came.\n"
	}
	const most = 50
	var b strings.Builder
	if len(all) > most {
		fmt.Fprintf(&b, "(the last %d of %d)\n", most, len(all))
		all = all[len(all)-most:]
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "  \tN\ttime\tstatus\tcost\tconn\tkey\trequest (times of Lima)")
	notes := make([]string, 1+len(all)) // below each line
	for i := range all {
		r, mark, reason := &all[i].Request, "  ", ""
		if why != nil {
			if reason = s.withoutKeys(why(&all[i])); reason == "" {
				mark = "=>"
			}
		}
		notes[1+i] = r.notes(reason)
		_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%s\t%s\t%s\n", mark, r.N, r.Time.In(fiscope.Lima).Format("15:04:05.000"),
			cmp.Or(number(r.Status), "-"), r.Cost, r.connText(), cmp.Or(r.Key, "-"), r.line())
	}
	_ = w.Flush()
	for i, line := range strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n") {
		b.WriteString(clipped(line, tableWidth) + "\n")
		if notes[i] != "" {
			b.WriteString(clipped("       "+notes[i], tableWidth) + "\n")
		}
	}
	return b.String()
}

// tableWidth is the table's maximum width in columns: many terminals and logs break longer lines.
const tableWidth = 100

// clipped returns the beginning of a line, with an ellipsis if it was cut.
func clipped(line string, most int) string {
	if letters := []rune(line); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return line
}

// notes returns rare details of a request, and the reason why it does not count.
func (r *Request) notes(why string) string {
	var notes []string
	for _, note := range []struct{ name, value string }{
		{"", r.Code}, {"fault ", r.Fault}, {"SOL ", string(r.SOL)}, {"not counted: ", why},
	} {
		if note.value != "" {
			notes = append(notes, note.name+printable(note.value))
		}
	}
	return strings.Join(notes, "; ")
}

// line returns the request line.
func (r *Request) line() string {
	line := r.Method + " " + r.Path
	if r.Query != "" {
		line += "?" + r.Query
	}
	return printable(line)
}

// printable removes control characters of a path, which could move a terminal's cursor or disguise a log.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

func (r *Request) connText() string {
	if r.Conn == 0 {
		return "-"
	}
	return fmt.Sprint(r.Conn, map[bool]string{true: " again", false: " new"}[r.Reused])
}
