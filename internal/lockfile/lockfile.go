// Package lockfile opens a file that one process at a time may write to.
package lockfile

import "errors"

// ErrLocked is the error of Open while another process holds the file open.
var ErrLocked = errors.New("another process works with it")
