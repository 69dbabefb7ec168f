package mockserver

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// journalTable writes requests, one a line; why says of each one why it does not count, or nothing.
func journalTable(all []entry, why func(*entry) string) string {
	const most = 50
	var b strings.Builder
	if len(all) > most {
		fmt.Fprintf(&b, "(the last %d of %d)\n", most, len(all))
		all = all[len(all)-most:]
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "  \tN\ttime\trequest\tkey\tstatus\tcode\tcost\tconn\tfault\tSOL\tnot counted, since")
	for i := range all {
		r := &all[i].Request
		reason := why(&all[i])
		mark := "=>"
		if reason != "" {
			mark = "  "
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", mark, r.N, r.Time.Format("15:04:05.000"), r.line(),
			orDash(r.Key), r.statusText(), orDash(printable(r.Code)), r.Cost, r.connText(), orDash(printable(r.Fault)), orDash(string(r.SOL)), printable(reason))
	}
	_ = w.Flush()
	return b.String()
}

// line is the request line.
func (r *Request) line() string {
	line := r.Method + " " + r.Path
	if r.Query != "" {
		line += "?" + r.Query
	}
	if letters := []rune(line); len(letters) > 70 {
		line = string(letters[:70]) + "…"
	}
	return printable(line)
}

// printable keeps what came in a path from moving the cursor of a terminal or changing what a log shows.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

func (r *Request) statusText() string {
	if r.Status == 0 {
		return "-"
	}
	return strconv.Itoa(r.Status)
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

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
