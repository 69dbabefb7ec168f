// Package members reads the members of a JSON object as they stand in the text. encoding/json does not say
// which are there, nor that one comes twice: it lets the last of them win, also where they differ in case.
package members

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// Names are the names of the members that are read, in the order in which they mostly come.
type Names []string

// most is how many names there can be, so that an object needs no memory of its own.
const most = 16

// NewNames returns names. More than 16 are a mistake in the program.
func NewNames(names ...string) Names {
	if len(names) > most {
		panic("members: more names than an object can hold")
	}
	return names
}

// Object is what an object has of the members that are read.
type Object struct {
	// Repeated is a member that comes twice, in the same or in another case: the first whose values differ
	// in their bytes, otherwise the first that comes twice, and "" where none does.
	Repeated string
	Differs  bool // its values do

	names  Names
	values [most][]byte
	text   []byte
}

// Get returns the value of a member, and nil where it is absent. Where it comes twice it is the last that is not
// null, as it is for encoding/json.
func (o *Object) Get(name string) []byte {
	for i, known := range o.names {
		if known == name {
			return o.values[i]
		}
	}
	return nil
}

// All returns all values of a member, in their order.
func (o *Object) All(name string) (values [][]byte) {
	if o.Repeated == "" {
		if value := o.Get(name); value != nil {
			values = append(values, value)
		}
		return values
	}
	for i, value := range o.names.each(o.text) {
		if o.names[i] == name {
			values = append(values, value)
		}
	}
	return values
}

// Read reads the members with these names of an object, and none of another value. What is nested deeper
// does not matter. text is what encoding/json accepts.
func (names Names) Read(text []byte) Object {
	o := Object{names: names, text: text}
	for i, value := range names.each(text) {
		before := o.values[i]
		if before != nil {
			o.repeats(names[i], !bytes.Equal(before, value))
		}
		if before == nil || string(value) != "null" {
			o.values[i] = value
		}
	}
	return o
}

// each returns the members with these names, by the index of the name.
func (names Names) each(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		c := cursor(text)
		if c.skip(); len(c) == 0 || c[0] != '{' {
			return
		}
		c = c[1:]
		next := 0 // the name that follows the last one, as it mostly does
		for c.skip(); len(c) > 0 && c[0] == '"'; c.skip() {
			quoted := c.value()
			c.skip()
			value := c.value()
			i := names.index(quoted, next)
			if i < 0 {
				continue
			}
			if next = i + 1; !yield(i, value) {
				return
			}
		}
	}
}

// repeats notes that a member comes twice.
func (o *Object) repeats(name string, differs bool) {
	if o.Repeated == "" || differs && !o.Differs {
		o.Repeated, o.Differs = name, differs
	}
}

// Elements returns the elements of an array, and none of another value. text is what encoding/json accepts.
func Elements(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		c := cursor(text)
		if c.skip(); len(c) == 0 || c[0] != '[' {
			return
		}
		c = c[1:]
		c.skip()
		for i := 0; len(c) > 0 && c[0] != ']' && yield(i, c.value()); i++ {
			c.skip()
		}
	}
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
