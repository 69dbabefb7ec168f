package main

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/padron/internal/texts"
)

// The index, the scan and SQLite give the same answers in the same order: what is compared is the same work.
func TestTheSameAnswers(t *testing.T) {
	r := registryIn(t.TempDir())
	require.NoError(t, r.generate(t.Context(), 20_000))
	require.NoError(t, r.importIndex(t.Context()))
	n, err := readNames(r.zip)
	require.NoError(t, err)
	require.NoError(t, r.importDatabase(t.Context(), n))
	s, err := openSearched(t.Context(), r, n)
	require.NoError(t, err)
	defer s.Close()

	t.Run("every row", func(t *testing.T) {
		for _, ruc := range n.rucs {
			want, _, err := s.Contribuyente(t.Context(), fmt.Sprintf("%011d", ruc))
			require.NoError(t, err)
			rows, err := s.lookup(t.Context(), ruc)
			require.NoError(t, err)
			require.Len(t, rows, 1)
			require.Equal(t, []string{want.RazonSocial, string(want.Estado), string(want.Condicion), want.Ubigeo},
				[]string{rows[0].nombre, rows[0].estado, rows[0].condicion, rows[0].ubigeo})
		}
	})
	random := rand.New(rand.NewPCG(1, 1))
	kinds := append(texts.New(n.all(), len(n.rucs)).Kinds(),
		texts.Kind{Name: "one letter", Text: func() string { return string(rune('a' + random.IntN(26))) }},
		texts.Kind{Name: "two characters", Text: func() string {
			name := n.name(random.IntN(len(n.rucs)))
			at := random.IntN(max(1, len(name)-2))
			return string(name[at:min(len(name), at+2)])
		}},
	)
	for _, kind := range kinds {
		t.Run(kind.Name, func(t *testing.T) {
			for range 20 {
				text, limit := kind.Text(), []int{1, 10, 50, 30_000}[random.IntN(4)]
				contenders := s.contenders(limit)
				want, err := contenders[0].search(t.Context(), text)
				require.NoError(t, err)
				for i, c := range contenders[1:] {
					got, err := c.search(t.Context(), text)
					require.NoError(t, err, c.name)
					if i < 2 {
						assert.Equal(t, want, got, "%s: %q, %d", c.name, text, limit)
					}
					assert.Len(t, got, len(want), "%s: %q, %d", c.name, text, limit)
				}
			}
		})
	}
}
