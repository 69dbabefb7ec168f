package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// forAll is the mode of a URL, a CA certificate and a registry: other users' tests read them too.
const forAll = 0o644

// writeWhole writes a file that others may be waiting for: they never see half of it, nor is half of it left.
func writeWhole(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() //nolint:gosec // the files of who runs the program; it is gone when all went well
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), forAll) //nolint:gosec // the files of who runs the program
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name) //nolint:gosec // the files of who runs the program
}

// writeCA writes the CA where -tls-ca-file says, or else to a temporary file that remove takes away.
func writeCA(name string, ca []byte) (written string, remove func(), err error) {
	if name != "" {
		err := writeWhole(name, func(w io.Writer) error {
			_, err := w.Write(ca)
			return err
		})
		if err != nil {
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

// readPlain returns what is in a file, nil where there is none. It never waits, as for who writes into a pipe.
func readPlain(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is a folder, a link or another thing that is no plain file", name)
	}
	return os.ReadFile(name) //nolint:gosec // the files of who runs the program
}

// checkURLFile returns what a -url-file holds, nil where there is none: nothing, or the URL of a server that is
// gone. Of anything else that is there it says why a URL cannot be written there: it may be somebody's.
func checkURLFile(name string) (stale []byte, err error) {
	text, err := readPlain(name)
	if err != nil {
		return nil, fmt.Errorf("-url-file: %w", err)
	}
	if len(text) == 0 { // nothing there, or empty, as mktemp makes it
		return text, nil
	}
	if !writtenURL.Match(text) {
		return nil, fmt.Errorf("-url-file: %s holds something else than the URL of a server: choose another file", name)
	}
	if answers(text) {
		return nil, fmt.Errorf("-url-file: %s holds the URL of a server that answers, %s: stop it, or choose another file", name, bytes.TrimSpace(text))
	}
	return text, nil
}

// answers reports whether somebody listens at a URL that write has written.
func answers(text []byte) bool {
	written := writtenURL.FindSubmatch(text)
	if written == nil {
		return false
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(context.Background(), "tcp", string(written[1]))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// writtenURL is what write writes, with the address.
var writtenURL = regexp.MustCompile(`^https?://([^\s/@]+:[0-9]+)\n?$`)

// urlFile is a -url-file that a server has taken for itself.
type urlFile struct {
	name    string
	next    *os.File // beside it, as long as the URL is not written: one start at a time can make it
	written []byte
}

// takeURLFile takes a file that [checkURLFile] has found free, for a server that listens at url, unless another start
// was quicker: it may have written the same address, which was free when it was looked at.
func takeURLFile(name string, stale []byte, url string) (*urlFile, error) {
	next, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the files of who runs the program
	switch {
	case errors.Is(err, os.ErrExist):
		return nil, fmt.Errorf("-url-file: another server is about to write %s: choose another file, or remove %s.new if none is starting", name, name)
	case err != nil:
		return nil, fmt.Errorf("-url-file: %w", err)
	}
	u := &urlFile{name: name, next: next}
	now, err := readPlain(name)
	same := stale != nil && bytes.Equal(now, stale) && (string(now) == url+"\n" || !answers(now))
	if err == nil && (now == nil || same) {
		return u, nil
	}
	if err == nil {
		err = fmt.Errorf("another server has just written %s: choose another file", name)
	}
	u.remove()
	return nil, fmt.Errorf("-url-file: %w", err)
}

// write puts the base URL into the file, for those who wait for it.
func (u *urlFile) write(url string) error {
	u.written = []byte(url + "\n")
	_, err := u.next.Write(u.written)
	if closed := u.next.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(u.next.Name(), forAll)
	}
	if err == nil {
		err = os.Rename(u.next.Name(), u.name)
	}
	if err != nil {
		return fmt.Errorf("-url-file: %w", err)
	}
	u.next = nil
	return nil
}

// remove takes the file away again, unless somebody else has put something there since.
func (u *urlFile) remove() {
	if u.next != nil {
		_ = u.next.Close()
		_ = os.Remove(u.next.Name())
		return
	}
	if now, err := readPlain(u.name); err == nil && bytes.Equal(now, u.written) {
		_ = os.Remove(u.name)
	}
}

// sameFile reports whether two names are those of one file, also by links and where there is no file yet.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	if err == nil && otherErr == nil {
		return os.SameFile(one, other)
	}
	return place(a) == place(b)
}

// place is where a file is written, without links.
func place(name string) string {
	const most = 40 // links to links, as the system has it
	for range most {
		to, err := os.Readlink(name)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	name, _ = filepath.Abs(name) // fails where there is no working directory
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		return filepath.Join(dir, filepath.Base(name))
	}
	return name
}
