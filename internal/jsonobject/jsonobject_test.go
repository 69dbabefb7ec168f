package jsonobject_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/jsonobject"
)

func TestGet(t *testing.T) {
	for name, c := range map[string]struct{ text, raw, want string }{
		"a text":                  {`{"ruc":"20131312955"}`, `"20131312955"`, "20131312955"},
		"with blanks":             {" \r\n{ \"a\" : 1 ,\t\"ruc\" : \"x y\" } ", `"x y"`, "x y"},
		"a number before the end": {`{"ruc":3.750}`, `3.750`, "3.750"},
		"a number before a comma": {`{"ruc":-1e3,"a":2}`, `-1e3`, "-1e3"},
		"true":                    {`{"ruc":true }`, `true`, "true"},
		"null":                    {`{"ruc":null}`, `null`, ""},
		"absent":                  {`{"a":{"ruc":"inner"},"b":["ruc","x"]}`, "", ""},
		"an object":               {`{"ruc":{"a":"}","b":[{}]},"c":1}`, `{"a":"}","b":[{}]}`, ""},
		"an array":                {`{"ruc":[1,"]",[2]],"c":1}`, `[1,"]",[2]]`, ""},
		"escapes":                 {`{"a":"\\","ruc":"\"\u00d1\\","b":"\""}`, `"\"\u00d1\\"`, `"Ñ\`},
		"marks within a text":     {`{"ruc":"{,:\t]"}`, `"{,:\t]"`, "{,:\t]"},
		"another case":            {`{"RUC":"x"}`, `"x"`, "x"},
		"the last of several":     {`{"ruc":"x","Ruc":"y","a":1}`, `"y"`, "y"},
		"empty":                   {`{}`, "", ""},
		"no object":               {`["ruc","x"]`, "", ""},
		"nothing":                 {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.text != "" {
				require.True(t, json.Valid([]byte(c.text)))
			}
			raw := jsonobject.Of(c.text).Get("ruc")
			assert.Equal(t, c.raw, raw)
			assert.Equal(t, c.want, jsonobject.Text(raw))
		})
	}
}

// FuzzOf compares with encoding/json.
func FuzzOf(f *testing.F) {
	f.Add(`{"a":1,"B":[{"a":"}"}],"c":"\"","a":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			t.Skip()
		}
		var want struct{ A, B, C json.RawMessage }
		_ = json.Unmarshal([]byte(text), &want)
		o := jsonobject.Of(text)
		assert.Equal(t, string(want.A), o.Get("a"))
		assert.Equal(t, string(want.B), o.Get("b"))
		assert.Equal(t, string(want.C), o.Get("c"))
	})
}
