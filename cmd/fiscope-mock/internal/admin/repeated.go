package admin

import (
	"encoding/json"
	"strings"
)

// repeatedMember returns the name of a member that an object of a text has twice, which encoding/json takes without
// a word, and lets the last one win; "" for none. Case makes no other name, since it makes none for encoding/json. The
// text is one that json has taken.
func repeatedMember(d *json.Decoder) string {
	switch token, _ := d.Token(); token {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			token, _ := d.Token()
			name, _ := token.(string)
			folded := strings.ToLower(name)
			if seen[folded] {
				return name
			}
			seen[folded] = true
			if name := repeatedMember(d); name != "" {
				return name
			}
		}
	case json.Delim('['):
		for d.More() {
			if name := repeatedMember(d); name != "" {
				return name
			}
		}
	default:
		return ""
	}
	_, _ = d.Token() // the end of the object or the list
	return ""
}
