//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/padrongen"
)

// stopMidway runs padron with arguments, sends it a signal when a file of that pattern has at least so many bytes, and
// returns how it ended.
func stopMidway(t *testing.T, by syscall.Signal, pattern string, bytesThere int64, args ...string) (status syscall.WaitStatus, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, binary(t), append([]string{"padron"}, args...)...)
	cmd.Stderr = &errs
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		found, _ := filepath.Glob(pattern) // a pattern that is right
		for _, name := range found {
			if info, err := os.Stat(name); err == nil && info.Size() >= bytesThere {
				return true
			}
		}
		return false
	}, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(by))
	_ = cmd.Wait() // the state says it
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	return status, errs.String()
}

// A command that ends by a signal leaves what was there before, and nothing beside it.
func TestPadronStoppedMidway(t *testing.T) {
	_ = binary(t) // not made in this test's folder of temporaries
	folder, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	file, err := os.Create(filepath.Join(folder, "padron.txt"))
	require.NoError(t, err)
	_, err = padrongen.Generate(file, 300_000, 1)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	const before = "el índice de antes"
	index := writeFile(t, folder, "padron.idx", before)
	for name, c := range map[string]struct {
		by         syscall.Signal
		bytesThere int64 // in the new index
	}{
		"at the beginning":   {syscall.SIGTERM, 0},
		"while it is sorted": {syscall.SIGINT, 1},
		"by the terminal":    {syscall.SIGHUP, 1},
	} {
		t.Run("import "+name, func(t *testing.T) {
			status, stderr := stopMidway(t, c.by, index+".import*", c.bytesThere, "import", file.Name())
			saysLast(t, "fiscope-mock: lo detuvo una señal ("+signalNames[c.by]+"): no cambió nada", stderr)
			endedBy(t, c.by, status)
			assert.Equal(t, before, string(readFile(t, index)))
			assert.Equal(t, []string{"padron.idx", "padron.txt"}, filesIn(t, folder))
		})
	}
	t.Run("generate", func(t *testing.T) {
		folder := t.TempDir()
		other := writeFile(t, folder, "otro.zip", before)
		status, stderr := stopMidway(t, syscall.SIGINT, other+".*", 1, "generate", "-rows", "18300000", other)
		saysLast(t, "fiscope-mock: lo detuvo una señal (SIGINT): no cambió nada", stderr)
		endedBy(t, syscall.SIGINT, status)
		assert.Equal(t, before, string(readFile(t, other)))
		assert.Equal(t, []string{"otro.zip"}, filesIn(t, folder))
	})
	assert.Empty(t, filesIn(t, temporary), "the folder of temporaries")
}

// saysLast checks what a command says at its end, after the lines about its progress that a slow machine gets.
func saysLast(t *testing.T, want, stderr string) {
	t.Helper()
	lines := strings.Split(stderr, "\n")
	require.GreaterOrEqual(t, len(lines), 2)
	assert.Equal(t, []string{want, ""}, lines[len(lines)-2:])
	for _, line := range lines[:len(lines)-2] {
		assert.Regexp(t, `^ *\d+% `, line)
	}
}

// endedBy checks that a shell sees a signal: SIGINT ends its loops if the program has died of it.
func endedBy(t *testing.T, by syscall.Signal, status syscall.WaitStatus) {
	t.Helper()
	if by == syscall.SIGINT {
		assert.True(t, status.Signaled())
		assert.Equal(t, by, status.Signal(), "$? is 130")
		return
	}
	assert.Equal(t, 128+int(by), status.ExitStatus())
}
