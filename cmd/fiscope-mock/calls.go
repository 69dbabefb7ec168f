package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/mockserver"
)

// logCalls logs each finished call of the journal that matches a filter, until ctx ends.
func logCalls(ctx context.Context, mock *mockserver.Server, of mockserver.Filter, log *slog.Logger) {
	for rev := int64(0); ; {
		changes, next, err := mock.Control().Changes(ctx, rev, of)
		if err != nil {
			return
		}
		rev = next
		for _, change := range changes {
			if r := change.Request; r != nil && (r.Status != 0 || r.Ms > 0) { // otherwise it is in flight
				logCall(log, r)
			}
		}
	}
}

// logCall logs a call as stored in the journal: without keys and claves.
func logCall(log *slog.Logger, r *mockserver.Request) {
	if c, ok := log.Handler().(*console); ok {
		_ = c.write(c.call(r)) // stderr may be closed
		return
	}
	level := slog.LevelInfo
	if r.Status < 200 || r.Status > 299 {
		level = slog.LevelWarn
	}
	code, text := reason(r)
	record := slog.NewRecord(r.Time.In(fiscope.Lima), level, "call", 0)
	record.Add("method", r.Method, "path", r.Path, "op", string(r.Op), "status", r.Status, "code", code, "error", text,
		"cost", r.Cost, "left", r.Left, "ms", r.Ms, "fault", r.Fault, "upstream", r.Upstream)
	_ = log.Handler().Handle(context.Background(), record)
}

// call formats a call as a line: time, request, cost, and the reason for a refusal.
func (c *console) call(r *mockserver.Request) string {
	shown, colour := fmt.Sprint(r.Status), terminal.Green
	switch {
	case r.Status == 0:
		shown, colour = "---", terminal.Red
	case r.Status >= 500:
		colour = terminal.Red
	case r.Status >= 300:
		colour = terminal.Yellow
	}
	what := r.Method + " " + r.Path
	if r.Query != "" {
		what += "?" + r.Query
	}
	cost := fmt.Sprintf("costó %d", r.Cost)
	if r.Left != mockserver.Unlimited {
		cost += fmt.Sprintf(", quedan %d", r.Left)
	}
	why := ""
	if r.Fault != "" {
		why = "  falla " + r.Fault
	}
	if r.Code != "MOCK_UPSTREAM" { // which it did not answer
		why += map[string]string{"asked": "  del servicio real", "strange": "  del servicio real, rompe el contrato"}[r.Upstream]
	}
	if code, text := reason(r); r.Status == 0 {
		why += "  no se respondió"
	} else if code+text != "" {
		why += "  " + strings.Trim(code+": "+text, ": ")
	}
	return r.Time.In(fiscope.Lima).Format("15:04:05 ") + c.colour(colour, shown) + terminal.Printable(" "+what+"  "+cost+why)
}

// where matches the contract's section at the end of an error's text.
var where = regexp.MustCompile(` \(docs/contract\.md, [0-9.]+\)$`)

// reason returns the code and the text of an error answer, "" for any other.
func reason(r *mockserver.Request) (code, text string) {
	const most = 300
	var e struct{ Error, Code string }
	if r.Status >= 300 {
		_ = json.Unmarshal([]byte(r.Answer), &e) // an HTML page has none
	}
	e.Error = where.ReplaceAllString(e.Error, "")
	return cmp.Or(r.Code, e.Code), e.Error[:min(len(e.Error), most)]
}
