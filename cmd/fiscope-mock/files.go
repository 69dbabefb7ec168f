package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

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

// checkRecord returns why the file of -record cannot be replaced, which it tries. It removes what a killed program left.
func checkRecord(name string) error {
	text, err := readPlain(name)
	if err != nil {
		return err
	}
	wholefile.Clean(name)
	err = wholefile.Write(name, forAll, func(w io.Writer) error { _, err := w.Write(text); return err })
	switch {
	case errors.Is(err, syscall.EBUSY):
		return fmt.Errorf("%s está montado él solo, y así no se puede reemplazar: monte su carpeta", name)
	case err == nil && text == nil:
		return os.Remove(name)
	}
	return err
}
