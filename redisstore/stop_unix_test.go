//go:build unix

package redisstore_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// stopProcess has a process do nothing, until goOn.
func stopProcess(t testing.TB, p *os.Process) {
	t.Helper()
	require.NoError(t, p.Signal(syscall.SIGSTOP))
}

func goOn(t testing.TB, p *os.Process) {
	t.Helper()
	require.NoError(t, p.Signal(syscall.SIGCONT))
}
