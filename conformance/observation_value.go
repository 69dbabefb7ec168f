package conformance

import "strconv"

// value is what was seen, which an [Observation] has a pointer to: nil is for what was not.
func value(text string) *string { return &text }

func truth(is bool) *string { return value(strconv.FormatBool(is)) }
