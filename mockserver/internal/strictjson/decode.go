package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
func explain(text []byte, err error) (at int, reason error) {
	if shape := (*json.UnmarshalTypeError)(nil); errors.As(err, &shape) {
		kind, _, _ := strings.Cut(shape.Value, " ") // what follows is the value
		member := strconv.Quote(shape.Field)
		if shape.Field == "" {
			member = "this"
		}
		return int(shape.Offset) - 1, fmt.Errorf("%s is a JSON %s: want %s", member, kind, wanted(shape.Type))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return max(0, bytes.Index(text, []byte(name))), fmt.Errorf("unknown member %s", Short(name))
	}
	if !strings.HasPrefix(err.Error(), "json:") {
		return 0, err
	}
	return 0, errors.New("a value that cannot be read")
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

// Short returns the beginning of a piece of text that may be anything, for an error.
func Short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
