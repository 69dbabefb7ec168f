package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What changes in -data is taken while it serves; what cannot be taken is said once, and changes nothing.
func TestDataAreReadAgain(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "datos.json")
	version := func(n int) string {
		return fmt.Sprintf(`{"contribuyentes": [{"ruc": "2060000000%d", "razonSocial": "VERSION %d"}], "keys": [{"key": "clave-de-prueba", "quota": %d}]}`, n, n, 100_000+n)
	}
	require.NoError(t, os.WriteFile(file, []byte(version(1)), 0o600))
	p := startProgram(t, nil, "-addr", "127.0.0.1:0", "-data", folder)
	known := func(n int) bool {
		_, body := ask(t, "GET", fmt.Sprintf("%s/api/contribuyentes/2060000000%d", p.url, n), "")
		return strings.Contains(body, fmt.Sprintf("VERSION %d", n))
	}
	eventually := func(is func() bool) {
		t.Helper()
		require.Eventually(t, is, 20*time.Second, 20*time.Millisecond)
	}
	require.True(t, known(1))
	require.NoError(t, os.WriteFile(file, []byte(version(2)), 0o600))
	eventually(func() bool { return known(2) })
	assert.False(t, known(1), "it is in the file no more")
	_, limit := lookup(t, p.url, "clave-de-prueba")
	assert.Equal(t, "100002", limit)

	const wrong = "no tomó lo nuevo de -data"
	require.NoError(t, os.WriteFile(file, []byte(version(3)[:40]), 0o600))
	eventually(func() bool { return strings.Contains(p.stderr.String(), wrong) })
	assert.Contains(t, p.stderr.String(), "datos.json:1: ")
	assert.True(t, known(2), "the data of before")
	require.NoError(t, os.Remove(file))
	eventually(func() bool { return strings.Count(p.stderr.String(), wrong) == 2 })
	assert.True(t, known(2))
	require.NoError(t, os.WriteFile(file, []byte(version(3)), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "mas.json"), []byte(version(4)), 0o600))
	eventually(func() bool { return known(4) })
	eventually(func() bool { return known(3) })
	assert.Equal(t, 2, strings.Count(p.stderr.String(), wrong), "each once")
	status, body := ask(t, "DELETE", p.url+"/_mock/data", "")
	require.Equal(t, 204, status, body)
	assert.True(t, known(3), "a reset goes back to the last ones")
}
