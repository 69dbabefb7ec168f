package mockserver

import (
	"encoding/json"
	"fmt"
	"time"
)

// span is a duration whose JSON is text such as "1.5s".
type span time.Duration

func (d span) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (d *span) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no duration such as 1.5s or 30m", shortened(string(text)))
	}
	*d = span(parsed)
	return nil
}

type (
	plainEffect Effect
	jsonEffect  struct {
		*plainEffect
		Latency span `json:"latency,omitempty"`
		Every   span `json:"every,omitempty"`
	}
)

// MarshalJSON writes durations as text: "1.5s".
func (e Effect) MarshalJSON() ([]byte, error) {
	plain := plainEffect(e)
	return json.Marshal(jsonEffect{&plain, span(e.Latency), span(e.Every)})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses an unknown member.
func (e *Effect) UnmarshalJSON(text []byte) error {
	j := jsonEffect{plainEffect: new(plainEffect)}
	if err := strictJSON(text, &j); err != nil {
		return err
	}
	*e = Effect(*j.plainEffect)
	e.Latency, e.Every = time.Duration(j.Latency), time.Duration(j.Every)
	return nil
}
