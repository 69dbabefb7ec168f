package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// Decode decodes one value into v, a pointer, and refuses members that v does not have.
func Decode(text []byte, v any) error {
	_, err := decode(text, v)
	return err
}

// decode also returns where in text an error is.
func decode(text []byte, v any) (at int, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return explain(text, err)
	}
	return 0, nil
}

// explain says where and how a value differs from what was asked for. The texts of encoding/json quote
// the value; those of a type's own UnmarshalJSON or UnmarshalText are that type's business, and stay.
func explain(text []byte, err error) (at int, why error) {
	if shape := (*json.UnmarshalTypeError)(nil); errors.As(err, &shape) {
		kind, _, _ := strings.Cut(shape.Value, " ") // what follows is the value
		is, want := kinds[kind], wanted(shape.Type)
		// The last name: before it may stand that of an embedded struct.
		member := shape.Field[strings.LastIndexByte(shape.Field, '.')+1:]
		english, spanish := strconv.Quote(member), strconv.Quote(member)
		if member == "" {
			english, spanish = "this", "esto"
		}
		return int(shape.Offset) - 1, &Reason{
			english + " is a JSON " + kind + ": want " + want.english, spanish + " es " + is + ": se espera " + want.spanish,
		}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return max(0, bytes.Index(text, []byte(name))), reason("unknown member %s", "no existe el miembro %s", Short(name))
	}
	if !strings.HasPrefix(err.Error(), "json:") {
		return 0, err
	}
	return 0, reason("a value that cannot be read", "un valor que no se puede leer")
}

// kinds are the kinds of JSON in Spanish.
var kinds = map[string]string{
	"string": "un texto", "number": "un número", "bool": "true o false", "array": "una lista", "object": "un objeto",
}

func wanted(t reflect.Type) Reason {
	switch t.Kind() {
	case reflect.String:
		return Reason{"a text, in quotes", "un texto, entre comillas"}
	case reflect.Int, reflect.Uint64:
		return Reason{"a whole number", "un número entero"}
	case reflect.Float64:
		return Reason{"a number", "un número"}
	case reflect.Bool:
		return Reason{"true or false", "true o false"}
	case reflect.Slice:
		return Reason{"a list", "una lista"}
	}
	return Reason{"an object", "un objeto"}
}

// Short returns the beginning of a piece of text that may be anything, for an error.
func Short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
