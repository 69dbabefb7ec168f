package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// json reads the body as exactly one JSON value: map[string]any, []any, string, [json.Number], bool or nil.
func (a answer) json() (any, error) {
	switch {
	case a.cut != nil:
		return nil, a.cut
	case len(bytes.TrimSpace(a.body)) == 0:
		return nil, errors.New("the body is empty")
	case !utf8.Valid(a.body):
		return nil, errors.New("the body is not UTF-8, as JSON must be")
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("the body is no JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the body goes on after its JSON value: there must be one")
	}
	return value, nil
}

// servedAsJSON returns why a client would not take the body for JSON, or nil. An answer without a Content-Type
// says nothing, and JSON is what the contract says.
func (a answer) servedAsJSON() error {
	for _, given := range a.header.Values("Content-Type") {
		media, _, _ := strings.Cut(strings.ToLower(given), ";") // what its parameters are is not ours to judge
		media = strings.TrimSpace(media)
		if media != "application/json" && !(strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")) {
			return fmt.Errorf("its Content-Type is %q: want application/json", given)
		}
	}
	return nil
}

// kind is what a value of JSON is called.
func kind(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	}
	return "an object"
}

// shown is a value as a message quotes it.
func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil { // a number that was never written by a server
		return kind(value)
	}
	return string(text)
}
