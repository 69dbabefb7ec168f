//go:build unix

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/padrongen"
	"github.com/fiscope/fiscope/padron"
)

// BenchmarkServedLookup compares lookups in an index of 200 000 taxpayers, on 64 connections, with a handler that writes
// a fixed answer of the same size. By our own promise rps-ratio is at least 0.8 in the median of rounds in which both take
// turns: of one taxpayer, whose answer is kept, and of another one each time, which is looked up and encoded. cpu-ratio
// is what a shared machine can show:
// go test ./cmd/fiscope-mock -run - -bench ServedLookup -benchtime 100x
func BenchmarkServedLookup(b *testing.B) {
	folder := b.TempDir()
	var text bytes.Buffer
	_, err := padrongen.Generate(&text, 200_000, 1)
	require.NoError(b, err)
	rucs := regexp.MustCompile(`(?m)^[0-9]{11}`).FindAllString(text.String(), -1)
	// In no order: each request touches other pages, and none is among the answers that are kept.
	slices.SortFunc(rucs, func(a, b string) int { return strings.Compare(a[7:]+a, b[7:]+b) })
	rucs = rucs[:len(rucs)*9/10]
	file, index := filepath.Join(folder, "padron.txt"), filepath.Join(folder, "padron.idx")
	require.NoError(b, os.WriteFile(file, text.Bytes(), 0o600))
	_, err = padron.Import(b.Context(), file, index, padron.ImportOptions{})
	require.NoError(b, err)

	s := defaultSettings()
	s.addr, s.padron, s.assume.Quota = "127.0.0.1:0", index, 1_000_000_000
	r, err := start(s, newLogger(s.log, io.Discard))
	require.NoError(b, err)
	defer func() { require.NoError(b, r.close()) }()
	rucs = slices.DeleteFunc(rucs, func(ruc string) bool { // rows that are not taken
		_, _, err := r.registro.Contribuyente(b.Context(), ruc)
		return err != nil
	})
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "/api/contribuyentes/"+rucs[0], nil)
	req.Header.Set("X-API-KEY", "clave-de-prueba")
	r.mock.ServeHTTP(rec, req)
	bare := httptest.NewServer(bare(rec.Body.Bytes()))
	defer bare.Close()

	for name, asked := range map[string][]string{"one": rucs[:1], "many": rucs} {
		b.Run(name, func(b *testing.B) {
			compare(b, dial(b, r.url), dial(b, bare.URL), asked, 25, 0)
		})
	}
}
