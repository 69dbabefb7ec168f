package padron_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/fiscope/fiscope/padron"
)

// indexOf returns an open index of rows.
func indexOf(t testing.TB, rows []padron.RowForTest) *padron.Index {
	t.Helper()
	name := filepath.Join(t.TempDir(), "padron.index")
	_, err := padron.ImportRows(t.Context(), name, padron.Info{SHA256: padron.SHA256}, rows)
	require.NoError(t, err)
	x, err := padron.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, x.Close()) })
	return x
}

// inMemory returns the registry whose order is the index's.
func inMemory(t testing.TB, rows []padron.RowForTest) *mockserver.RegistroEnMemoria {
	t.Helper()
	var registry mockserver.RegistroEnMemoria
	list := make([]mockserver.Contribuyente, len(rows))
	for i, r := range rows {
		list[i] = mockserver.Contribuyente{RUC: r.RUC, RazonSocial: r.Nombre, Estado: r.Estado}
	}
	require.NoError(t, registry.Put(list...))
	return &registry
}

// searchInMemory returns the RUCs that a registry in memory finds.
func searchInMemory(t testing.TB, registry *mockserver.RegistroEnMemoria, text string, limit int) []string {
	t.Helper()
	found, err := registry.Buscar(t.Context(), text, limit)
	require.NoError(t, err)
	rucs := []string{}
	for _, c := range found {
		rucs = append(rucs, c.RUC)
	}
	return rucs
}

// search returns the RUCs that an index finds.
func search(t testing.TB, x *padron.Index, text string, limit int) []string {
	t.Helper()
	found, err := x.Buscar(context.Background(), text, limit)
	require.NoError(t, err)
	rucs := []string{}
	for _, c := range found {
		rucs = append(rucs, c.RUC)
	}
	return rucs
}

// alphabets are what the names of TestOrder consist of: few different letters, so that all of them meet.
var alphabets = map[string][]string{
	"letters":      {"a", "b", "A", "B", " "},
	"words":        {"ana", "na", "san", " ", "an", "a", "ananas"},
	"punctuation":  {"a", "s.a.", ".", "&", "-", " ", "sa", "'", "\""},
	"accents":      {"ñ", "n", "Ñ", "á", "a", "\u0301", " ", "ü", "é"},
	"nothing left": {"\u0301", " ", "a", "b"},
	"control":      {"a", "\x00", "\x01", "\t", "\x0b", "\x1f", "\x7f", " ", "b"},
	"other script": {"Ω", "р", "İ", "ẞ", "字", " ", "a", "١", "\u00a0", "\u3000"},
	"four bytes":   {"𝒜", "😀", "a", " ", "𐐀"},
	"not UTF-8":    {"\xff", "\xc3", "\xe2\x82", "a", " ", "\ufffd"},
	"long":         {strings.Repeat("a", 100), strings.Repeat("a", 157), strings.Repeat("a ", 80), "b", " ", strings.Repeat("s.", 130), "."},
}

// TestOrder compares searches with those of the in-memory registry.
func TestOrder(t *testing.T) {
	for name, alphabet := range alphabets {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				random := rand.New(rand.NewPCG(seed, 1))
				text := func(most int) string {
					var b strings.Builder
					for range random.IntN(most + 1) {
						b.WriteString(alphabet[random.IntN(len(alphabet))])
					}
					return b.String()
				}
				var rows []padron.RowForTest
				for range []int{3, 200, 16, 17, 60}[seed] {
					rows = append(rows, padron.RowForTest{
						RUC:    fmt.Sprintf("20%09d", random.IntN(600)),
						Nombre: text(9),
						Estado: []string{"ACTIVO", "ACTIVO", "BAJA DEFINITIVA", "ACTIVOS"}[random.IntN(4)],
					})
				}
				x, registry := indexOf(t, rows), inMemory(t, rows)
				for i := range 50 {
					defer padron.SetCosts([]int{100, 0, 1}[i%3], []int{2000, 1, 0}[i%3])() // each way to the same
					text, limit := text(4), []int{-1, 0, 1, 2, 10, 50, 2000}[random.IntN(7)]
					if r := rows[random.IntN(len(rows))].Nombre; random.IntN(3) == 0 && r != "" {
						from := random.IntN(len(r))
						text = r[from : from+random.IntN(len(r)-from+1)]
					}
					require.Equal(t, searchInMemory(t, registry, text, limit), search(t, x, text, limit), "seed %d: the best %d of %q", seed, limit, text)
				}
			}
		})
	}
}

// TestLongWordsAlike finds what stands after more of a word than the index is sorted by.
func TestLongWordsAlike(t *testing.T) {
	var rows []padron.RowForTest
	for i, end := range []string{"b", "b", "c", "b", "b d", "b e", "c d", "b d", "b f"} {
		rows = append(rows, padron.RowForTest{RUC: fmt.Sprintf("20%09d", i), Nombre: strings.Repeat("a", 300) + end, Estado: "ACTIVO"})
	}
	for i := range 20 { // the shortest of those that are not active stand after the longest that are
		rows = append(rows, padron.RowForTest{RUC: fmt.Sprintf("10%09d", i), Estado: "BAJA DE OFICIO"})
	}
	rows = append(rows, padron.RowForTest{RUC: "10000000020", Nombre: strings.Repeat("a", 300) + "g", Estado: "BAJA DE OFICIO"})
	x, registry := indexOf(t, rows), inMemory(t, rows)
	for _, ways := range [][2]int{{100, 2000}, {0, 1}, {1, 0}} {
		defer padron.SetCosts(ways[0], ways[1])()
		for _, text := range []string{"ab", "ac", "c", "b d", "ac d", "b e", "b f", "a", strings.Repeat("a", 250) + "b d", strings.Repeat("a", 255) + "c", strings.Repeat("a", 300)} {
			require.Equal(t, searchInMemory(t, registry, text, 20), search(t, x, text, 20), "%q", text)
		}
	}
}

// TestTheEndOfAWordThatOtherwiseEndsAName is the first of all ends of words.
func TestTheEndOfAWordThatOtherwiseEndsAName(t *testing.T) {
	x := indexOf(t, []padron.RowForTest{{RUC: "20000000001", Nombre: "XA"}, {RUC: "20000000002", Nombre: "XA BO"}})
	assert.Equal(t, []string{"20000000002"}, search(t, x, "a b", 10))
}
