// Package jsonobject finds the members of a JSON object in its text. With encoding/json and a struct a lookup would be a
// fourth slower.
package jsonobject

import (
	"encoding/json"
	"strings"
)

// Object is the members of a JSON object, in order.
type Object []member

type member struct{ name, value string }

// Of returns the members of an object; nil for any other value. text must be valid JSON.
func Of(text string) Object {
	at := skip(text, 0)
	if at == len(text) || text[at] != '{' {
		return nil
	}
	o := make(Object, 0, min(strings.Count(text, ":"), 16))
	for at = skip(text, at+1); text[at] != '}'; at = skip(text, at) {
		name := text[at:end(text, at)]
		at = skip(text, at+len(name))
		value := text[at:end(text, at)]
		at += len(value)
		o = append(o, member{name[1 : len(name)-1], value})
	}
	return o
}

// Get returns the value of a member as written; "" if it is absent. As in encoding/json, case is ignored and the last
// of several wins.
func (o Object) Get(name string) string {
	for i := len(o) - 1; i >= 0; i-- {
		if len(o[i].name) == len(name) && strings.EqualFold(o[i].name, name) {
			return o[i].value
		}
	}
	return ""
}

// Text returns the text of a JSON scalar; "" for null, an object or an array.
func Text(value string) (text string) {
	switch {
	case len(value) == 0 || strings.IndexByte("n{[", value[0]) >= 0:
		return ""
	case value[0] != '"':
		return value
	case strings.Contains(value, `\`):
		_ = json.Unmarshal([]byte(value), &text)
		return text
	}
	return value[1 : len(value)-1]
}

// skip returns where the next name or value begins, or the object ends.
func skip(text string, at int) int {
	for ; at < len(text); at++ {
		switch text[at] {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return at
		}
	}
	return at
}

// end returns where the value that begins at an offset ends.
func end(text string, at int) int {
	for depth := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // it closes what holds a number or literal
				return at
			}
			depth--
		case ' ', '\t', '\r', '\n', ',':
			if depth == 0 {
				return at
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return at + 1
		}
	}
	return at
}
