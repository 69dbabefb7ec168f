package strictjson_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/fiscope/fiscope/mockserver/internal/strictjson"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pet is a record of the test's own format: {"pets": [pet, ...], "closed": bool}.
type pet struct {
	Name string   `json:"name"`
	Legs int      `json:"legs"`
	Tags []string `json:"tags"`
}

// read reads a text of that format, and returns the error as "line: reason".
func read(text string) (pets []pet, closed bool, err error) {
	r := strictjson.NewReader([]byte(text))
	err = r.Object(func(name string) error {
		switch name {
		case "pets":
			return r.List(func() error {
				var p pet
				if err := r.Value(&p); err != nil {
					return err
				}
				if p.Legs < 0 {
					return errors.New("legs are negative")
				}
				pets = append(pets, p)
				return nil
			})
		case "closed":
			return r.Value(&closed)
		}
		return errors.New("unknown")
	})
	if err != nil {
		err = fmt.Errorf("%d: %w", r.Line(), err)
	}
	return pets, closed, err
}

func TestReaderReadsEachMember(t *testing.T) {
	pets, closed, err := read("\n{\"closed\": true, \"pets\": [{\"name\": \"Ñusta\", \"legs\": 4}, {}]}\n")
	require.NoError(t, err)
	assert.True(t, closed)
	assert.Equal(t, []pet{{Name: "Ñusta", Legs: 4}, {}}, pets)
	_, _, err = read("{}")
	assert.NoError(t, err)
}

func TestReaderSaysWhereAndWhat(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":             {"", "1: the file ends too early: a bracket or a quote is not closed"},
		"no JSON":             {"hola", "1: not JSON: a comma, a quote or a bracket is wrong here"},
		"a list":              {"\n[]", `2: want "{" here`},
		"no list":             {"{\"pets\":\n{}}", `2: want "[" here`},
		"a repeated member":   {"{\"closed\": true,\n\"closed\": true}", `2: "closed" came before: a file has each member once`},
		"the caller's reason": {"{\n\"otro\": 1}", "2: unknown"},
		"a record's reason":   {"{\"pets\": [{},\n{\"legs\": -1}]}", "2: legs are negative"},
		"a trailing comma":    {"{\"pets\": [\n{},\n]}", "3: not JSON: a comma, a quote or a bracket is wrong here"},
		"not closed":          {"{\"pets\": [\n{\"name\": \"Yma\"", "2: the file ends too early: a bracket or a quote is not closed"},
		"text after it":       {"{}\n\n{}", "3: more text after the end of the object"},
		"not UTF-8":           {"{\"pets\":\n[{\"name\": \"\xd1usta\"}]}", "2: not UTF-8, as JSON must be: save the file in UTF-8"},
		"null":                {"{\"pets\": [\nnull]}", "2: null is no record"},
		"an unknown field":    {"{\"pets\": [{\"name\": \"Yma\",\n\"nombre\": \"Yma\"}]}", `2: unknown member "nombre"`},
		"a wrong type":        {"{\"pets\": [{\"name\":\n4711}]}", `2: "name" is a JSON number: want a text, in quotes`},
		"no whole number":     {"{\"pets\": [{\"legs\": 47.11}]}", `1: "legs" is a JSON number: want a whole number`},
		"no list inside":      {"{\"pets\": [{\"tags\": \"4711\"}]}", `1: "tags" is a JSON string: want a list`},
		"no object":           {"{\"pets\": [\n\"4711\"]}", "2: this is a JSON string: want an object"},
		"no bool":             {"{\"closed\": \"4711\"}", "1: this is a JSON string: want true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := read(c.text)
			assert.EqualError(t, err, c.want)
		})
	}
}
