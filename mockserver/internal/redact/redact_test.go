package redact_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver/internal/redact"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "canario-4711"

func TestFingerprint(t *testing.T) {
	assert.Regexp(t, "^k_[0-9a-f]{8}$", redact.Fingerprint(key))
	first := redact.Fingerprint(key)
	assert.Equal(t, first, redact.Fingerprint(key))
	assert.NotEqual(t, redact.Fingerprint(key), redact.Fingerprint(key+"x"))
	assert.True(t, redact.IsFingerprint(first))
	for _, text := range []string{"", "k_", key, first + "0", first[:9], "k_0123ABCD", "k_0123abcg", first + "\n"} {
		assert.False(t, redact.IsFingerprint(text), text)
	}
	long := strings.Repeat("x", 1000)
	assert.NotEqual(t, redact.Fingerprint(long), redact.Fingerprint(long+"x"))
}

func TestText(t *testing.T) {
	keys := redact.NewKeys(key)
	for name, c := range map[string]struct{ text, want string }{
		"as it is":      {"/api/tipocambio", "/api/tipocambio"},
		"the key in it": {"/api/" + key, "/api/" + redact.Fingerprint(key)},
		"too long":      {strings.Repeat("a", 301), strings.Repeat("a", 300) + "…"},
		"a key at the bound, which is taken out before": {strings.Repeat("a", 295) + key, strings.Repeat("a", 295) + redact.Fingerprint(key)[:5] + "…"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, redact.Text(c.text, keys)) })
	}
}

func TestAnswer(t *testing.T) {
	keys := redact.NewKeys(key, `con"comillas`)
	assert.Equal(t, "no existe "+redact.Fingerprint(key), string(redact.Answer([]byte("no existe "+key), keys)))
	assert.Equal(t, "no existe "+redact.Fingerprint(`con"comillas`), string(redact.Answer([]byte(`no existe con\"comillas`), keys)))
	long := redact.Answer([]byte(strings.Repeat("a", 5000)), keys)
	assert.Len(t, long, 4096)
	assert.Equal(t, 4096, cap(long), "the rest is not kept in memory")
	body := []byte(`{"ruc":"20131312955"}`)
	assert.Same(t, &body[0], &redact.Answer(body, keys)[0], "not copied where nothing is wrong with it")
}

func TestQuery(t *testing.T) {
	for name, c := range map[string]struct{ query, want string }{
		"none":           {"", ""},
		"the contract's": {"limit=5&razonSocial=la+%C3%B1and%C3%BA", "razonSocial=la ñandú&limit=5"},
		"twice":          {"fecha=a&fecha=b", "fecha=a&fecha=b"},
		"others":         {"claveSol=secreta&apiKey=x&fecha=2026-11-20", "fecha=2026-11-20&(no leídos: apiKey, claveSol)"},
		"near ones":      {"Fecha=2026-11-20&limite=5", "(no leídos: Fecha, limite)"},
		"a secret":       {"canario-4711=1&otra", "(no leídos: otra, 1 más)"},
		"a key":          {"fecha=" + key, "fecha=" + redact.Fingerprint(key)},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, redact.Query(&url.URL{RawQuery: c.query}, []string{"razonSocial", "limit", "fecha"}, redact.NewKeys(key)))
		})
	}
}

func TestHeaders(t *testing.T) {
	const other = "otra-llave-5"
	kept := redact.Map(redact.Headers(nil, http.Header{
		"X-Api-Key": {key, ""}, "Authorization": {"Bearer " + other}, "Proxy-Authorization": {"Basic xyz"}, "Cookie": {"a=b"}, "Apikey": {other},
		"X-Otra": {key, "b"}, "Date": nil, "Accept": {strings.Repeat("a", 400)},
		"Content-Type": {"application/json; x=canario", "text/html; charset=utf-8"},
	}, redact.NewKeys(key)))
	assert.Equal(t, []string{"application/json; …", "text/html; charset=utf-8"}, kept["Content-Type"])
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie", "Apikey"} {
		assert.Regexp(t, `^\*\*\* \([0-9a-f]{8}\)$`, kept[name][0], name)
	}
	assert.Equal(t, []string{redact.Fingerprint(key), ""}, kept["X-Api-Key"])
	assert.Equal(t, []string{redact.Fingerprint(key), "b"}, kept["X-Otra"])
	assert.Len(t, kept["Accept"][0], 300+len("…"))
	assert.NotContains(t, kept, "Date", "it was not sent")
	many := http.Header{}
	for i := range 100 {
		many.Set(fmt.Sprint("X-", i), "a")
	}
	assert.Len(t, redact.Headers(nil, many, redact.Keys{}), 2*64)
	assert.Nil(t, redact.Map(nil), "of what was not sent")
}

func TestBody(t *testing.T) {
	for media, want := range map[string]string{
		"application/json":                "(7 bytes, application/json)",
		"application/json; charset=utf-8": "(7 bytes, application/json)",
		"text/plain; x=secreta":           "(7 bytes, not application/json)",
		"":                                "(7 bytes, not application/json)",
	} {
		assert.Equal(t, want, redact.Body(media, 7), media)
	}
}

func TestQueryIsBounded(t *testing.T) {
	u, err := url.Parse("http://x/?razonSocial=" + strings.Repeat("a", 400))
	require.NoError(t, err)
	assert.Len(t, redact.Query(u, []string{"razonSocial"}, redact.NewKeys(key)), 300+len("…"))
}

// What a name hides is remembered for the first names only; any name is decided right, each time.
func TestHeadersOfManyNames(t *testing.T) {
	for i := range 1500 {
		for range 2 {
			assert.NotContains(t, redact.Header(fmt.Sprint("X-Token-", i), "s3creta-x", redact.Keys{}), "s3creta")
			assert.Equal(t, "abierta", redact.Header(fmt.Sprint("X-Nombre-", i), "abierta", redact.Keys{}))
		}
	}
}
