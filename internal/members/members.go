// Package members finds the members that come twice in a JSON object. encoding/json lets the last of them
// win, also where they differ in case, and says nothing.
package members

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Names are the names of the members that are read into a struct.
type Names []string

// most is how many names there can be, so that a look for repetitions needs no memory.
const most = 16

// NamesOf returns the names in the tags of a struct, with those of the structs that it embeds.
func NamesOf[T any]() Names {
	var names Names
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	if len(names) > most {
		panic("members: a struct of more names than Repeated can look for")
	}
	return names
}

// Repeated looks for a member of these names that comes twice, in the same or in another case, in an
// object or in one of an array's. What is nested deeper does not matter. It returns the first whose values
// differ in their bytes, otherwise the first that comes twice, and "" where none does. text is what
// encoding/json accepts.
func (names Names) Repeated(text []byte) (name string, differs bool) {
	outer := cursor(text)
	if outer.skip(); len(outer) == 0 || outer[0] != '[' {
		return names.repeatedIn(outer)
	}
	outer = outer[1:]
	for outer.skip(); len(outer) > 0 && outer[0] != ']'; outer.skip() {
		found, differs := names.repeatedIn(outer.value())
		if differs {
			return found, true
		}
		if name == "" {
			name = found
		}
	}
	return name, false
}

// repeatedIn is Repeated of one object.
func (names Names) repeatedIn(object []byte) (name string, differs bool) {
	if len(object) == 0 || object[0] != '{' {
		return "", false
	}
	var seen [most][]byte // the value that each name had first
	next := 0             // the name that follows the last one, as it mostly does
	inner := cursor(object[1:])
	for inner.skip(); len(inner) > 0 && inner[0] == '"'; inner.skip() {
		quoted := inner.value()
		inner.skip()
		value := inner.value()
		i := names.index(quoted, next)
		next = i + 1
		switch {
		case i < 0:
		case seen[i] == nil:
			seen[i] = value
		case !bytes.Equal(seen[i], value):
			return names[i], true
		case name == "":
			name = names[i]
		}
	}
	return name, false
}

// index returns which of the names encoding/json takes a name for, as it stands in quotes; -1 for none. The
// one that it may well be is tried first.
func (names Names) index(quoted []byte, first int) int {
	read := quoted[1 : len(quoted)-1]
	if first < len(names) && string(read) == names[first] {
		return first
	}
	if bytes.IndexByte(read, '\\') >= 0 {
		var unescaped string
		if json.Unmarshal(quoted, &unescaped) != nil {
			return -1
		}
		read = []byte(unescaped)
	}
	for i, name := range names {
		if len(read) >= len(name) && len(read) <= 3*len(name) && strings.EqualFold(string(read), name) { // no letter folds to more than 3 bytes
			return i
		}
	}
	return -1
}

// cursor is what is left to read of a JSON text. Since the text is known to be good, a separator says
// nothing that the values do not.
type cursor []byte

// skip passes blanks and separators.
func (c *cursor) skip() {
	for len(*c) > 0 && separates((*c)[0]) {
		*c = (*c)[1:]
	}
}

func separates(b byte) bool {
	switch b {
	case ' ', '\t', '\r', '\n', ',', ':':
		return true
	}
	return false
}

// value takes one value.
func (c *cursor) value() []byte {
	end, depth := 0, 0
	for text := *c; end < len(text); {
		switch text[end] {
		case '"':
			end += lengthOfString(text[end:])
		case '{', '[':
			depth++
			end++
		case '}', ']':
			depth--
			end++
		default:
			end++
			if depth == 0 { // a number, true, false or null
				for end < len(text) && !separates(text[end]) && text[end] != ']' && text[end] != '}' {
					end++
				}
			}
		}
		if depth <= 0 {
			break
		}
	}
	value := (*c)[:end]
	*c = (*c)[end:]
	return value
}

// lengthOfString returns how many bytes a string has, with its quotes.
func lengthOfString(text []byte) int {
	for end := 1; end < len(text); {
		quote := bytes.IndexByte(text[end:], '"')
		if quote < 0 {
			break
		}
		end += quote + 1
		if !escaped(text[:end-1]) {
			return end
		}
	}
	return len(text)
}

// escaped reports whether what follows before is escaped: by an odd number of backslashes.
func escaped(before []byte) bool {
	backslashes := 0
	for i := len(before) - 1; i > 0 && before[i] == '\\'; i-- {
		backslashes++
	}
	return backslashes%2 == 1
}
