package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// indexWith makes an index of one taxpayer more than registryText has, 20100000001 with that name.
func indexWith(t *testing.T, folder, name, nombre string) string {
	t.Helper()
	file := writeFile(t, t.TempDir(), "padron.txt", registryText+"20100000001|"+nombre+"|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n")
	index := filepath.Join(folder, name)
	importIndex(t, file, index)
	return index
}

// change changes a letter of what stands in a file.
func change(t *testing.T, name, word string) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	at := bytes.Index(readFile(t, name), []byte(word))
	require.Positive(t, at)
	_, err = file.WriteAt([]byte{word[0] + 1}, int64(at))
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

// What cannot be answered, or taken up, is reported in Spanish, and the process goes on.
func TestADamagedIndexEndsNothing(t *testing.T) {
	folder := t.TempDir()
	index := indexWith(t, folder, "padron.idx", "NUMERO 0")
	next := indexWith(t, folder, "siguiente.idx", "NUMERO 1")
	p := startProgram(t, []string{"FISCOPE_MOCK_ADDR=127.0.0.1:0"}, "-padron", index, "-log", "text")
	require.NoError(t, os.Truncate(index, 0))
	for _, path := range []string{"20100000001", "20999999999", "search?razonSocial=numero"} {
		status, body := ask(t, "GET", p.url+"/api/contribuyentes/"+path, "")
		assert.Equal(t, 500, status)
		assert.Contains(t, body, "fue sobrescrito, cortado o dañado: créelo de nuevo con fiscope-mock padron import")
		assert.Contains(t, body, `"code":"MOCK_REGISTRY_FAILURE"`)
	}
	refused := func() bool { return strings.Contains(p.stderr.String(), "no es un índice que se pueda tomar") }
	require.Eventually(t, refused, 20*time.Second, 10*time.Millisecond)
	status, _ := ask(t, "GET", p.url+"/_mock/healthz", "")
	assert.Equal(t, 200, status)
	require.NoError(t, os.Rename(next, index))
	require.Eventually(t, func() bool {
		_, body := ask(t, "GET", p.url+"/api/contribuyentes/20100000001", "")
		return strings.Contains(body, "NUMERO 1")
	}, 20*time.Second, 10*time.Millisecond, "a whole one is taken up again")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait())
	assert.Regexp(t, `(?s)no es un índice que se pueda tomar error=.*está (vacío|dañado).*tomó otro índice de -padron.* contribuyentes=4 fecha=2`, p.stderr.String())
}
