package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/fiscope/fiscope/internal/strictjson"
)

// LoadData reads a file, or all .json files of a folder. Errors have the line.
func LoadData(name string) (Data, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Data{}, err
	}
	if info.IsDir() {
		return readFolder(os.DirFS(name), ".", name)
	}
	f, err := os.Open(name) //nolint:gosec // the path is the caller's
	if err != nil {
		return Data{}, err
	}
	defer func() { _ = f.Close() }()
	return readData(f, name)
}

// readFolder reads the .json files of a folder; shown is its name in errors.
func readFolder(fsys fs.FS, dir string, shown ...string) (Data, error) {
	names, err := fs.Glob(fsys, path.Join(dir, "*.json"))
	if err != nil {
		return Data{}, err
	}
	if len(names) == 0 {
		return Data{}, fmt.Errorf("%s: ningún archivo de esta carpeta termina en .json", strings.Join(shown, ""))
	}
	var all Data
	for _, name := range names {
		file := path.Join(append(shown, name)...)
		text, err := fs.ReadFile(fsys, name)
		if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
			failed.Path = file // rather than the folder's path
		}
		if err != nil {
			return Data{}, err
		}
		one, err := readData(bytes.NewReader(text), file)
		if err != nil {
			return Data{}, err
		}
		all = all.merge(one)
	}
	return all, nil
}

// readData reads the JSON of [Data] strictly. Errors begin with name and line.
func readData(r io.Reader, name string) (Data, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Data{}, fmt.Errorf("%s: no se puede leer: %w", name, err)
	}
	var d Data
	if err = readStrictly(text, name, &d, func() (string, int, error) { return d.firstWrong() }); err != nil {
		return Data{}, err
	}
	return d, nil
}

// readStrictly decodes JSON. Its error, also that of firstWrong about an item of a member, begins with name and line.
func readStrictly(text []byte, name string, into any, firstWrong func() (member string, item int, err error)) error {
	at, wrong := 0, (*strictjson.Error)(nil)
	err := strictjson.Decode(text, into)
	if errors.As(err, &wrong) {
		at = wrong.At
	} else if member, item, why := firstWrong(); why != nil {
		at, err = strictjson.Item(text, member, item), why
	}
	if err != nil {
		return fmt.Errorf("%s:%d: %w", name, strictjson.Line(text, at), err)
	}
	return nil
}

// Write writes d as indented JSON, claves and keys included.
func (d Data) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // people read names such as "A & B"
	return e.Encode(d)
}

// Save writes d to a file for [LoadData], readable only by its owner.
func (d Data) Save(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the path is the caller's
	if err != nil {
		return err
	}
	err = d.Write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
