package lockfile

import (
	"errors"
	"os"
	"syscall"
)

// errSharingViolation is Windows's error for a file that another process holds open (ERROR_SHARING_VIOLATION).
const errSharingViolation = syscall.Errno(32)

// Open opens a file to read and write, and creates it if missing. Until it is closed, or its process ends, others may
// only read it, if its folder's permissions allow.
func Open(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case errors.Is(err, errSharingViolation):
		return nil, ErrLocked
	case err != nil:
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}
