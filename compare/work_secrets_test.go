package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSecrets(t *testing.T) {
	us, err := measureSecrets(t.Context(), ours)
	require.NoError(t, err)
	assert.Empty(t, us.showing)
	assert.Equal(t, 5*9, us.outputs)

	byHand, err := measureSecrets(t.Context(), contenders[0])
	require.NoError(t, err)
	assert.Contains(t, byHand.showing, "*http.Request %v")
	assert.Contains(t, byHand.showing, "peers.Validacion JSON")
	assert.Equal(t, 5*9, byHand.outputs)
}

func TestASecretIsFoundHoweverFmtWritesIt(t *testing.T) {
	held := struct{ Text, other string }{Text: "", other: clave}
	for name, text := range map[string]string{
		"plain":       "a " + clave + " b",
		"hexadecimal": hex.EncodeToString([]byte(clave)),
		"%x":          fmt.Sprintf("%x", held),
		"%#v":         fmt.Sprintf("%#v", held),
		"bytes":       fmt.Sprintf("%v", []byte("x"+clave+"x")),
		"bytes, %#v":  fmt.Sprintf("%#v", []byte("x"+clave+"x")),
		"JSON":        inJSONOf(t, []byte("x"+clave)),
		"JSON, one":   inJSONOf(t, []byte("xx"+clave+"x")),
		"JSON, two":   inJSONOf(t, []byte("xxx"+clave+"xx")),
		"an error":    fmt.Sprint(errors.New(clave)),
	} {
		assert.True(t, shows(text, clave), name)
	}
	assert.False(t, shows("claveFalsa", clave))
	assert.False(t, shows("", clave))
}

func inJSONOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
