// Package assumption writes and reads the fields of mockserver.Assumptions as text: for -assume and for
// the list of the admin API.
package assumption

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	return fmt.Errorf("ninguna lectura se llama así: los nombres son %s", strings.Join(others, ", "))
}

// wanted says what values a field takes: the kind, and those that the mock server knows readings with.
func wanted(field reflect.StructField) error {
	values := strings.Join(known(field.Name), ", ")
	if kind := kinds[field.Type]; kind != "" {
		return fmt.Errorf("%s se escribe como %s (%s, ...)", field.Name, kind, values)
	}
	return fmt.Errorf("%s se escribe como uno de %s", field.Name, values)
}

// kinds are the types whose values are more than those of a list.
var kinds = map[reflect.Type]string{
	reflect.TypeFor[mockserver.Refusal](): "ESTADO o ESTADO:CÓDIGO",
	reflect.TypeFor[*time.Location]():     "una zona horaria que este sistema conozca",
	reflect.TypeFor[time.Duration]():      "una duración como 30m",
	reflect.TypeFor[int]():                "un número entero",
	reflect.TypeFor[string]():             "un código",
}

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
		if kinds[field.Type()] == "" && !slices.Contains(known(name), value) {
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

// Item is one assumption as text: NAME=VALUE of an Item is what [Set] reads.
type Item struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Section string `json:"section"` // of docs/contract.md
	Reason  string `json:"reason"`  // of the default
}

// List returns the assumptions of a, in the order of the fields.
func List(a mockserver.Assumptions) []Item {
	values, defaults := reflect.ValueOf(a), reflect.ValueOf(mockserver.DefaultAssumptions())
	var list []Item
	for _, p := range mockserver.OpenPoints() {
		list = append(list, Item{p.Field, format(values.FieldByName(p.Field)), format(defaults.FieldByName(p.Field)), p.Section, p.Reason})
	}
	return list
}

func format(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case mockserver.Refusal:
		return fmt.Sprintf("%d:%s", value.Status, value.Code)
	case *time.Location:
		return value.String()
	default:
		return fmt.Sprint(value)
	}
}

// ReadReport returns the assumptions of a JSON array of objects with name and value as NAME=VALUE, for [Set]: the answer of
// GET /_mock/assumptions, or what the conformance suite has seen. A value of null, which was not seen, is left out.
func ReadReport(r io.Reader) (texts []string, err error) {
	var items []struct {
		Name  string  `json:"name"`
		Value *string `json:"value"`
	}
	d := json.NewDecoder(r)
	if err := d.Decode(&items); err != nil {
		return nil, fmt.Errorf("want a JSON array of objects with name and value: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("want one JSON array and nothing after it")
	}
	for i, item := range items {
		switch {
		case item.Name == "" || strings.Contains(item.Name, "="):
			return nil, fmt.Errorf("item %d has no name", i+1)
		case item.Value != nil:
			texts = append(texts, item.Name+"="+*item.Value)
		}
	}
	return texts, nil
}
