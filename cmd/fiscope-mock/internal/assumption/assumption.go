// Package assumption formats and parses the fields of mockserver.Assumptions, for -assume and the admin API.
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

// Set sets one field of a from NAME=VALUE, in the notation of [List]. Its errors list the field's valid values. The server
// itself checks the range of numbers.
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

// wanted describes the valid values of a field: the kind, and the values in the mock server's readings.
func wanted(field reflect.StructField) error {
	values := strings.Join(known(field.Name), ", ")
	if kind := kinds[field.Type]; kind != "" {
		return fmt.Errorf("%s se escribe como %s (%s, ...)", field.Name, kind, values)
	}
	return fmt.Errorf("%s se escribe como uno de %s", field.Name, values)
}

// kinds are the types with more valid values than those of a list.
var kinds = map[reflect.Type]string{
	reflect.TypeFor[mockserver.Refusal](): "ESTADO o ESTADO:CÓDIGO",
	reflect.TypeFor[*time.Location]():     "una zona horaria que este sistema conozca",
	reflect.TypeFor[time.Duration]():      "una duración como 30m",
	reflect.TypeFor[int]():                "un número entero",
	reflect.TypeFor[string]():             "un código",
}

// known returns the values of a field in all readings, the default first.
func known(name string) (values []string) {
	for _, reading := range mockserver.Readings() {
		value := format(reflect.ValueOf(reading.Assumptions).FieldByName(name))
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// set parses value into field, and reports whether it is valid.
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

// location knows Lima and UTC without the system's time zones, which a small image lacks.
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

// Item is one assumption as text: [Set] accepts its NAME=VALUE.
type Item struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Section string `json:"section"` // of docs/contract.md
	Reason  string `json:"reason"`  // for the default
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

// ReadReport returns the assumptions of a JSON array of objects with name and value as NAME=VALUE, for [Set]. Such an array
// is the answer of GET /_mock/assumptions, or the conformance suite's report. It skips null values, which were not seen.
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
