// Package strictjson reads JSON that people write by hand: it refuses members that nobody knows, and its
// errors say where and what is wrong without quoting a value, which may be a clave.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
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

// NewReader returns a reader of a whole text. Some editors begin a text with the BOM of UTF-8: it is left out.
func NewReader(text []byte) *Reader {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return &Reader{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
}

// Line returns the line that the reader is in, from 1 on: after an error, the line of the error.
func (r *Reader) Line() int {
	return 1 + bytes.Count(r.text[:min(r.at, len(r.text))], []byte("\n"))
}

// Object reads the whole text as one object, and calls member for each of its members, which must read
// the value. No member may come twice, and nothing after the object.
func (r *Reader) Object(member func(name string) error) error {
	if bytes.HasPrefix(r.text, []byte{0xff, 0xfe}) || bytes.HasPrefix(r.text, []byte{0xfe, 0xff}) {
		return reason("it begins with the BOM of UTF-16, and JSON must be UTF-8: save the file in UTF-8",
			"empieza con el BOM de UTF-16, y JSON debe ser UTF-8: guárdelo en UTF-8")
	}
	if at := invalidUTF8(r.text); at >= 0 {
		r.at = at
		return reason("not UTF-8, as JSON must be: save the file in UTF-8", "no es UTF-8, como debe ser JSON: guárdelo en UTF-8")
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
			return reason("%q came before: a file has each member once", "%q está dos veces: cada miembro va una sola vez", name)
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
		return reason("more text after the end of the object", "hay más texto después del objeto")
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
		return reason("null is no record", "null no es un registro")
	}
	return nil
}

func (r *Reader) expect(want json.Delim) error {
	got, err := r.token()
	if err == nil && got != want {
		err = reason("want %q here", "aquí se espera %q", want.String())
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
		return reason("the file ends too early: a bracket or a quote is not closed", "el texto termina antes de tiempo: falta cerrar una llave, un corchete o una comilla")
	case errors.As(err, &syntax):
		r.at = max(r.at, int(syntax.Offset)-1)
		return reason("not JSON: a comma, a quote or a bracket is wrong here", "no es JSON: aquí hay una coma, una comilla o una llave que no corresponde")
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
