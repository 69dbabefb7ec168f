// Package assumption writes and reads the fields of mockserver.Assumptions as text: for -assume and for
// the list of the admin API.
package assumption

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

// Set changes one field of a from NAME=VALUE, in the notation of [List]. Whether a server can take the
// value is the server's to say.
func Set(a *mockserver.Assumptions, text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("want NAME=VALUE, such as BlockAfter=5")
	}
	fields := reflect.ValueOf(a).Elem()
	var known []string
	for field, v := range fields.Fields() {
		if strings.EqualFold(field.Name, name) {
			return set(v, value)
		}
		known = append(known, field.Name)
	}
	return fmt.Errorf("no assumption has that name: the names are %s", strings.Join(known, ", "))
}

func set(field reflect.Value, value string) error {
	switch into := field.Addr().Interface().(type) {
	case *mockserver.Refusal:
		status, code, coded := strings.Cut(value, ":")
		n, err := strconv.Atoi(status)
		if err != nil {
			return errors.New("want STATUS or STATUS:CODE, such as 403:FORBIDDEN")
		}
		into.Status = n
		if coded {
			into.Code = code
		}
		return nil
	case **time.Location:
		zone, err := location(value)
		*into = zone
		return err
	case *time.Duration:
		d, err := time.ParseDuration(value)
		if err != nil {
			return errors.New("want a duration such as 30m")
		}
		*into = d
		return nil
	}
	var err error
	switch field.Kind() {
	case reflect.Bool:
		var on bool
		if on, err = strconv.ParseBool(value); err != nil {
			return errors.New("want true or false")
		}
		field.SetBool(on)
	case reflect.Int:
		var n int
		if n, err = strconv.Atoi(value); err != nil {
			return errors.New("want a whole number")
		}
		field.SetInt(int64(n))
	case reflect.String:
		field.SetString(value)
	default:
		err = errors.New("it cannot be set here")
	}
	return err
}

// location knows Lima and UTC without the system's time zones, which a small image does not have.
func location(name string) (*time.Location, error) {
	if name == "America/Lima" {
		return fiscope.Lima, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" {
		return nil, errors.New("want a time zone that this system knows, such as UTC or America/Lima")
	}
	return zone, nil
}
