//go:build !unix

package redisstore_test

import (
	"os"
	"testing"
)

func stopProcess(t testing.TB, _ *os.Process) {
	t.Helper()
	t.Skip("this system does not stop a process")
}

func goOn(testing.TB, *os.Process) {}
