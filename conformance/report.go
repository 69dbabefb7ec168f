package conformance

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// notSeen stands in the table for what was not seen.
const notSeen = "-"

// table shows what was seen beside what the mock does by default.
func table(seen []Observation) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "left open\tseen here\tthe mock by default\tsection")
	for i, p := range points {
		value := notSeen
		if seen[i].Value != nil {
			value = *seen[i].Value
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.name, printable(value), p.ours, p.section)
	}
	_ = w.Flush()
	return text.String()
}

// literal is the Go of mockserver.Assumptions as seen; what was not seen is as the mock has it by default.
func literal(seen []Observation) string {
	var text strings.Builder
	text.WriteString("mockserver.Assumptions{\n")
	for i, p := range points {
		value, comment := p.ours, " // not seen: the mock's default"
		if seen[i].Value != nil {
			value, comment = *seen[i].Value, ""
		}
		fmt.Fprintf(&text, "\t%s: %s,%s\n", p.name, p.kind.literal(value), comment)
	}
	text.WriteString("}")
	return text.String()
}

// literal writes a value as Go does.
func (k valueKind) literal(value string) string {
	switch k {
	case ofRefusal:
		status, code, _ := strings.Cut(value, ":")
		return fmt.Sprintf("mockserver.Refusal{Status: %s, Code: %q}", status, code)
	case ofText:
		return fmt.Sprintf("%q", value)
	case ofZone:
		switch hours := 0; {
		case value == "UTC":
			return "time.UTC"
		case value == "America/Lima":
			return "fiscope.Lima"
		default:
			_, _ = fmt.Sscanf(value, "Etc/GMT%d", &hours)
			return fmt.Sprintf("time.FixedZone(%q, %d*60*60)", value, -hours)
		}
	case ofDuration:
		d, _ := time.ParseDuration(value)
		return fmt.Sprintf("%d * time.Minute", d/time.Minute)
	}
	return value
}

// printable keeps what a server sent from writing control characters on a terminal.
func printable(text string) string { return secrets{}.abridged(text) }
