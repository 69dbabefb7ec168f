// Package strictjson reads JSON that people write by hand. It refuses typing errors. Its errors, in Spanish, say what
// is wrong and where, without quoting a value, which may be a clave.
package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Error says why a text was refused.
type Error struct {
	At     int // the offset in the text, in bytes
	reason string
}

func (e *Error) Error() string { return e.reason }

func failed(at int, format string, args ...any) *Error {
	return &Error{at, fmt.Sprintf(format, args...)}
}

// Decode decodes one value into v, a pointer. It refuses members that v does not have in exactly this spelling, members
// given twice, null, and text after the value.
func Decode(text []byte, v any) error {
	text = bytes.TrimPrefix(text, bom)
	if err := Check(text); err != nil {
		return err
	}
	w := &walker{json.NewDecoder(bytes.NewReader(text)), text}
	if err := w.value(reflect.TypeOf(v).Elem(), "", false); err != nil {
		return err
	}
	if json.Unmarshal(text, v) != nil { // its own texts quote the value, and change from version to version of Go
		return failed(0, "hay un valor que no se puede leer")
	}
	return nil
}

// walker walks through a JSON text, comparing it with a Go type.
type walker struct {
	*json.Decoder
	text []byte
}

// at returns where the next token begins.
func (w *walker) at() int {
	return len(w.text) - len(bytes.TrimLeft(w.text[w.InputOffset():], " \t\r\n,:"))
}

// value checks the next value, of the member name or an item of its list. If t is nil, any value is valid.
func (w *walker) value(t reflect.Type, name string, item bool) error {
	at := w.at()
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() {
		if own, ok := reflect.New(t).Interface().(json.Unmarshaler); ok { // it uses Decode itself
			var raw json.RawMessage
			_ = w.Decode(&raw) // the text was checked
			return moved(own.UnmarshalJSON(raw), at)
		}
	}
	token, _ := w.Token()
	sample := string(w.text[at:w.InputOffset()])
	switch sample {
	case "null":
		if name == "" || item {
			return failed(at, "null no es un valor")
		}
		return failed(at, "%q es null: quítelo o dele un valor", name)
	case "{":
		sample = "{}"
	case "[":
		sample = "[]"
	}
	if t != nil && json.Unmarshal([]byte(sample), reflect.New(t).Interface()) != nil {
		return w.mismatch(at, token, t, name)
	}
	switch token {
	case json.Delim('{'):
		return w.object(t)
	case json.Delim('['):
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Slice && t != reflect.TypeFor[json.RawMessage]() {
			of = t.Elem()
		}
		for w.More() {
			if err := w.value(of, name, true); err != nil {
				return err
			}
		}
		_, _ = w.Token()
	}
	return nil
}

func moved(err error, by int) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return &Error{e.At + by, e.reason}
	}
	return err
}

// object checks the members of the object that has begun.
func (w *walker) object(t reflect.Type) error {
	var fields map[string]reflect.Type
	if t != nil && t.Kind() == reflect.Struct {
		fields = fieldsOf(t)
	}
	seen := map[string]bool{}
	for w.More() {
		at := w.at()
		token, _ := w.Token()
		name, _ := token.(string)
		field, known := fields[name]
		switch {
		case seen[name]:
			return failed(at, "%q está dos veces: cada miembro va una sola vez", Short(name))
		case fields != nil && !known:
			return unknown(at, name, fields)
		case t != nil && t.Kind() == reflect.Map:
			field = t.Elem()
		}
		seen[name] = true
		if err := w.value(field, name, false); err != nil {
			return err
		}
	}
	_, _ = w.Token()
	return nil
}

func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		if f.IsExported() && !f.Anonymous && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}

// UnknownMember begins the error about an unknown member; the name follows.
const UnknownMember = "no existe el miembro "

func unknown(at int, name string, fields map[string]reflect.Type) error {
	for other := range fields {
		if strings.EqualFold(name, other) {
			return failed(at, UnknownMember+"%q: se escribe %q", Short(name), other)
		}
	}
	return failed(at, UnknownMember+"%q: los miembros son %s", Short(name), strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
}

// mismatch says that the last token, which began at at, does not fit t.
func (w *walker) mismatch(at int, token json.Token, t reflect.Type, name string) error {
	text, isText := token.(string)
	switch {
	case t == reflect.TypeFor[time.Time]():
		return failed(at, "una hora se escribe como 2026-11-20T16:59:00-05:00, entre comillas")
	case isText && t == reflect.TypeFor[json.Number]():
		return failed(at, "%q: se espera un número como 3.750", name)
	case isText && t == reflect.TypeFor[Duration]():
		return failed(at, "%q: %q no es una duración como 1.5s o 30m", name, Short(text))
	}
	member := "esto"
	if name != "" {
		member = strconv.Quote(Short(name))
	}
	return failed(int(w.InputOffset())-1, "%s es %s: se espera %s", member, cmp.Or(kinds[w.text[at]], "un número"), wanted(t))
}

// kinds are the types of JSON values in Spanish, by their first byte. The others are numbers.
var kinds = map[byte]string{'"': "un texto", 't': "true o false", 'f': "true o false", '[': "una lista", '{': "un objeto"}

func wanted(t reflect.Type) string {
	return cmp.Or(wantedTypes[t], wantedKinds[t.Kind()], "un objeto")
}

var wantedTypes = map[reflect.Type]string{
	reflect.TypeFor[Duration]():    "una duración como 1.5s o 30m, entre comillas",
	reflect.TypeFor[json.Number](): "un número como 3.750",
}

var wantedKinds = map[reflect.Kind]string{
	reflect.String: "un texto, entre comillas", reflect.Int: "un número entero", reflect.Uint64: "un número entero",
	reflect.Float64: "un número", reflect.Bool: "true o false", reflect.Slice: "una lista",
}

// Short returns the beginning of any text, for an error.
func Short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Duration is a duration whose JSON is text such as "1.5s".
type Duration time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}
