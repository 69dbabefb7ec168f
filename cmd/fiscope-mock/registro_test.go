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

// Who asks while an index is replaced, and the old one closed, has an answer of the one or of the other.
func TestReplacingAnIndexFailsNoCall(t *testing.T) {
	folder := t.TempDir()
	name := indexWith(t, folder, "padron.idx", "NUMERO 0")
	content := string(readFile(t, name))
	first, err := openAt(name)
	require.NoError(t, err)
	r := &registro{name: name, log: newLogger(logOff, nil)}
	r.index.Store(first)
	var calls atomic.Int64
	done := make(chan struct{})
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				c, ok, err := r.PorRUC(t.Context(), "20100000001")
				if !assert.NoError(t, err) || !assert.True(t, ok) || !assert.Contains(t, c.RazonSocial, "NUMERO ") {
					return
				}
				found, err := r.Buscar(t.Context(), "numero", 5)
				if !assert.NoError(t, err) || !assert.Len(t, found, 1) {
					return
				}
				calls.Add(1)
			}
		})
	}
	const times = 50
	for range times {
		require.NoError(t, os.Rename(writeFile(t, folder, "siguiente.idx", content), name))
		before := r.index.Load()
		r.look(t.Context())
		require.NotSame(t, before, r.index.Load(), "it is taken up at once")
		_, err := before.Buscar(t.Context(), "numero", 5)
		require.ErrorIs(t, err, os.ErrClosed)
		at := calls.Load() // of this one
		require.Eventually(t, func() bool { return calls.Load() >= at+8 || t.Failed() }, 20*time.Second, 100*time.Microsecond)
	}
	close(done)
	callers.Wait()
	assert.GreaterOrEqual(t, calls.Load(), int64(8*times))
	require.NoError(t, r.index.Load().Close())
}

// While somebody copies an index over the open one, it is another thing at each look: the log waits for what it becomes.
func TestAnIndexThatIsBeingCopiedIsToldOnce(t *testing.T) {
	folder := t.TempDir()
	name := indexWith(t, folder, "padron.idx", "NUMERO 0")
	content := string(readFile(t, indexWith(t, folder, "siguiente.idx", "NUMERO 1")))
	first, err := openAt(name)
	require.NoError(t, err)
	var log buffer
	r := &registro{name: name, log: newLogger(logText, &log)}
	r.index.Store(first)
	r.look(t.Context())
	assert.Same(t, first, r.index.Load(), "nothing has changed")
	for size := range 5 {
		writeFile(t, folder, "padron.idx", content[:1000+100*size])
		r.look(t.Context())
		_, _, err := r.PorRUC(t.Context(), "20100000001")
		assert.ErrorIs(t, err, errHarmed)
	}
	assert.NotContains(t, log.String(), "no index that can be taken up")
	for range 3 {
		r.look(t.Context())
	}
	assert.Equal(t, 1, strings.Count(log.String(), "no index that can be taken up"))
	writeFile(t, folder, "padron.idx", content)
	r.look(t.Context())
	c, _, err := r.PorRUC(t.Context(), "20100000001")
	require.NoError(t, err)
	assert.Equal(t, "NUMERO 1", c.RazonSocial)
	require.NoError(t, r.index.Load().Close())
}

// What was harmed, and is again as it was to the byte and to the second, is taken up again.
func TestAnIndexThatIsPutBackIsTakenUp(t *testing.T) {
	name := indexWith(t, t.TempDir(), "padron.idx", "NUMERO 0")
	first, err := openAt(name)
	require.NoError(t, err)
	var log buffer
	r := &registro{name: name, log: newLogger(logText, &log)}
	r.index.Store(first)
	for i := range 2 {
		require.NoError(t, os.Truncate(name, first.file.Size()+1))
		r.look(t.Context())
		r.look(t.Context())
		_, _, err = r.PorRUC(t.Context(), "20100000001")
		require.ErrorIs(t, err, errHarmed)
		assert.Equal(t, i+1, strings.Count(log.String(), "no index that can be taken up"), "each time it is told")
		require.NoError(t, os.Truncate(name, first.file.Size()))
		require.NoError(t, os.Chtimes(name, time.Time{}, first.file.ModTime()))
		r.look(t.Context())
		_, ok, err := r.PorRUC(t.Context(), "20100000001")
		require.NoError(t, err)
		assert.True(t, ok)
	}
	require.NoError(t, r.index.Load().Close())
}

