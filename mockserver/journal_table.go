package mockserver

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/fiscope/fiscope"
)

// journalTable formats requests, one per line; why returns the reason why a request does not count, or "", shown in the
// line below. Without why none is marked.
func journalTable(all []entry, why func(*entry) string, without func(string, ...string) string) string {
	const most = 50
	var b strings.Builder
	if len(all) > most {
		fmt.Fprintf(&b, "(the last %d of %d)\n", most, len(all))
		all = all[len(all)-most:]
	}
	var left strings.Builder // the request, in the width that these columns leave
	w := tabwriter.NewWriter(&left, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "  \tN\ttime\tstatus\tcost\tconn\tkey\t")
	whys := make([]string, len(all))
	for i := range all {
		r := &all[i].Request
		mark := "  "
		if why != nil {
			if whys[i] = without(why(&all[i])); whys[i] == "" {
				mark = "=>"
			}
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%s\t%s\t\n", mark, r.N, r.Time.In(fiscope.Lima).Format("15:04:05.000"),
			cmp.Or(number(r.Status), "-"), r.Cost, r.connText(), cmp.Or(r.Key, "-"))
	}
	_ = w.Flush()
	lines := strings.Split(left.String(), "\n")
	b.WriteString(lines[0] + "request (times of Lima)\n")
	for i := range all {
		r := &all[i].Request
		b.WriteString(lines[i+1] + clipped(r.line(), tableWidth-utf8.RuneCountInString(lines[i+1])) + "\n")
		if notes := r.notes(whys[i]); notes != "" {
			b.WriteString(clipped("       "+notes, tableWidth) + "\n")
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
	switch {
	case r.Conn == 0:
		return "-"
	case r.Reused:
		return strconv.FormatInt(r.Conn, 10) + " again"
	}
	return strconv.FormatInt(r.Conn, 10) + " new"
}
