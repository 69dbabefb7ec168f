package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheWalk(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, &out))
	for _, d := range []string{"decide: pagar (llamadas: 2)", "decide: pagar (llamadas: 3)", "decide: esperar (llamadas: 2)", "decide: seguir mañana (llamadas: 1)", "decide: corregir la clave SOL (llamadas: 2)"} {
		assert.Contains(t, out.String(), d)
	}
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 81)
	}
}
