package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A start that fails leaves no file.
func TestAFailedStartChangesNoFile(t *testing.T) {
	for name, change := range map[string]func(*settings){
		"no address":        func(s *settings) { s.addr = "nowhere" },
		"an address in use": func(s *settings) { s.addr = busy(t) },
		"no folder for the CA": func(s *settings) {
			s.selfSigned, s.caFile = true, filepath.Join(os.TempDir(), "no", "ca.pem")
		},
		"wrong data": func(s *settings) { s.data = []string{"no.json"} },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("TMPDIR", folder)
			s := defaultSettings()
			s.addr, s.selfSigned = "127.0.0.1:0", true
			change(&s)
			_, err := start(s, newLogger(logOff, io.Discard))
			require.Error(t, err)
			assert.Empty(t, filesIn(t, folder))
		})
	}
}

// busy is an address at which somebody listens, until the end of the test.
func busy(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}

func TestWriteCAForAll(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such modes")
	}
	name, _, err := writeCA(filepath.Join(t.TempDir(), "ca.pem"), []byte("CA"))
	require.NoError(t, err)
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode())
}