// The built program under load, while an import replaces its index.
func TestReplacedIndexIsTakenUp(t *testing.T) {
	folder := t.TempDir()
	index := indexWith(t, folder, "padron.idx", "NUMERO 0")
	p := startProgram(t, []string{"FISCOPE_MOCK_ADDR=127.0.0.1:0"}, "-padron", index, "-quota", "-1")
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
	assert.Equal(t, 3, strings.Count(p.stderr.String(), "another index at -padron is taken up"))
	assert.NotContains(t, p.stderr.String(), "ERROR")
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

// An index is served at once, also one in which a byte has changed before. When it was read through, nothing is
// answered of it.
func TestAnIndexThatWasChangedBeforeTheStart(t *testing.T) {
	folder := t.TempDir()
	index := indexWith(t, folder, "padron.idx", "NUMERO 0")
	next := indexWith(t, folder, "siguiente.idx", "NUMERO 1")
	change(t, index, "superintendencia")
	p := startProgram(t, []string{"FISCOPE_MOCK_ADDR=127.0.0.1:0"}, "-padron", index)
	asked := func() string {
		_, body := ask(t, "GET", p.url+"/api/contribuyentes/20100000001", "")
		return body
	}
	require.Eventually(t, func() bool {
		return strings.Contains(asked(), "MOCK_REGISTRY_FAILURE") && strings.Contains(p.stderr.String(), "no index that can be taken up")
	}, 20*time.Second, 10*time.Millisecond)
	_, body := ask(t, "GET", p.url+"/api/contribuyentes/20999999999", "")
	assert.Contains(t, body, "fue sobrescrito, cortado o dañado", "nobody is said not to be there")
	require.NoError(t, os.Rename(next, index))
	require.Eventually(t, func() bool { return strings.Contains(asked(), "NUMERO 1") }, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait())
	assert.Regexp(t, `no index that can be taken up" error=.*padron.idx: damaged`, p.stderr.String())
	assert.Equal(t, 1, strings.Count(p.stderr.String(), "no index that can be taken up"))
}

// A file that was changed is read through once, when it stays as it is, and not at each look.
func TestAChangedIndexIsReadOnce(t *testing.T) {
	name := indexWith(t, t.TempDir(), "padron.idx", "NUMERO 0")
	whole := string(readFile(t, name))
	first, err := openAt(name)
	require.NoError(t, err)
	r := &registro{name: name, log: newLogger(logOff, nil)}
	r.index.Store(first)
	change(t, name, "superintendencia")
	leaving, leave := context.WithCancel(t.Context())
	leave()
	r.look(leaving)
	_, _, err = r.PorRUC(t.Context(), "20100000001")
	require.ErrorIs(t, err, errHarmed, "before it is read")
	later := first.file.ModTime().Add(time.Second)
	answer := func() error {
		require.NoError(t, os.Chtimes(name, time.Time{}, later))
		r.look(t.Context())
		_, _, err := r.PorRUC(t.Context(), "20100000001")
		return err
	}
	require.ErrorIs(t, answer(), errHarmed)
	require.ErrorIs(t, answer(), errHarmed, "settled")
	writeFile(t, filepath.Dir(name), "padron.idx", whole)
	require.ErrorIs(t, answer(), errHarmed, "as old and as long as what was read")
	later = later.Add(time.Second)
	require.NoError(t, answer())
	require.NoError(t, r.index.Load().Close())
}

// Whatever becomes of the file, the process goes on, and says what is wrong.
func TestADamagedIndexEndsNothing(t *testing.T) {
	write := func(content string) func(*testing.T, string) {
		return func(t *testing.T, index string) { writeFile(t, filepath.Dir(index), "padron.idx", content) }
	}
	for name, c := range map[string]struct {
		harm   func(t *testing.T, index string)
		answer int  // of the open index
		later  bool // when the file was looked at: what is asked still is whole
		log    string
	}{
		"truncated": {func(t *testing.T, index string) { require.NoError(t, os.Truncate(index, 0)) }, 500, false, "empty"},
		"cut": {func(t *testing.T, index string) {
			require.NoError(t, os.Truncate(index, int64(len(readFile(t, index)))-1))
		}, 500, true, "cut"},
		"longer": {func(t *testing.T, index string) {
			require.NoError(t, os.Truncate(index, 1<<20))
		}, 500, true, "cut"},
		"written over":    {write("hola\n"), 500, false, "not an index"},
		"written, longer": {write(strings.Repeat("hola\n", 1<<20)), 500, false, "not an index"},
		"changed":         {func(t *testing.T, index string) { change(t, index, "superintendencia") }, 500, true, "damaged"},
		"removed":         {func(t *testing.T, index string) { require.NoError(t, os.Remove(index)) }, 200, false, "no such file"},
		"replaced": {func(t *testing.T, index string) {
			require.NoError(t, os.Rename(writeFile(t, filepath.Dir(index), "otro", "hola\n"), index))
		}, 200, false, "not an index"},
		"replaced by a changed one": {func(t *testing.T, index string) {
			other := writeFile(t, filepath.Dir(index), "otro", string(readFile(t, index)))
			change(t, other, "superintendencia")
			require.NoError(t, os.Rename(other, index))
		}, 200, false, "damaged"},
		"a folder": {func(t *testing.T, index string) {
			require.NoError(t, os.Remove(index))
			require.NoError(t, os.Mkdir(index, 0o700))
		}, 200, false, "not an index"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			index := indexWith(t, folder, "padron.idx", "NUMERO 0")
			next := indexWith(t, folder, "siguiente.idx", "NUMERO 1")
			p := startProgram(t, []string{"FISCOPE_MOCK_ADDR=127.0.0.1:0"}, "-padron", index)
			status, body := ask(t, "GET", p.url+"/api/contribuyentes/20100000001", "")
			require.Equal(t, 200, status, body)
			c.harm(t, index)
			asked := func() (statuses []int) {
				for _, path := range []string{"20100000001", "search?razonSocial=numero"} {
					status, body := ask(t, "GET", p.url+"/api/contribuyentes/"+path, "")
					if status == 500 {
						assert.Contains(t, body, "el índice padron.idx de -padron fue sobrescrito, cortado o dañado: créelo de nuevo con fiscope-mock padron import")
						assert.Contains(t, body, `"code":"MOCK_REGISTRY_FAILURE"`)
					} else {
						assert.Contains(t, body, "NUMERO 0")
					}
					statuses = append(statuses, status)
				}
				return statuses
			}
			atOnce := asked()
			require.Eventually(t, func() bool { return strings.Contains(p.stderr.String(), "no index that can be taken up") }, 20*time.Second, 10*time.Millisecond)
			assert.Equal(t, []int{c.answer, c.answer}, asked())
			if !c.later {
				assert.Equal(t, []int{c.answer, c.answer}, atOnce)
			}
			status, _ = ask(t, "GET", p.url+"/_mock/healthz", "")
			assert.Equal(t, 200, status)
			if name == "a folder" {
				require.NoError(t, os.Remove(index))
			}
			require.NoError(t, os.Rename(next, index))
			require.Eventually(t, func() bool {
				_, body := ask(t, "GET", p.url+"/api/contribuyentes/20100000001", "")
				return strings.Contains(body, "NUMERO 1")
			}, 10*time.Second, 10*time.Millisecond, "a whole one is taken up again")
			require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
			require.NoError(t, p.cmd.Wait())
			log := p.stderr.String()
			assert.Equal(t, 1, strings.Count(log, "no index that can be taken up"), log)
			assert.Regexp(t, `no index that can be taken up" error=.*`+c.log, log)
			failures := strings.Count(log, "the index at -padron cannot be read")
			assert.Equal(t, c.answer == 500, failures == 1, log)
		})
	}
}

// The admin API finds taxpayers of an index, edits over it, and lists none of what may be millions.
func TestTheAdminAPIWithAnIndex(t *testing.T) {
	index := indexWith(t, t.TempDir(), "padron.idx", "NUMERO 0")
	url, _ := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-padron", index)
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
