package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
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

// The built program under load, while an import replaces its index.
func TestReplacedIndexIsTakenUp(t *testing.T) {
	folder := t.TempDir()
	index := indexWith(t, folder, "padron.idx", "NUMERO 0")
	p := startProgram(t, []string{"FISCOPE_MOCK_ADDR=127.0.0.1:0"}, "-padron", index, "-quota", "-1", "-log", "text")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var callers sync.WaitGroup
	var calls atomic.Int64
	for range 4 {
		callers.Go(func() {
			client := &http.Client{Transport: new(http.Transport)}
			defer client.CloseIdleConnections()
			for {
				for _, path := range []string{"20100000001", "20131312955", "search?razonSocial=numero"} {
					req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/contribuyentes/"+path, nil)
					assert.NoError(t, err)
					req.Header.Set("X-API-KEY", "clave-de-prueba")
					resp, err := client.Do(req)
					if ctx.Err() != nil {
						return
					}
					if !assert.NoError(t, err) {
						return
					}
					body, _ := io.ReadAll(resp.Body)
					_ = resp.Body.Close()
					if ctx.Err() == nil && !assert.Equal(t, 200, resp.StatusCode, "%s", body) {
						return
					}
					calls.Add(1)
				}
			}
		})
	}
	for i := range 3 {
		nombre := fmt.Sprint("NUMERO ", i+1)
		_ = indexWith(t, folder, "padron.idx", nombre)
		began := time.Now()
		require.Eventually(t, func() bool {
			_, body := ask(t, "GET", p.url+"/api/contribuyentes/20100000001", "")
			return strings.Contains(body, nombre)
		}, 10*time.Second, 10*time.Millisecond)
		t.Logf("taken up after %v", time.Since(began)) // within 2 s by our promise, on a machine that is not busy
	}
	cancel()
	callers.Wait()
	assert.Greater(t, calls.Load(), int64(100))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait())
	assert.Equal(t, 3, strings.Count(p.stderr.String(), "tomó otro índice de -padron"))
	assert.NotContains(t, p.stderr.String(), "aviso")
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

// The admin API finds taxpayers of an index, edits over it, and lists none of what may be millions.
func TestTheAdminAPIWithAnIndex(t *testing.T) {
	index := indexWith(t, t.TempDir(), "padron.idx", "NUMERO 0")
	url := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-padron", index)
	api := url + "/_mock/contribuyentes"
	rucs := func(query string) (list []string) {
		status, body := ask(t, "GET", api+query, "")
		require.Equal(t, 200, status, body)
		for _, part := range strings.Split(body, `"ruc": "`)[1:] {
			list = append(list, part[:11])
		}
		return list
	}
	assert.Empty(t, rucs(""))
	assert.Equal(t, []string{"20999990011"}, rucs("?text=nunez"))
	assert.Equal(t, []string{"20100000001"}, rucs("?text=20100000001"))
	status, body := ask(t, "PUT", api+"/20100000001", `{"razonSocial": "NUMERO 1"}`)
	require.Equal(t, 204, status, body)
	assert.Equal(t, []string{"20100000001"}, rucs("?text=numero"))
	assert.Equal(t, []string{"20100000001"}, rucs(""), "what was put is listed")
	status, body = ask(t, "DELETE", api+"/20999990011", "")
	require.Equal(t, 204, status, body)
	assert.Empty(t, rucs("?text=nunez"))
	status, _ = ask(t, "GET", url+"/api/contribuyentes/20999990011", "")
	assert.Equal(t, 404, status)
}
