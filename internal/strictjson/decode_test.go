package strictjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fiscope/fiscope/internal/strictjson"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type item struct {
	ID  string `json:"id"`
	Own own    `json:"own"`

	Names    map[string]string
	Anything any    `json:"anything"`
	Skipped  string `json:"-"`
}

// own is a type with JSON of its own.
type own struct{ wait strictjson.Duration }

func (o *own) UnmarshalJSON(text []byte) error {
	var v struct {
		Wait strictjson.Duration `json:"wait"`
	}
	err := strictjson.Decode(text, &v)
	o.wait = v.Wait
	return err
}

func TestItem(t *testing.T) {
	text := []byte("\ufeff{\"a\": 1,\n\"list\": [\n{},\n[1],\n2],\n\"b\": {}}")
	for i, line := range []int{3, 4, 5} {
		assert.Equal(t, line, strictjson.Line(text, strictjson.Item(text, "list", i)))
	}
	assert.Equal(t, 6, strictjson.Line(text, strictjson.Item(text, "b", -1)))
	assert.Zero(t, strictjson.Item(text, "none", 0))
}

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"right":            {`{"price": 3.750, "wait": "1.5s"}`, ""},
		"with a BOM":       {"\ufeff" + `{"price": "3.750", "wait": "1.5s"}`, ""},
		"anything":         {`{"price": 3.750, "wait": "1.5s", "list": [{"anything": {"a": {"b": [{}, "c"]}}}]}`, ""},
		"of a map":         {`{"list": [{"Names": {"a": 5}}]}`, `1:26 "a" es un número: se espera un texto, entre comillas`},
		"a skipped one":    {`{"list": [{"-": "x"}]}`, `1:11 no existe el miembro "-": los miembros son Names, anything, id, own`},
		"unknown member":   {`{"precio": 4711}`, `1:1 no existe el miembro "precio": los miembros son list, price, wait`},
		"another case":     {"{\n\"Price\": 4711}", `2:2 no existe el miembro "Price": se escribe "price"`},
		"a long member":    {`{"` + strings.Repeat("x", 60) + `": 1}`, `1:1 no existe el miembro "` + strings.Repeat("x", 40) + `…": los miembros son list, price, wait`},
		"twice":            {`{"price": 1, "price": 2}`, `1:13 "price" está dos veces: cada miembro va una sola vez`},
		"twice inside":     {"{\"list\": [{},\n{\"id\": \"a\", \"id\": \"b\"}]}", `2:26 "id" está dos veces: cada miembro va una sola vez`},
		"null":             {`{"price": null}`, `1:10 "price" es null: quítelo o dele un valor`},
		"null in a list":   {`{"list": [null]}`, `1:10 null no es un valor`},
		"wrong type":       {`{"price": true}`, `1:13 "price" es true o false: se espera un número como 3.750`},
		"no number":        {`{"price": "4711x"}`, `1:10 "price": se espera un número como 3.750`},
		"no duration":      {`{"wait": 15}`, `1:10 "wait" es un número: se espera una duración como 1.5s o 30m, entre comillas`},
		"no text at all":   {`{"price": ""}`, `1:10 "price": se espera un número como 3.750`},
		"the type's words": {`{"wait": "15"}`, `1:9 "wait": "15" no es una duración como 1.5s o 30m`},
		"a huge number":    {`{"list": [{"anything": {"a": 1e999}}]}`, `1:0 hay un valor que no se puede leer`},
		"no list":          {`{"list": {}}`, `1:9 "list" es un objeto: se espera una lista`},
		"no object":        {`"4711"`, `1:5 esto es un texto: se espera un objeto`},
		"no item":          {`{"list": [{"id": "a"}, 5]}`, `1:23 "list" es un número: se espera un objeto`},
		"a comma":          {`{"list": [],}`, `1:12 no es JSON: hay una coma, una comilla o una llave que no corresponde (byte 13)`},
		"nothing":          {" ", `1:0 el texto termina antes de tiempo: falta cerrar una llave, un corchete o una comilla`},
		"not closed":       {"{\"list\":\n[", `2:10 el texto termina antes de tiempo: falta cerrar una llave, un corchete o una comilla`},
		"no JSON":          {"hola", `1:0 no es JSON: hay una coma, una comilla o una llave que no corresponde (byte 1)`},
		"text after it":    {"{}\n\n{}", `3:4 hay más texto después del valor`},
		"a brace after it": {"{}}", `1:2 hay más texto después del valor`},
		"not UTF-8 at all": {"\xd1", `1:0 no es UTF-8, como debe ser JSON: guárdelo en UTF-8`},
		"UTF-16, reversed": {"\xfe\xff\x00{", `1:0 empieza con el BOM de UTF-16, y JSON debe ser UTF-8: guárdelo en UTF-8`},
		"not UTF-8":        {"{\"list\":\n\"\xd1\"", `2:10 no es UTF-8, como debe ser JSON: guárdelo en UTF-8`},
		"UTF-16":           {"\xff\xfe{\x00", `1:0 empieza con el BOM de UTF-16, y JSON debe ser UTF-8: guárdelo en UTF-8`},
		"a member's own":   {"{\"list\": [\n{\"own\": {\"Wait\": \"1s\"}}]}", `2:20 no existe el miembro "Wait": se escribe "wait"`},
	} {
		t.Run(name, func(t *testing.T) {
			var v struct {
				Price json.Number         `json:"price"`
				Wait  strictjson.Duration `json:"wait"`
				List  []*item             `json:"list"`
			}
			err := strictjson.Decode([]byte(c.text), &v)
			if c.want != "" {
				var wrong *strictjson.Error
				require.ErrorAs(t, err, &wrong)
				assert.Equal(t, c.want, fmt.Sprintf("%d:%d %s", strictjson.Line([]byte(c.text), wrong.At), wrong.At, wrong))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, json.Number("3.750"), v.Price, "with its zeros")
			assert.Equal(t, strictjson.Duration(1500*time.Millisecond), v.Wait)
		})
	}
}

// How deep encoding/json goes is its own affair; that it ends is ours.
func TestATextThatIsFarTooDeepIsRefused(t *testing.T) {
	var v []any
	assert.ErrorContains(t, strictjson.Decode([]byte(strings.Repeat("[", 1_000_000)), &v), "no es JSON")
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
