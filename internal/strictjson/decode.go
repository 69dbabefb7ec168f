// Package strictjson reads JSON that people write by hand. It refuses typing errors. Its errors, in Spanish, say what
// is wrong and where, without quoting a value, which may be a clave.
package strictjson

import (
	"bytes"
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
	if err := w.value(reflect.TypeOf(v).Elem(), ""); err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return explained(err)
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
	at := int(w.InputOffset())
	for at < len(w.text) && strings.IndexByte(" \t\r\n,:", w.text[at]) >= 0 {
		at++
	}
	return at
}

// value checks the next value. If t is nil, any value is valid.
func (w *walker) value(t reflect.Type, name string) error {
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
	if text, isText := token.(string); isText && t == reflect.TypeFor[json.Number]() && json.Unmarshal([]byte(text), new(float64)) != nil {
		return failed(at, "%q: se espera un número como 3.750", name)
	} else if isText && t == reflect.TypeFor[Duration]() && new(Duration).UnmarshalText([]byte(text)) != nil {
		return failed(at, "%q: %q no es una duración como 1.5s o 30m", name, Short(text))
	}
	switch token {
	case nil:
		if name == "" {
			return failed(at, "null no es un valor")
		}
		return failed(at, "%q es null: quítelo o dele un valor", name)
	case json.Delim('{'):
		return w.object(t)
	case json.Delim('['):
		var item reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			item = t.Elem()
		}
		for w.More() {
			if err := w.value(item, ""); err != nil {
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
		if err := w.value(field, name); err != nil {
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

// explained returns an error of encoding/json in our words: its own texts quote the value.
func explained(err error) error {
	own, shape, moment := (*Error)(nil), (*json.UnmarshalTypeError)(nil), (*time.ParseError)(nil)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &shape):
		// The last name: an embedded struct's may come before it.
		member := "esto"
		if name := shape.Field[strings.LastIndexByte(shape.Field, '.')+1:]; name != "" {
			member = strconv.Quote(name)
		}
		kind, _, _ := strings.Cut(shape.Value, " ") // what follows is the value
		return failed(max(0, int(shape.Offset)-1), "%s es %s: se espera %s", member, kinds[kind], wanted(shape.Type))
	case errors.As(err, &moment), strings.HasPrefix(err.Error(), "Time.UnmarshalJSON:"):
		return failed(0, "una hora se escribe como 2026-11-20T16:59:00-05:00, entre comillas")
	}
	return failed(0, "hay un valor que no se puede leer")
}

// kinds are the types of JSON values in Spanish.
var kinds = map[string]string{
	"string": "un texto", "number": "un número", "bool": "true o false", "array": "una lista", "object": "un objeto",
}

func wanted(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Duration]():
		return "una duración como 1.5s o 30m, entre comillas"
	case reflect.TypeFor[json.Number]():
		return "un número como 3.750"
	}
	switch t.Kind() {
	case reflect.String:
		return "un texto, entre comillas"
	case reflect.Int, reflect.Uint64:
		return "un número entero"
	case reflect.Float64:
		return "un número"
	case reflect.Bool:
		return "true o false"
	case reflect.Slice:
		return "una lista"
	}
	return "un objeto"
}

// Short returns the beginning of any text, for an error.
func Short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
