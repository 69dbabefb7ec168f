package conformance

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// table shows what was seen next to the mock's defaults.
func table(seen []Observation) string {
	text := fmt.Sprintf("%-23s %-27s %-27s %s\n", "left open", "seen here", "the mock by default", "section")
	for i, p := range points {
		value := "-"
		if seen[i].Value != nil {
			value = secrets{}.abridged(*seen[i].Value)
		}
		text += fmt.Sprintf("%-23s %-27s %-27s %s\n", p.name, value, p.ours, p.section)
	}
	return text
}

// literal returns mockserver.Assumptions as Go code, with what was seen and otherwise the mock's defaults.
func literal(seen []Observation) string {
	text := "mockserver.Assumptions{\n"
	for i, p := range points {
		value, comment := p.ours, " // not seen: the mock's default"
		if seen[i].Value != nil {
			value, comment = *seen[i].Value, ""
		}
		text += fmt.Sprintf("\t%s: %s,%s\n", p.name, inGo(p.ours, value), comment)
	}
	return text + "}"
}

var (
	refusalForm = regexp.MustCompile(`^\d{3}:`)
	plainForm   = regexp.MustCompile(`^(\d+|true|false)$`)
)

// inGo returns a value as Go code. The form of the mock's default tells its type.
func inGo(ours, value string) string {
	hours := 0
	duration, err := time.ParseDuration(ours)
	switch {
	case plainForm.MatchString(ours):
		return value
	case refusalForm.MatchString(ours):
		status, code, _ := strings.Cut(value, ":")
		return fmt.Sprintf("mockserver.Refusal{Status: %s, Code: %q}", status, code)
	case err == nil: // never seen from outside
		return fmt.Sprintf("%d * time.Minute", duration/time.Minute)
	case ours != "America/Lima":
		return fmt.Sprintf("%q", value)
	case value == "UTC":
		return "time.UTC"
	case value == ours:
		return "fiscope.Lima"
	}
	_, _ = fmt.Sscanf(value, "Etc/GMT%d", &hours)
	return fmt.Sprintf("time.FixedZone(%q, %d*60*60)", value, -hours)
}
