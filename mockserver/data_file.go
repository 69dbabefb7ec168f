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

	"github.com/fiscope/fiscope/mockserver/internal/strictjson"
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
		file := path.Join(append(shown, name)...)
		text, err := fs.ReadFile(fsys, name)
		if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
			failed.Path = file // and not as the folder calls it
		}
		if err != nil {
			return Data{}, err
		}
		one, err := ReadData(bytes.NewReader(text), file)
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
		return Data{}, cannotTake("%s: %w", "%s: no se puede leer: %s", name, err)
	}
	var d Data
	file := strictjson.NewReader(text)
	if err := file.Object(func(member string) error { return d.readMember(file, member) }); err != nil {
		return Data{}, cannotTake("%s:%d: %w", "%s:%d: %s", name, file.Line(), err)
	}
	return d, nil
}

// readMember reads one member of the object: a list record by record, any other value as a whole.
func (d *Data) readMember(file *strictjson.Reader, name string) error {
	switch name {
	case "contribuyentes":
		return readRecords(file, &d.Contribuyentes, Contribuyente.check)
	case "comprobantes":
		return readRecords(file, &d.Comprobantes, Comprobante.check)
	case "usuarios":
		return readRecords(file, &d.Usuarios, SOL.check)
	case "tiposCambio":
		return readRecords(file, &d.TiposCambio, TipoCambio.check)
	case "keys":
		return readRecords(file, &d.Keys, Key.check)
	case "deleted":
		return readRecord(file, &d.Deleted, Deleted.check)
	case "withoutDefaults":
		return file.Value(&d.WithoutDefaults)
	}
	return cannotTake("unknown member %q: the members are contribuyentes, comprobantes, usuarios, tiposCambio, keys, deleted and withoutDefaults",
		"no existe el miembro %q: los miembros son contribuyentes, comprobantes, usuarios, tiposCambio, keys, deleted y withoutDefaults", strictjson.Short(name))
}

func readRecords[T any](file *strictjson.Reader, into *[]T, check func(T) error) error {
	return file.List(func() error {
		var record T
		err := readRecord(file, &record, check)
		*into = append(*into, record)
		return err
	})
}

func readRecord[T any](file *strictjson.Reader, into *T, check func(T) error) error {
	if err := file.Value(into); err != nil {
		return err
	}
	return check(*into)
}

// Write writes d as the indented JSON that [ReadData] reads, claves and keys included.
func (d Data) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // a name such as "A & B" is to be read by people
	return e.Encode(d)
}

// Save writes d to a file, for [LoadData], that only its owner can read.
func (d Data) Save(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the caller's own file is what it is for
	if err != nil {
		return err
	}
	err = d.Write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
