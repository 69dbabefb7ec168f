//go:build !unix

package padron

import (
	"errors"
	"io"
	"math"
	"os"
)

// mapFile reads a file into memory: on Windows a mapped file could not be replaced.
func mapFile(file *os.File) (content []byte, unmap func() error, err error) {
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, errForeign
	case info.Size() == 0:
		return nil, nil, errors.New("empty")
	case info.Size() > math.MaxInt:
		return nil, nil, errors.New("too large for a program of 32 bits")
	}
	content = make([]byte, info.Size())
	_, err = io.ReadFull(file, content)
	return content, func() error { return nil }, err
}
