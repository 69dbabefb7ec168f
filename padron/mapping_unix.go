//go:build unix

package padron

import (
	"errors"
	"math"
	"os"
	"syscall"
)

// mapFile maps a file into memory for reading. Reading beyond the end of a truncated file faults.
func mapFile(file *os.File) (content []byte, unmap func() error, err error) {
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case info.Size() == 0:
		return nil, nil, errors.New("empty")
	case info.Size() > math.MaxInt:
		return nil, nil, errors.New("too large for a program of 32 bits")
	}
	content, err = syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return content, func() error { return os.NewSyscallError("munmap", syscall.Munmap(content)) }, nil
}
