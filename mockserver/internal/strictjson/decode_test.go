package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope/mockserver/internal/strictjson"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"right":            {`{"price": 3.750, "wait": "1.5s"}`, ""},
		"unknown member":   {`{"precio": 4711}`, `unknown member "precio"`},
		"a long member":    {`{"` + strings.Repeat("x", 60) + `": 1}`, `unknown member "` + strings.Repeat("x", 39) + "…"},
		"wrong type":       {`{"price": true}`, `"price" is a JSON bool: want a number such as 3.750`},
		"no number":        {`{"price": "4711x"}`, `a value that cannot be read: "price" is a number such as 3.750`},
		"no duration":      {`{"wait": 15}`, `"wait" is a JSON number: want a duration such as 1.5s or 30m, in quotes`},
		"no text at all":   {`{"price": ""}`, `a value that cannot be read: "price" is a number such as 3.750`},
		"the type's words": {`{"wait": "15"}`, `"wait": "15" is no duration such as 1.5s or 30m`},
	} {
		t.Run(name, func(t *testing.T) {
			var v struct {
				Price json.Number         `json:"price"`
				Wait  strictjson.Duration `json:"wait"`
			}
			err := strictjson.Decode([]byte(c.text), &v)
			if c.want != "" {
				assert.EqualError(t, err, c.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, json.Number("3.750"), v.Price, "with its zeros")
			assert.Equal(t, strictjson.Duration(1500*time.Millisecond), v.Wait)
		})
	}
}

func TestDurationIsText(t *testing.T) {
	text, err := json.Marshal(strictjson.Duration(30 * time.Minute))
	require.NoError(t, err)
	assert.Equal(t, `"30m0s"`, string(text))
}

func TestShort(t *testing.T) {
	assert.Equal(t, "Ñ", strictjson.Short("Ñ"))
	assert.Equal(t, strings.Repeat("Ñ", 40)+"…", strictjson.Short(strings.Repeat("Ñ", 41)))
}
