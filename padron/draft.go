package padron

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/fiscope/fiscope/internal/lockfile"
)

// draft is the file in which an index grows, beside the one that it will replace. It has a fixed name and a lock: of
// two imports one fails, and the next import reuses the file of a killed one.
type draft struct {
	*os.File
	index string
	rows  *os.File // the data of the rows until all are read
}

// The suffixes of the two files, after the name of the index.
const (
	draftSuffix     = ".import"
	draftRowsSuffix = ".import-rows"
)

// newDraft creates the file that will replace index. The caller ends it with keep or discard.
func newDraft(index string) (*draft, error) {
	if info, err := os.Stat(index); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is there and no file: name another one")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, err := lockDraft(index + draftSuffix)
	if err != nil {
		return nil, err
	}
	d := &draft{File: file, index: index}
	if err = file.Truncate(0); err == nil {
		d.rows, err = newRows(index + draftRowsSuffix)
	}
	if err != nil {
		d.discard()
		return nil, err
	}
	if runtime.GOOS != "windows" { // which cannot remove an open file
		_ = os.Remove(d.rows.Name())
	}
	return d, nil
}

// newRows creates the file for the rows, replacing that of a killed import.
func newRows(name string) (*os.File, error) {
	if err := refuseOthers(name); err != nil {
		return nil, err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // beside the caller's own
}

// refuseOthers refuses a name that exists and is not a regular file: a link may lead to another person's file.
func refuseOthers(name string) error {
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is there and no file: remove it", filepath.Base(name))
	}
	return nil
}

// lockDraft opens and locks the file. If another import renamed or removed it before the lock, lockDraft tries again.
func lockDraft(name string) (*os.File, error) {
	for {
		if err := refuseOthers(name); err != nil {
			return nil, err
		}
		file, err := lockfile.Open(name)
		if errors.Is(err, lockfile.ErrLocked) {
			return nil, fmt.Errorf("another import makes it just now (%s)", filepath.Base(name))
		}
		if err != nil {
			return nil, err
		}
		mine, err := file.Stat()
		if err != nil {
			_ = file.Close()
			return nil, err
		}
		if there, err := os.Lstat(name); err == nil && os.SameFile(mine, there) {
			return file, nil
		}
		_ = file.Close()
	}
}

// keep replaces the index with the file, after syncing it to the disk. An error leaves only the old index.
func (d *draft) keep() error {
	mode := fs.FileMode(0o644) // a public registry
	if info, err := os.Stat(d.index); err == nil {
		mode = info.Mode().Perm()
	}
	_ = d.Chmod(mode) // some file systems have none
	err := d.Sync()
	if runtime.GOOS == "windows" { // which cannot rename an open file
		_ = d.Close()
	}
	if err == nil {
		err = os.Rename(d.Name(), d.index)
	}
	if err != nil {
		d.discard()
		return err
	}
	d.closeRows()
	_ = d.Close()
	if folder, err := os.Open(filepath.Dir(d.index)); err == nil { // syncs the name too, if the system can do that
		_ = folder.Sync()
		_ = folder.Close()
	}
	return nil
}

// discard removes the files, and then releases the lock.
func (d *draft) discard() {
	d.closeRows()
	if runtime.GOOS == "windows" {
		_ = d.Close()
	}
	_ = os.Remove(d.Name())
	_ = d.Close()
}

func (d *draft) closeRows() {
	if d.rows != nil {
		_ = d.rows.Close()
		_ = os.Remove(d.rows.Name())
	}
}
