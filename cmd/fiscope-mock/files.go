package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"time"
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
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), func() { _ = os.Remove(f.Name()) }, err
}

// checkURLFile takes the URL of a server that is gone out of the way of those who wait for a new one. Of
// anything else that is there it says why a URL cannot be written there: it may be somebody's.
func checkURLFile(name string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("-url-file: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("-url-file: %s is a folder, a link or another thing that is no plain file", name)
	}
	text, err := os.ReadFile(name) //nolint:gosec // the files of who runs the program
	if err != nil {
		return fmt.Errorf("-url-file: %w", err)
	}
	if len(text) == 0 { // as mktemp makes it
		return nil
	}
	written := writtenURL.FindSubmatch(text)
	if written == nil {
		return fmt.Errorf("-url-file: %s holds something else than the URL of a server: choose another file", name)
	}
	dialer := net.Dialer{Timeout: time.Second}
	if conn, err := dialer.DialContext(context.Background(), "tcp", string(written[1])); err == nil {
		_ = conn.Close()
		return fmt.Errorf("-url-file: %s holds the URL of a server that answers, %s: stop it, or choose another file", name, bytes.TrimSpace(text))
	}
	return os.Remove(name)
}

// writtenURL is what writeURL writes, with the address.
var writtenURL = regexp.MustCompile(`^https?://([^\s/@]+:[0-9]+)\n?$`)

// writeURL writes the base URL for those who wait for it, and returns what takes it away again, unless
// another server has written its own there since.
func writeURL(name, url string) (remove func(), err error) {
	line := []byte(url + "\n")
	if err := writeWhole(name, line); err != nil {
		return nil, fmt.Errorf("-url-file: %w", err)
	}
	return func() {
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			return
		}
		if now, err := os.ReadFile(name); err == nil && bytes.Equal(now, line) { //nolint:gosec // the files of who runs the program
			_ = os.Remove(name)
		}
	}, nil
}
