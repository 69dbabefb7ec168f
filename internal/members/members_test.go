package members_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/members"
)

var names = members.NewNames("name", "born", "code")

func TestMoreNamesThanAnObjectHolds(t *testing.T) {
	assert.Panics(t, func() { members.NewNames(strings.Split("abcdefghijklmnopq", "")...) })
}

func TestGet(t *testing.T) {
	for name, test := range map[string]struct{ text, value string }{
		"a text":                {`{"name":"a"}`, `"a"`},
		"with blanks":           {" {\t\"x\" : {} ,\r\n\"name\" : [ 1 , 2 ] } ", `[ 1 , 2 ]`},
		"in another order":      {`{"code":1,"born":2,"name":3}`, `3`},
		"in another case":       {`{"NAME":1}`, `1`},
		"escaped":               {`{"n\u0061me":1}`, `1`},
		"a string with escapes": {`{"name":"\\\"\\\\","born":"x"}`, `"\\\"\\\\"`},
		"null":                  {`{"name":null}`, `null`},
		"absent":                {`{"born":1}`, ``},
		"the last of two":       {`{"name":1,"name":2}`, `2`},
		"but for null":          {`{"name":1,"name":null}`, `1`},
		"nested":                {`{"born":{"name":1}}`, ``},
		"of no object":          {`["name"]`, ``},
		"of nothing":            {``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			o := names.Read([]byte(test.text))
			assert.Equal(t, test.value, string(o.Get("name")))
			assert.Nil(t, o.Get("unknown"))
		})
	}
}

func TestAll(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		values []string
	}{
		"none":             {`{"born":1,"born":2}`, nil},
		"one":              {`{"name":1}`, []string{"1"}},
		"one of others":    {`{"name":1,"born":2,"born":3}`, []string{"1"}},
		"in every case":    {`{"name":1,"born":0,"NAME":2,"n\u0061me":1}`, []string{"1", "2", "1"}},
		"the same, a null": {`{"name":1,"name":null}`, []string{"1", "null"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := names.Read([]byte(test.text))
			var values []string
			for _, value := range o.All("name") {
				values = append(values, string(value))
			}
			assert.Equal(t, test.values, values)
		})
	}
}

func TestElements(t *testing.T) {
	for name, test := range map[string]struct {
		text     string
		elements []string
	}{
		"of every kind": {` [ {"a":[1,"]"]} , [2] ,"x",-1e5 , true,null ] `, []string{`{"a":[1,"]"]}`, `[2]`, `"x"`, `-1e5`, `true`, `null`}},
		"none":          {`[]`, nil},
		"no array":      {`{"a":[1]}`, nil},
		"nothing":       {``, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var elements []string
			for i, element := range members.Elements([]byte(test.text)) {
				assert.Equal(t, len(elements), i)
				elements = append(elements, string(element))
			}
			assert.Equal(t, test.elements, elements)
		})
	}
	for range members.Elements([]byte(`[1,2]`)) {
		break
	}
}

func TestRepeated(t *testing.T) {
	for name, test := range map[string]struct {
		text, repeated string
		differs        bool
	}{
		"none":                     {`{"name":"a","born":"b","code":"c"}`, "", false},
		"twice the same":           {`{"name":"a","name":"a"}`, "name", false},
		"twice, differing":         {`{"name":"a","name":"b"}`, "name", true},
		"in another case":          {`{"name":"a","NAME":"b"}`, "name", true},
		"escaped":                  {`{"name":"a","\u006eam\u0065":"b"}`, "name", true},
		"a name with a bad escape": {`{"name":"a","nam\ud800e":"b"}`, "", false},
		"differing after the same": {`{"name":"a","name":"a","code":1,"code":2}`, "code", true},
		"the third differs":        {`{"name":"a","name":"a","name":"b"}`, "name", true},
		"blanks and every value":   {" {\t\"x\" : -1e5 ,\r\n\"y\":[ {\"name\":\"}\\\\\"} , \"]\" ], \"z\":true,\"name\" :null , \"name\": 1 } ", "name", true},
		"a number at the end":      {`{"name":1,"name":12}`, "name", true},
		"nested":                   {`{"x":{"name":1,"name":2},"name":1}`, "", false},
		"unknown":                  {`{"x":1,"x":2}`, "", false},
		"empty names":              {`{"":1,"":2}`, "", false},
		"no object":                {`"name"`, "", false},
		"nothing":                  {``, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := names.Read([]byte(test.text))
			assert.Equal(t, test.repeated, o.Repeated)
			assert.Equal(t, test.differs, o.Differs)
		})
	}
}

func TestReadingNeedsNoMemory(t *testing.T) {
	text := []byte(`{"name":"José","born":"2001-01-01","otro":{"x":[1,2]},"code":null}`)
	assert.Zero(t, testing.AllocsPerRun(100, func() { names.Read(text) }))
}

// What encoding/json would let win is found, whatever the text is; and nothing else is.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"name":"a","NAME":"b"}`, `{"x":[{"name":"}\\"}],"n\u0061me":1 , "name":2}`, `{"name":1,"name":1}`, `{"bOrn":{},"born":[]}`, `{"code":"\"","cod\\e":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		o := names.Read(text)
		if trimmed := bytes.TrimSpace(text); trimmed[0] != '{' {
			return
		}
		values := map[string][]string{}
		d := json.NewDecoder(bytes.NewReader(text))
		_, err := d.Token()
		require.NoError(t, err)
		for d.More() {
			name, err := d.Token()
			require.NoError(t, err)
			var value json.RawMessage
			require.NoError(t, d.Decode(&value))
			for _, known := range names {
				if strings.EqualFold(name.(string), known) {
					values[known] = append(values[known], string(value))
				}
			}
		}
		twice, differing := false, false
		for name, all := range values {
			last := all[0]
			for _, value := range all[1:] {
				if value != "null" {
					last = value
				}
				twice, differing = true, differing || value != all[0]
			}
			require.Equal(t, last, string(o.Get(name)))
		}
		require.Equal(t, twice, o.Repeated != "")
		require.Equal(t, differing, o.Differs)
	})
}
