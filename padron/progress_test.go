package padron_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/padron"
)

// TestProgress counts all that is read, and each phase by itself: the text twice where all of it may be UTF-8.
func TestProgress(t *testing.T) {
	windows1252 := strings.NewReplacer("Ó", "\xd3", "Í", "\xcd", "Ú", "\xda").Replace(registryHeader) + strings.Repeat("20000000001|GLORIA|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n", 50_000)
	sorted := []string{padron.PhaseOrder, padron.PhaseWords, padron.PhaseInner}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"Windows-1252": {windows1252, append([]string{padron.PhaseHash, padron.PhaseRead}, sorted...)},
		"UTF-8":        {strings.TrimSuffix(registryText, "\n") + strings.Repeat("\n20000000001|PEÑA|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|", 50_000), append([]string{padron.PhaseHash, padron.PhaseEncoding, padron.PhaseRead}, sorted...)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"registry.txt": c.text})
			var phases []string
			var last padron.Progress
			steps := map[string]int{}
			over := func() {
				if last.Size > 0 {
					assert.Equal(t, last.Size, last.Bytes, last.Phase)
					assert.Greater(t, steps[last.Phase], 2, last.Phase)
				}
			}
			_, err := padron.Import(t.Context(), filepath.Join(dir, "registry.txt"), filepath.Join(dir, "padron.index"), padron.ImportOptions{MaxOdd: 1, Progress: func(p padron.Progress) {
				if p.Phase != last.Phase {
					over()
					phases = append(phases, p.Phase)
					assert.Zero(t, p.Bytes)
				} else {
					assert.GreaterOrEqual(t, p.Bytes, last.Bytes)
				}
				last = p
				steps[p.Phase]++
			}})
			require.NoError(t, err)
			over()
			assert.Equal(t, c.want, phases)
		})
	}
}
