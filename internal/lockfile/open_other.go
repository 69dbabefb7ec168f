//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package lockfile

import "os"

// Open opens a file to read and write, and creates it with mode 0600 if missing. It locks nothing:
// syscall has no lock here.
func Open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the caller's own
}
