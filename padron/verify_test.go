package padron_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/internal/relevance"
	"github.com/fiscope/fiscope/padron"
)

// TestAChangedByteIsNeverAWrongTaxpayer changes one bit after another: what is found is as it was written, and has the
// text that was looked for. A taxpayer may be missing then, which Verify finds.
func TestAChangedByteIsNeverAWrongTaxpayer(t *testing.T) {
	rows := someRows(60)
	rows[7].Nombre = "Peña é hijos" // a row with its own name
	written := map[string]fiscope.Contribuyente{}
	for _, row := range rows {
		written[row.RUC] = row.Record()
	}
	whole := fileOf(t, rows)
	index := filepath.Join(t.TempDir(), "padron.index")
	require.NoError(t, os.WriteFile(index, whole, 0o600))
	file, err := os.OpenFile(index, os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	x, err := padron.Open(index) // which sees what becomes of its file
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	require.NoError(t, x.Verify(t.Context()))
	refused := 0
	for at := padron.HeaderSize(); at < len(whole); at++ {
		_, err = file.WriteAt([]byte{whole[at] ^ 1<<(at%8)}, int64(at))
		require.NoError(t, err)
		require.ErrorContains(t, x.Verify(t.Context()), index+": damaged", "byte %d", at)
		for ruc, want := range written {
			c, _, err := x.Contribuyente(t.Context(), ruc)
			if err == nil && *c != want {
				require.Equal(t, want, *c, "byte %d", at)
			}
			if err != nil && !errors.Is(err, fiscope.ErrNotFound) {
				refused++
			}
		}
		for _, text := range []string{"ana", "nagloria", "gloria del", "a s", "hijos", strings.Repeat("a", 300)} {
			found, _ := x.Buscar(t.Context(), text, 5)
			for _, c := range found {
				if c != written[c.RUC] || !strings.Contains(string(relevance.AppendFold(nil, []byte(c.RazonSocial))), text) {
					require.Equal(t, written[c.RUC], c, "byte %d, %q", at, text)
					require.Contains(t, c.RazonSocial, text, "byte %d", at)
				}
			}
		}
		_, err = file.WriteAt(whole[at:at+1], int64(at))
		require.NoError(t, err)
	}
	assert.Positive(t, refused)
	require.NoError(t, x.Verify(t.Context()))
}
