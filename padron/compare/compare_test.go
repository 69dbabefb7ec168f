package main

import (
	"archive/zip"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/padron"
	"github.com/fiscope/fiscope/padron/internal/texts"
)

// imported returns a registry in the forms that are compared.
func imported(t *testing.T, r registry) *searched {
	t.Helper()
	require.NoError(t, r.importIndex(t.Context()))
	n, err := readNames(r.zip)
	require.NoError(t, err)
	require.NoError(t, r.importDatabase(t.Context(), n))
	s, err := openSearched(t.Context(), r, n)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// requireTheSame has a text searched by all contenders.
func requireTheSame(t *testing.T, s *searched, text string, limit int) {
	t.Helper()
	contenders := s.contenders(limit)
	want, err := contenders[0].search(t.Context(), text)
	require.NoError(t, err)
	for i, c := range contenders[1:] {
		got, err := c.search(t.Context(), text)
		require.NoError(t, err, c.name)
		if i < 2 {
			require.Equal(t, want, got, "%s: %q, %d", c.name, text, limit)
		}
		require.Len(t, got, len(want), "%s: %q, %d", c.name, text, limit)
	}
}

// The index, the scan and SQLite give the same answers in the same order: what is compared is the same work.
func TestTheSameAnswers(t *testing.T) {
	r := registryIn(t.TempDir())
	require.NoError(t, r.generate(t.Context(), 20_000))
	s := imported(t, r)
	t.Run("every row", func(t *testing.T) {
		for _, ruc := range s.rucs {
			want, _, err := s.Contribuyente(t.Context(), fmt.Sprintf("%011d", ruc))
			require.NoError(t, err)
			hits, err := s.lookup(t.Context(), ruc)
			require.NoError(t, err)
			require.Len(t, hits, 1)
			require.Equal(t, []string{want.RazonSocial, string(want.Estado), string(want.Condicion), want.Ubigeo},
				[]string{hits[0].nombre, hits[0].estado, hits[0].condicion, hits[0].ubigeo})
		}
	})
	random := rand.New(rand.NewPCG(1, 1))
	for _, kind := range texts.New(s.all(), len(s.rucs)).Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			for range 20 {
				requireTheSame(t, s, kind.Text(), []int{1, 10, 50, 30_000}[random.IntN(4)])
			}
		})
	}
}

// Names of few different parts meet in all ways.
func TestTheSameAnswersAmongNamesAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	parts := []string{"ANA", "AN", "A", "SAN", " ", " ", ".", "S.A.", "\"", "\xd1" /* Ñ */, "7", "-"}
	made := func(most int) string {
		var b strings.Builder
		for range 1 + random.IntN(most) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		return b.String()
	}
	r := registryIn(t.TempDir())
	file, err := os.Create(r.zip)
	require.NoError(t, err)
	archive := zip.NewWriter(file)
	text, err := archive.Create("padron_reducido_ruc.txt")
	require.NoError(t, err)
	require.NoError(t, padron.Generate(text, 0, 1)) // the header
	for i := range 3000 {
		name, estado := made(6), []string{"ACTIVO", "BAJA DEFINITIVA"}[random.IntN(2)]
		if isEmpty(name) && i%10 > 0 { // few may be
			name = "ANA"
		}
		fmt.Fprintf(text, "2000000%04d|%s|%s|HABIDO|%s\r\n", i%2995, name, estado, strings.Repeat("-|", 11))
	}
	require.NoError(t, archive.Close())
	require.NoError(t, file.Close())
	s := imported(t, r)
	for range 400 {
		text := strings.ReplaceAll(made(4), "\xd1", "ñ")
		if strings.TrimSpace(text) == "" {
			continue
		}
		requireTheSame(t, s, text, []int{1, 3, 10, 5000}[random.IntN(4)])
	}
}
