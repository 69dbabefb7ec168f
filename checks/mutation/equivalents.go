package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// readEquivalents reads the mutants that are known to be no other program than the original, and why. Each is a line with
// its name, and below it the reason, indented; # begins a comment.
func readEquivalents(name string) (map[string]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	reasons := map[string]string{}
	id, line := "", 0
	for scanner := bufio.NewScanner(f); ; {
		more := scanner.Scan()
		line++
		text := scanner.Text()
		indented := strings.HasPrefix(text, "\t") || strings.HasPrefix(text, " ")
		switch {
		case more && (strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#")):
		case more && indented && id == "":
			return nil, fmt.Errorf("%s:%d: a reason, and no mutant before it", name, line)
		case more && indented:
			reasons[id] = strings.TrimSpace(reasons[id] + " " + strings.TrimSpace(text))
		case id != "" && reasons[id] == "":
			return nil, fmt.Errorf("%s:%d: the mutant before this line has no reason: %s", name, line, id)
		case !more:
			return reasons, scanner.Err()
		default:
			if _, twice := reasons[text]; twice {
				return nil, fmt.Errorf("%s:%d: it is there twice: %s", name, line, text)
			}
			id, reasons[text] = text, ""
		}
	}
}
