package admin

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestKeysArePutAndTakenAway(t *testing.T) {
	r := start(t)
	listed := func() (list []apiKey) {
		r.ok(&list, "GET", "keys", "")
		return list
	}
	own, other, added := fingerprint(r.mock.APIKey), fingerprint("s3creta"), fingerprint("llave-nueva")
	assert.Equal(t, []apiKey{{own, 1000, true}, {other, 5, false}}, listed())

	r.ok(nil, "POST", "keys", `{"key": "llave-nueva", "quota": 1}`)
	assert.Equal(t, []apiKey{{own, 1000, true}, {added, 1, false}, {other, 5, false}}, listed())
	assert.Equal(t, 200, r.call(lookup, "llave-nueva"))
	assert.Equal(t, 429, r.call(lookup, "llave-nueva"))
	r.ok(nil, "POST", "keys", `{"key": "llave-nueva"}`)
	assert.Equal(t, 1, listed()[1].Limit, "without a quota, one that is there keeps its own")
	r.ok(nil, "POST", "keys", `{"key": "llave-nueva", "quota": -1}`)
	assert.Equal(t, 200, r.call(lookup, "llave-nueva"))
	r.ok(new(any), "PUT", "assumptions", `{"Quota": 12}`)
	r.ok(nil, "POST", "keys", `{"key": "llave-otra"}`)
	q, _ := r.mock.Quota("llave-otra")
	assert.Equal(t, 12, q.Limit, "a new one has the server's")

	r.ok(nil, "DELETE", "keys/"+added, "")
	assert.Equal(t, 401, r.call(lookup, "llave-nueva"))
	r.do("DELETE", "keys/"+added, "").isProblem(t, 404, codeNotFound, "GET /_mock/keys")
	r.do("DELETE", "keys/llave-otra", "").isProblem(t, 404, codeNotFound, "huella")
	assert.Equal(t, 200, r.call(lookup, "llave-otra"), "a key is not named by itself in an address")
	r.ok(nil, "DELETE", "keys/"+own, "")
	assert.Len(t, listed(), 2)
	assert.NotContains(t, r.log.String(), "llave")
}

func TestKeysThatCannotBePut(t *testing.T) {
	r := start(t)
	before := r.do("GET", "data", "").body
	for name, c := range map[string]struct{ body, says string }{
		"nothing":          {``, "la clave de API está vacía"},
		"a space":          {`{"key": "llave nueva", "quota": 1}`, "ASCII imprimible"},
		"below no limit":   {`{"key": "llave-nueva", "quota": -2}`, "una cuota de -2 llamadas"},
		"a quota in text":  {`{"key": "llave-nueva", "quota": "llave-nueva"}`, `se espera un número entero`},
		"a key's own name": {`{"llave-nueva": 100}`, "tiene un miembro que no existe"},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.do("POST", "keys", c.body)
			got.isProblem(t, 400, codeInvalid, c.says)
			assert.NotContains(t, got.body, "llave-")
			assert.Equal(t, before, r.do("GET", "data", "").body)
		})
	}
}
