package strictjson

import "time"

// Duration is a duration whose JSON is text such as "1.5s".
type Duration time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return reason("%q is no duration such as 1.5s or 30m", "%q no es una duración como 1.5s o 30m", Short(string(text)))
	}
	*d = Duration(parsed)
	return nil
}
