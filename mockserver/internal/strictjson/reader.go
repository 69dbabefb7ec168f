// Package strictjson reads JSON that people write by hand: it refuses members that nobody knows, and its
// errors say where and what is wrong without quoting a value, which may be a clave.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Reader reads one JSON text piece by piece, so that an error has a line. The first error ends it.
type Reader struct {
	text []byte
	dec  *json.Decoder
	at   int // where the reader is, or the error, in bytes
}

// NewReader returns a reader of a whole text.
func NewReader(text []byte) *Reader {
	return &Reader{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
}

// Line returns the line that the reader is in, from 1 on: after an error, the line of the error.
func (r *Reader) Line() int {
	return 1 + bytes.Count(r.text[:min(r.at, len(r.text))], []byte("\n"))
}

// Object reads the whole text as one object, and calls member for each of its members, which must read
// the value. No member may come twice, and nothing after the object.
func (r *Reader) Object(member func(name string) error) error {
	if at := invalidUTF8(r.text); at >= 0 {
		r.at = at
		return errors.New("not UTF-8, as JSON must be: save the file in UTF-8")
	}
	if err := r.expect('{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for r.dec.More() {
		token, err := r.token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // the decoder takes nothing else for a member's name
		if seen[name] {
			return fmt.Errorf("%q came before: a file has each member once", name)
		}
		seen[name] = true
		if err := member(name); err != nil {
			return err
		}
	}
	if err := r.expect('}'); err != nil {
		return err
	}
	if r.next(); r.at < len(r.text) {
		return errors.New("more text after the end of the object")
	}
	return nil
}

// List reads a list, and calls item for each of its values, which must read it.
func (r *Reader) List(item func() error) error {
	if err := r.expect('['); err != nil {
		return err
	}
	for r.dec.More() {
		if err := item(); err != nil {
			return err
		}
	}
	return r.expect(']')
}

// Value reads one value into v, a pointer.
func (r *Reader) Value(v any) error {
	r.next()
	begin := r.at
	var raw json.RawMessage
	if err := r.dec.Decode(&raw); err != nil {
		return r.explained(err)
	}
	if at, err := decode(raw, v); err != nil {
		r.at = begin + at
		return err
	}
	if string(raw) == "null" {
		return errors.New("null is no record")
	}
	return nil
}

func (r *Reader) expect(want json.Delim) error {
	got, err := r.token()
	if err == nil && got != want {
		err = fmt.Errorf("want %q here", want.String())
	}
	return err
}

func (r *Reader) token() (json.Token, error) {
	r.next()
	t, err := r.dec.Token()
	return t, r.explained(err)
}

// next moves to the value that comes next.
func (r *Reader) next() {
	r.at = int(r.dec.InputOffset())
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[r.at]) >= 0 {
		r.at++
	}
}

// explained says what is wrong with a text that is not JSON, and moves there.
func (r *Reader) explained(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		r.at = len(bytes.TrimRight(r.text, " \t\r\n"))
		return errors.New("the file ends too early: a bracket or a quote is not closed")
	case errors.As(err, &syntax):
		r.at = max(r.at, int(syntax.Offset)-1)
		return errors.New("not JSON: a comma, a quote or a bracket is wrong here")
	}
	return err
}

// invalidUTF8 returns where text is not UTF-8, or -1.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
