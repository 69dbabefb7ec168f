package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// dataParser reads one file, member by member and record by record, so that an error has a place.
type dataParser struct {
	text []byte
	dec  *json.Decoder
	at   int // where the error is, in bytes
	data Data
}

func (p *dataParser) file() error {
	if at := invalidUTF8(p.text); at >= 0 {
		p.at = at
		return errors.New("not UTF-8, as JSON must be: save the file in UTF-8")
	}
	if err := p.expect('{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		name, err := p.token()
		if err != nil {
			return err
		}
		member, _ := name.(string)
		if seen[member] {
			return fmt.Errorf("%q came before: a file has each member once", member)
		}
		seen[member] = true
		if err := p.member(member); err != nil {
			return err
		}
	}
	if err := p.expect('}'); err != nil {
		return err
	}
	if p.next(); p.at < len(p.text) {
		return errors.New("more text after the end of the object")
	}
	return nil
}

// member reads one member of the object: a list record by record, any other value as a whole.
func (p *dataParser) member(name string) error {
	d := &p.data
	switch name {
	case "contribuyentes":
		return records(p, &d.Contribuyentes, Contribuyente.check)
	case "comprobantes":
		return records(p, &d.Comprobantes, Comprobante.check)
	case "usuarios":
		return records(p, &d.Usuarios, SOL.check)
	case "tiposCambio":
		return records(p, &d.TiposCambio, TipoCambio.check)
	case "keys":
		return records(p, &d.Keys, Key.check)
	case "deleted":
		return record(p, &d.Deleted, Deleted.check)
	case "withoutDefaults":
		return record(p, &d.WithoutDefaults, func(bool) error { return nil })
	}
	return fmt.Errorf("unknown member %q: the members are contribuyentes, comprobantes, usuarios, tiposCambio, keys, deleted and withoutDefaults", shortened(name))
}

func records[T any](p *dataParser, into *[]T, check func(T) error) error {
	if err := p.expect('['); err != nil {
		return err
	}
	for p.dec.More() {
		var item T
		if err := record(p, &item, check); err != nil {
			return err
		}
		*into = append(*into, item)
	}
	return p.expect(']')
}

// record reads one value strictly. Its texts are its own: those of encoding/json can quote a clave.
func record[T any](p *dataParser, into *T, check func(T) error) error {
	p.next()
	begin := p.at
	var raw json.RawMessage
	if err := p.dec.Decode(&raw); err != nil {
		return p.syntax(err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		at, err := misshapen(raw, err)
		p.at = begin + at
		return err
	}
	if string(raw) == "null" {
		return errors.New("null is no record")
	}
	return check(*into)
}

// misshapen says where and how a value differs from the format.
func misshapen(raw []byte, err error) (at int, reason error) {
	if shape := (*json.UnmarshalTypeError)(nil); errors.As(err, &shape) {
		kind, _, _ := strings.Cut(shape.Value, " ") // what follows is the value
		member := strconv.Quote(shape.Field)
		if shape.Field == "" {
			member = "this"
		}
		return int(shape.Offset) - 1, fmt.Errorf("%s is a JSON %s: want %s", member, kind, wanted(shape.Type))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return max(0, bytes.Index(raw, []byte(name))), fmt.Errorf("unknown member %s", shortened(name))
	}
	return 0, errors.New("a value that cannot be read: want the format of mockserver.Data")
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text, in quotes"
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// shortened shows a piece of a file that may be anything.
func shortened(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func (p *dataParser) expect(want json.Delim) error {
	got, err := p.token()
	if err == nil && got != want {
		err = fmt.Errorf("want %q here", want.String())
	}
	return err
}

func (p *dataParser) token() (json.Token, error) {
	p.next()
	t, err := p.dec.Token()
	return t, p.syntax(err)
}

// next moves to the value that comes next.
func (p *dataParser) next() {
	p.at = int(p.dec.InputOffset())
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n,:", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *dataParser) syntax(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		p.at = len(bytes.TrimRight(p.text, " \t\r\n"))
		return errors.New("the file ends too early: a bracket or a quote is not closed")
	case errors.As(err, &syntax):
		p.at = max(p.at, int(syntax.Offset)-1)
		return errors.New("not JSON: a comma, a quote or a bracket is wrong here")
	}
	return err
}

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
