package strictjson

import (
	"encoding/json"
	"reflect"
	"time"
)

// Duration is a duration whose JSON is text such as "1.5s".
type Duration time.Duration

// notDuration begins the value of the error of a text that is no duration.
const notDuration = "text, no duration: "

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return &json.UnmarshalTypeError{Value: notDuration + string(text), Type: reflect.TypeFor[Duration]()} // package json adds the member's name
	}
	*d = Duration(parsed)
	return nil
}
