package mockserver

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// Filter selects requests of the journal. Zero fields match everything.
type Filter struct {
	Op        Operation // "" for any
	Key       string    // an API key, or a fingerprint as in Request.Key
	RUC       string
	Text      string // a part of what is asked for, ignoring case: a search's text, a date, a receipt as in F001-124
	Path      string // a part of the path
	Status    int
	Code      string
	Fault     string // the name of the fault that met it
	Unmatched bool   // only requests that reached no operation (a wrong path or method, a refused key), or that a recording lacks
	After     int64  // only requests with a greater N
}

// filter is a [Filter] whose Key is a fingerprint.
type filter Filter

// differs returns the first field in which a request differs from f, or "".
func (f filter) differs(r *entry) string {
	for _, field := range []struct{ name, want, got string }{
		{"op", string(f.Op), string(r.Op)}, {"key", f.Key, r.Key}, {"RUC", f.RUC, r.RUC},
		{"status", number(f.Status), number(r.Status)}, {"code", f.Code, r.Code}, {"fault", f.Fault, r.Fault},
	} {
		if field.want != "" && field.want != field.got {
			return field.name + " is " + cmp.Or(field.got, "none") + ", not " + field.want
		}
	}
	switch {
	case !has(r.text, f.Text):
		return "it asks for " + cmp.Or(r.text, "nothing") + ", not " + f.Text
	case !strings.Contains(r.Path, f.Path):
		return "path is " + r.Path + ", without " + f.Path
	case f.Unmatched && r.Matched:
		return "it reached " + string(r.Op)
	case r.N <= f.After:
		return "it came before"
	}
	return ""
}

// has reports whether a text contains a part, ignoring case.
func has(text, part string) bool {
	return part == "" || strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// number formats a number, "" for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func (f filter) String() string {
	var parts []string
	for _, field := range [][2]string{
		{"op", string(f.Op)}, {"key", f.Key}, {"ruc", f.RUC}, {"text", f.Text}, {"path", f.Path}, {"status", number(f.Status)}, {"code", f.Code},
		{"fault", f.Fault}, {"after", number(int(f.After))},
	} {
		if field[1] != "" {
			parts = append(parts, field[0]+"="+field[1])
		}
	}
	if f.Unmatched {
		parts = append(parts, "unmatched")
	}
	if len(parts) == 0 {
		return "all requests"
	}
	return "requests with " + strings.Join(parts, ", ")
}

// Format implements [fmt.Formatter], with the key's fingerprint.
func (f Filter) Format(s fmt.State, _ rune) {
	if f.Key != "" {
		f.Key = redact.Fingerprint(f.Key)
	}
	_, _ = fmt.Fprint(s, filter(f).String())
}

// matchAny returns a function that reports whether any of the filters matches a request, true without filters.
func matchAny(filters []filter) func(*entry) bool {
	return func(r *entry) bool {
		return len(filters) == 0 || slices.ContainsFunc(filters, func(f filter) bool { return f.differs(r) == "" })
	}
}
