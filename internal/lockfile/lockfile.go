// Package lockfile opens a file that one process at a time may write to, and keeps what came of a batch's inputs in one.
package lockfile

import "errors"

// ErrLocked is why Open fails while somebody else holds the file open.
var ErrLocked = errors.New("another process works with it")
