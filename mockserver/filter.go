package mockserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
)

// Filter chooses requests of the journal: those that have what its fields say. The zero Filter takes all.
type Filter struct {
	Op        Operation // "" for any
	Key       string    // an API key, or the fingerprint of one as in Request.Key of a request that is kept
	RUC       string
	Path      string // a part of the path
	Status    int
	Code      string
	Fault     string // the name of the fault that met it
	Unmatched bool   // only those that reached no operation: another path or method, or a refused key
	After     int64  // only those with a greater N
}

// filter is a [Filter] whose Key is a fingerprint.
type filter Filter

// differs returns the first field in which a request is not what f says, and "" when it is.
func (f filter) differs(r *entry) string {
	switch {
	case f.Op != "" && f.Op != r.Op:
		return "op is " + orNone(string(r.Op)) + ", not " + string(f.Op)
	case f.Key != "" && f.Key != r.Key:
		return "key is " + orNone(r.Key) + ", not " + f.Key
	case f.RUC != "" && f.RUC != r.RUC:
		return "RUC is " + orNone(r.RUC) + ", not " + f.RUC
	case !strings.Contains(r.Path, f.Path):
		return "path is " + r.Path + ", without " + f.Path
	case f.Status != 0 && f.Status != r.Status:
		return "status is " + strconv.Itoa(r.Status) + ", not " + strconv.Itoa(f.Status)
	case f.Code != "" && f.Code != r.Code:
		return "code is " + orNone(r.Code) + ", not " + f.Code
	case f.Fault != "" && f.Fault != r.Fault:
		return "fault is " + orNone(r.Fault) + ", not " + f.Fault
	case f.Unmatched && r.Matched:
		return "it reached " + string(r.Op)
	case r.N <= f.After:
		return "it came before"
	}
	return ""
}

// String says what f takes, without a key: a Key that looks like a fingerprint may be one.
func (f Filter) String() string {
	if f.Key != "" {
		f.Key = redact.Fingerprint(f.Key)
	}
	return filter(f).String()
}

func (f filter) String() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	add("op", string(f.Op))
	add("key", f.Key)
	add("ruc", f.RUC)
	add("path", f.Path)
	if f.Status != 0 {
		add("status", strconv.Itoa(f.Status))
	}
	add("code", f.Code)
	add("fault", f.Fault)
	if f.Unmatched {
		parts = append(parts, "unmatched")
	}
	if f.After != 0 {
		add("after", strconv.FormatInt(f.After, 10))
	}
	if len(parts) == 0 {
		return "all requests"
	}
	return "requests with " + strings.Join(parts, ", ")
}

// Format implements [fmt.Formatter]: whatever the verb, the key is left out.
func (f Filter) Format(s fmt.State, _ rune) { _, _ = fmt.Fprint(s, f.String()) }

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// taking returns a function that reports whether one of the filters takes a request; without a filter,
// each request is taken.
func taking(filters []filter) func(*entry) bool {
	return func(r *entry) bool {
		return len(filters) == 0 || slices.ContainsFunc(filters, func(f filter) bool { return f.differs(r) == "" })
	}
}
