package mockserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// LoadData reads the data of a file, or of all files of a folder whose names end in .json, in the order
// of their names and without subfolders. The error says the file, the line and what is wrong with it.
func LoadData(name string) (Data, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Data{}, err
	}
	if info.IsDir() {
		return readFolder(os.DirFS(name), ".", name)
	}
	f, err := os.Open(name) //nolint:gosec // the caller's own file is what it is for
	if err != nil {
		return Data{}, err
	}
	defer func() { _ = f.Close() }()
	return ReadData(f, name)
}

// readFolder reads the .json files of a folder; shown is how the errors name it.
func readFolder(fsys fs.FS, dir string, shown ...string) (Data, error) {
	names, err := fs.Glob(fsys, path.Join(dir, "*.json"))
	if err != nil {
		return Data{}, err
	}
	if len(names) == 0 {
		return Data{}, fmt.Errorf("%s: no file of this folder ends in .json", strings.Join(shown, ""))
	}
	var all Data
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return Data{}, err
		}
		one, err := ReadData(bytes.NewReader(text), path.Join(append(shown, name)...))
		if err != nil {
			return Data{}, err
		}
		all = all.join(one)
	}
	return all, nil
}

// ReadData reads data in the format of [Data]. It refuses what a typing error leaves behind: an unknown
// or repeated member, a value of the wrong type, a record that no server takes. The error begins with
// name and the line.
func ReadData(r io.Reader, name string) (Data, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Data{}, fmt.Errorf("%s: %w", name, err)
	}
	p := dataParser{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	if err := p.file(); err != nil {
		line := 1 + bytes.Count(text[:min(p.at, len(text))], []byte("\n"))
		return Data{}, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return p.data, nil
}
