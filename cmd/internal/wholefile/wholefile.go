// Package wholefile writes files that nobody sees half written.
package wholefile

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
)

// Clean removes what killed programs left of Write. None may be writing the file.
func Clean(name string) {
	left, _ := filepath.Glob(name + ".[0-9]*.tmp") // a bad pattern finds nothing
	for _, file := range left {
		_ = os.Remove(file)
	}
}

// Write replaces a file atomically, if write succeeds. An error leaves no part of it.
func Write(name string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_ = f.Chmod(mode) // not every system has modes
	if err := cmp.Or(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
