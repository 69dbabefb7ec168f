package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// salida is an output that shows when a text has come.
type salida struct {
	mu    sync.Mutex
	texto bytes.Buffer
	vino  chan string // each write
}

func (s *salida) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.vino <- string(p):
	default:
	}
	return s.texto.Write(p)
}

// leida is what Prometheus reads of the demonstration, by the program itself.
func leida(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := &salida{vino: make(chan string, 1000)}
	fin := make(chan error, 1)
	go func() { fin <- run(ctx, []string{"-addr", "127.0.0.1:0"}, env(), out) }()
	direccion := regexp.MustCompile(`http://127\.0\.0\.1:\d+/metrics`)
	var url string
	for url == "" {
		select {
		case texto := <-out.vino:
			url = direccion.FindString(texto)
		case err := <-fin:
			t.Fatal("it ended: ", err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	texto, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	http.DefaultClient.CloseIdleConnections()
	cancel()
	require.NoError(t, <-fin)
	return string(texto)
}

var (
	tipo     = regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)$`)
	muestra  = regexp.MustCompile(`(?m)^(\w+)\{(.*)\} \S+$`)
	etiqueta = regexp.MustCompile(`(\w+)="`)
	columnas = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| (.*?) \\|")
	consulta = regexp.MustCompile(`\b(?:fiscope|http_client)_\w+`)
)

// The table of docs/observability.md has what Prometheus reads, neither more nor less: names, types and labels.
func TestTheDocumentHasWhatPrometheusReads(t *testing.T) {
	if _, err := os.Stat(filepath.Join("..", "..", "go.work")); errors.Is(err, fs.ErrNotExist) {
		t.Skip("this example was copied out of fiscope: the document is not here")
	}
	texto := leida(t)
	sinNadaAjeno(t, texto)
	leidas := map[string]string{}
	for _, m := range tipo.FindAllStringSubmatch(texto, -1) {
		if m[1] == "target_info" { // of the program, not of fiscope
			continue
		}
		var etiquetas []string
		for _, linea := range muestra.FindAllStringSubmatch(texto, -1) {
			nombre := linea[1]
			if m[2] == "histogram" {
				nombre = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(nombre, "")
			}
			if nombre != m[1] {
				continue
			}
			for _, e := range etiqueta.FindAllStringSubmatch(linea[2], -1) {
				if e[1] != "le" && !strings.HasPrefix(e[1], "otel_scope_") {
					etiquetas = append(etiquetas, "`"+e[1]+"`")
				}
			}
		}
		slices.Sort(etiquetas)
		leidas[m[1]] = m[2] + ": " + strings.Join(slices.Compact(etiquetas), ", ")
	}
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "observability.md"))
	require.NoError(t, err)
	documento := map[string]string{}
	for _, m := range columnas.FindAllStringSubmatch(string(b), -1) {
		documento[m[1]] = m[2] + ": " + m[3]
	}
	assert.Empty(t, cmp.Diff(leidas, documento))
	require.NotEmpty(t, leidas)

	nombres := append(etiqueta.FindAllString(texto, -1), slices.Collect(maps.Keys(leidas))...)
	for _, usado := range consulta.FindAllString(string(b), -1) {
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(usado, "")
		assert.True(t, slices.Contains(nombres, base) || slices.Contains(nombres, usado+`="`), usado)
	}
}

func TestAnAddressThatCannotBeServedSpendsNothing(t *testing.T) {
	var out bytes.Buffer
	require.ErrorContains(t, run(t.Context(), []string{"-addr", "127.0.0.1:no"}, env(), &out), "-addr")
	assert.Empty(t, out.String())
}
