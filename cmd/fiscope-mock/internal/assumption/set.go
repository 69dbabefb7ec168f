// Package assumption writes and reads the fields of mockserver.Assumptions as text: for -assume and for
// the list of the admin API.
package assumption

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// Set changes one field of a from NAME=VALUE, in the notation of [List]. Its errors say the values that the
// field takes. Whether a server can take a number is the server's to say.
func Set(a *mockserver.Assumptions, text string) error {
	name, value, given := strings.Cut(text, "=")
	fields := reflect.ValueOf(a).Elem()
	var others []string
	for field, v := range fields.Fields() {
		if !strings.EqualFold(field.Name, name) {
			others = append(others, field.Name)
			continue
		}
		changed := reflect.New(v.Type()).Elem()
		changed.Set(v)
		if !given || !set(changed, field.Name, value) {
			return wanted(field)
		}
		v.Set(changed)
		return nil
	}
	names := strings.Join(others, ", ")
	return &Refusal{
		"no assumption has that name, of NAME=VALUE such as BlockAfter=5: the names are " + names,
		"ninguna lectura se llama así: los nombres son " + names,
	}
}

// Refusal is why a text sets nothing, in two languages.
type Refusal struct{ english, spanish string }

// Error implements error, in English.
func (r *Refusal) Error() string { return r.english }

// Spanish is the same in Spanish.
func (r *Refusal) Spanish() string { return r.spanish }

// wanted says what values a field takes: the kind, and those that the mock server knows readings with.
func wanted(field reflect.StructField) error {
	values := " " + strings.Join(known(field.Name), ", ")
	kind := kinds[field.Type]
	switch {
	case kind != Refusal{}:
	case closed(field.Type):
		kind = Refusal{"one of", "uno de"}
	default:
		kind = kindsOf[field.Type.Kind()]
	}
	switch {
	case field.Type.Kind() == reflect.Bool:
		values = ""
	case !closed(field.Type):
		values = " (" + values[1:] + ", ...)"
	}
	return &Refusal{
		fmt.Sprintf("want NAME=VALUE: %s takes %s%s", field.Name, kind.english, values),
		fmt.Sprintf("%s se escribe como %s%s", field.Name, kind.spanish, values),
	}
}

var kinds = map[reflect.Type]Refusal{
	reflect.TypeFor[mockserver.Refusal](): {"STATUS or STATUS:CODE", "ESTADO o ESTADO:CÓDIGO"},
	reflect.TypeFor[*time.Location]():     {"a time zone that this system knows", "una zona horaria que este sistema conozca"},
	reflect.TypeFor[time.Duration]():      {"a duration such as 30m", "una duración como 30m"},
}

var kindsOf = map[reflect.Kind]Refusal{
	reflect.Bool:   {"true or false", "true o false"},
	reflect.Int:    {"a whole number", "un número entero"},
	reflect.String: {"a code", "un código"},
}

// closed reports whether a field takes the values of a list and no other: a string of a type of its own.
func closed(t reflect.Type) bool { return t.Kind() == reflect.String && t != reflect.TypeFor[string]() }

// known are the values of a field in all readings, the default first.
func known(name string) (values []string) {
	for _, reading := range mockserver.Readings() {
		value := format(reflect.ValueOf(reading.Assumptions).FieldByName(name))
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// set reports whether a field was set from a text.
func set(field reflect.Value, name, value string) bool {
	var err error
	switch into := field.Addr().Interface().(type) {
	case *mockserver.Refusal:
		status, code, coded := strings.Cut(value, ":")
		into.Status, err = strconv.Atoi(status)
		if coded {
			into.Code = code
		}
		return err == nil
	case **time.Location:
		*into, err = location(value)
		return err == nil
	case *time.Duration:
		*into, err = time.ParseDuration(value)
		return err == nil
	}
	switch field.Kind() {
	case reflect.Bool:
		var on bool
		on, err = strconv.ParseBool(value)
		field.SetBool(on)
	case reflect.Int:
		var n int
		n, err = strconv.Atoi(value)
		field.SetInt(int64(n))
	case reflect.String:
		if closed(field.Type()) && !slices.Contains(known(name), value) {
			return false
		}
		field.SetString(value)
	default:
		return false
	}
	return err == nil
}

// location knows Lima and UTC without the system's time zones, which a small image does not have.
func location(name string) (*time.Location, error) {
	if name == "America/Lima" {
		return fiscope.Lima, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" {
		return nil, errors.New("no such time zone")
	}
	return zone, nil
}
