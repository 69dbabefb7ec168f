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

type failure struct {
	Code string `json:"code"`
}

type Person struct {
	Name string `json:"name"`
	Born string `json:"born"`
}

type read struct {
	failure
	Person
	Born  int `json:"born,omitempty"` // instead of the person's
	Other string
}

var names = members.NamesOf[read]()

func TestNamesOfAStruct(t *testing.T) {
	assert.ElementsMatch(t, []string{"code", "name", "born"}, names)
}

func TestRepeated(t *testing.T) {
	for name, test := range map[string]struct {
		text, repeated string
		differs        bool
	}{
		"none":                      {`{"name":"a","born":"b","code":"c"}`, "", false},
		"twice the same":            {`{"name":"a","name":"a"}`, "name", false},
		"twice, differing":          {`{"name":"a","name":"b"}`, "name", true},
		"in another case":           {`{"name":"a","NAME":"b"}`, "name", true},
		"escaped":                   {`{"name":"a","\u006eam\u0065":"b"}`, "name", true},
		"a name with a bad escape":  {`{"name":"a","nam\ud800e":"b"}`, "", false},
		"differing after the same":  {`{"name":"a","name":"a","code":1,"code":2}`, "code", true},
		"the third differs":         {`{"name":"a","name":"a","name":"b"}`, "name", true},
		"blanks and every value":    {" {\t\"x\" : -1e5 ,\r\n\"y\":[ {\"name\":\"}\\\\\"} , \"]\" ], \"z\":true,\"name\" :null , \"name\": 1 } ", "name", true},
		"a number at the end":       {`{"name":1,"name":12}`, "name", true},
		"nested":                    {`{"x":{"name":1,"name":2},"name":1}`, "", false},
		"unknown":                   {`{"x":1,"x":2}`, "", false},
		"empty names":               {`{"":1,"":2}`, "", false},
		"an element":                {`[{"name":1},{"name":1,"name":2}]`, "name", true},
		"the same, then another":    {`[{"code":1,"code":1},{"name":1,"name":2}]`, "name", true},
		"the same in an element":    {` [ {"code":1,"code":1} , {"name":1} ] `, "code", false},
		"two elements":              {`[{"name":1},{"name":2}]`, "", false},
		"elements of another shape": {`[null,1,"x",[{"name":1,"name":2}],{}]`, "", false},
		"no object":                 {`"name"`, "", false},
		"nothing":                   {``, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, differs := names.Repeated([]byte(test.text))
			assert.Equal(t, test.repeated, got)
			assert.Equal(t, test.differs, differs)
		})
	}
}

func TestALookNeedsNoMemory(t *testing.T) {
	text := []byte(`{"name":"José","born":"2001-01-01","otro":{"x":[1,2]},"code":null}`)
	assert.Zero(t, testing.AllocsPerRun(100, func() { names.Repeated(text) }))
}

// What encoding/json would let win is found, whatever the text is; and nothing else is.
func FuzzRepeated(f *testing.F) {
	for _, seed := range []string{`{"name":"a","NAME":"b"}`, `{"x":[{"name":"}\\"}],"n\u0061me":1 , "name":2}`, `{"name":1,"name":1}`, `{"bOrn":{},"born":[]}`, `{"code":"\"","cod\\e":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		got, differs := names.Repeated(text)
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
		for _, all := range values {
			for _, value := range all[1:] {
				twice, differing = true, differing || value != all[0]
			}
		}
		require.Equal(t, twice, got != "")
		require.Equal(t, differing, differs)
	})
}
