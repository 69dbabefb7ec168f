package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// writeWhole writes a file that others may be waiting for: they never see half of it.
func writeWhole(name string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is gone when all went well
	_, err = f.Write(content)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644) //nolint:gosec // a URL or a CA certificate: for other users' tests too
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writeCA writes the CA where -tls-ca-file says, or else to a temporary file that remove takes away.
func writeCA(name string, ca []byte) (written string, remove func(), err error) {
	if name != "" {
		if err := writeWhole(name, ca); err != nil {
			return "", nil, fmt.Errorf("-tls-ca-file: %w", err)
		}
		return name, func() {}, nil
	}
	f, err := os.CreateTemp("", "fiscope-mock-ca-*.pem")
	if err != nil {
		return "", nil, fmt.Errorf("%w: say where the CA goes with -tls-ca-file", err)
	}
	_, err = f.Write(ca)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return f.Name(), func() { _ = os.Remove(f.Name()) }, err
}

// writeURL writes the base URL for those who wait for it, and returns what takes it away again, unless
// another server has written its own there since.
func writeURL(name, url string) (remove func(), err error) {
	line := []byte(url + "\n")
	if err := writeWhole(name, line); err != nil {
		return nil, fmt.Errorf("-url-file: %w", err)
	}
	return func() {
		if now, err := os.ReadFile(name); err == nil && bytes.Equal(now, line) { //nolint:gosec // the files of who runs the program
			_ = os.Remove(name)
		}
	}, nil
}
