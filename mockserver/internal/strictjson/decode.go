package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
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
		at := max(0, int(shape.Offset)-1)
		if value, ok := strings.CutPrefix(shape.Value, notDuration); ok {
			value = strconv.Quote(Short(value))
			return at, &Reason{english + ": " + value + " is no duration such as 1.5s or 30m", spanish + ": " + value + " no es una duración como 1.5s o 30m"}
		}
		return at, &Reason{
			english + " is a JSON " + kind + ": want " + want.english, spanish + " es " + is + ": se espera " + want.spanish,
		}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return max(0, bytes.Index(text, []byte(name))), reason("unknown member %s", "no existe el miembro %s", Short(name))
	}
	if !strings.HasPrefix(err.Error(), "json:") {
		return 0, err
	}
	english, spanish := "a value that cannot be read", "un valor que no se puede leer"
	if member := wrongNumber(text, err); member != "" {
		english, spanish = english+": "+member+" is a number such as 3.750", spanish+": "+member+" es un número como 3.750"
	}
	return 0, &Reason{english, spanish}
}

// wrongNumber returns the quoted name of a member that is a [json.Number] and has a text that is none: package
// json tells the value only.
func wrongNumber(text []byte, err error) string {
	value, ok := strings.CutPrefix(err.Error(), "json: invalid number literal, trying to unmarshal ")
	if !ok {
		return ""
	}
	value, unquoted := strconv.Unquote(strings.TrimSuffix(value, " into Number"))
	if unquoted != nil {
		return ""
	}
	member := regexp.MustCompile(`("\w+")\s*:\s*` + regexp.QuoteMeta(value)).FindSubmatch(text)
	if member == nil {
		return ""
	}
	return string(member[1])
}

// kinds are the kinds of JSON in Spanish.
var kinds = map[string]string{
	"string": "un texto", "number": "un número", "bool": "true o false", "array": "una lista", "object": "un objeto",
}

func wanted(t reflect.Type) Reason {
	switch t {
	case reflect.TypeFor[Duration]():
		return Reason{"a duration such as 1.5s or 30m, in quotes", "una duración como 1.5s o 30m, entre comillas"}
	case reflect.TypeFor[json.Number]():
		return Reason{"a number such as 3.750", "un número como 3.750"}
	}
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
