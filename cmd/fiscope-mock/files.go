package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fiscope/fiscope/cmd/internal/wholefile"
)

// forAll is the mode of files that other users' tests read: a URL, a CA certificate, a registry.
const forAll = 0o644

// writeCA writes the CA to the file of -tls-ca-file, by default to a temporary file that remove deletes.
func writeCA(name string, ca []byte) (written string, remove func(), err error) {
	remove = func() {}
	if name == "" {
		f, err := os.CreateTemp("", "fiscope-mock-ca-*.pem")
		if err != nil {
			return "", nil, fmt.Errorf("%w: diga con -tls-ca-file dónde va la CA", err)
		}
		_ = f.Close()
		name, remove = f.Name(), func() { _ = os.Remove(f.Name()) }
	}
	if err := wholefile.Write(name, forAll, func(w io.Writer) error { _, err := w.Write(ca); return err }); err != nil {
		remove()
		return "", nil, fmt.Errorf("-tls-ca-file: %w", err)
	}
	return name, remove, nil
}

// readPlain returns the contents of a regular file, nil if there is none. It never blocks, for example on a pipe.
func readPlain(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	switch {
	case os.IsNotExist(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s es una carpeta, un enlace u otra cosa que no es un archivo", name)
	}
	return os.ReadFile(name) //nolint:gosec // the user's files
}

// checkRecord returns why the file of -record cannot be written.
func checkRecord(name string) error {
	if _, err := readPlain(name); err != nil {
		return err
	}
	tried, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_ = tried.Close()
	return os.Remove(tried.Name())
}
