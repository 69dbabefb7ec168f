package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/fiscope/fiscope/internal/strictjson"
)

// Data is what a server holds in addition to its default data, and the format of fixtures (see
// cmd/fiscope-mock/README.md). It prints without claves and keys.
type Data struct {
	WithoutDefaults bool            `json:"withoutDefaults,omitempty"` // first deletes everything, except keys and a Registro
	Contribuyentes  []Contribuyente `json:"contribuyentes,omitempty"`
	Comprobantes    []Comprobante   `json:"comprobantes,omitempty"`
	Usuarios        []SOL           `json:"usuarios,omitempty"`
	TiposCambio     []TipoCambio    `json:"tiposCambio,omitempty"`
	Keys            []Key           `json:"keys,omitempty"`
	Deleted         Deleted         `json:"deleted,omitzero"` // deleted before the rest is added
}

// Deleted lists items of the default data that a server lacks.
type Deleted struct {
	Contribuyentes []string    `json:"contribuyentes,omitempty"` // RUCs
	Usuarios       []UsuarioID `json:"usuarios,omitempty"`
	TiposCambio    []string    `json:"tiposCambio,omitempty"` // dates, YYYY-MM-DD
	DefaultKey     bool        `json:"defaultKey,omitempty"`  // DefaultAPIKey, unless WithAPIKey sets it
}

// Format implements [fmt.Formatter]: it prints only counts.
func (d Data) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "Data{%d taxpayers, %d receipts, %d SOL users, %d rates, %d keys}",
		len(d.Contribuyentes), len(d.Comprobantes), len(d.Usuarios), len(d.TiposCambio), len(d.Keys))
}

// LogValue implements [slog.LogValuer], without claves and keys.
func (d Data) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(d)) }

// firstWrong returns the member and the index of the first invalid item; the index is negative for the whole member.
func (d Data) firstWrong() (member string, item int, err error) {
	for _, list := range []struct {
		member string
		wrong  func() (int, error)
	}{
		{"contribuyentes", func() (int, error) { return firstError(d.Contribuyentes, Contribuyente.check, Contribuyente.id) }},
		{"comprobantes", func() (int, error) { return firstError(d.Comprobantes, Comprobante.check, Comprobante.id) }},
		{"usuarios", func() (int, error) { return firstError(d.Usuarios, SOL.check, SOL.id) }},
		{"tiposCambio", func() (int, error) { return firstError(d.TiposCambio, TipoCambio.check, TipoCambio.id) }},
		{"keys", func() (int, error) { return firstError(d.Keys, Key.check, Key.id) }},
		{"deleted", func() (int, error) { return -1, d.Deleted.check() }},
	} {
		if item, err := list.wrong(); err != nil {
			return list.member, item, err
		}
	}
	return "", 0, nil
}

// firstError returns the first item that is invalid or a duplicate.
func firstError[Item any, ID comparable](list []Item, check func(Item) error, id func(Item) ID) (int, error) {
	seen := make(map[ID]int, len(list))
	for i, item := range list {
		if err := check(item); err != nil {
			return i, err
		}
		if before, twice := seen[id(item)]; twice {
			return i, fmt.Errorf("el registro %d de la lista es el mismo que el %d: deje uno", i+1, before+1)
		}
		seen[id(item)] = i
	}
	return 0, nil
}

func (d Deleted) check() error {
	self := func(id string) string { return id }
	_, err := firstError(d.Contribuyentes, func(ruc string) error { return Contribuyente{RUC: ruc}.check() }, self)
	if err == nil {
		_, err = firstError(d.Usuarios, UsuarioID.check, func(u UsuarioID) UsuarioID { return u })
	}
	if err == nil {
		_, err = firstError(d.TiposCambio, func(fecha string) error { _, err := diaDeTipoCambio(fecha); return err }, self)
	}
	return err
}

// merge adds the records of other to d, replacing those with the same identity.
func (d Data) merge(other Data) Data {
	return Data{
		WithoutDefaults: d.WithoutDefaults || other.WithoutDefaults,
		Contribuyentes:  merged(d.Contribuyentes, other.Contribuyentes, Contribuyente.id),
		Comprobantes:    merged(d.Comprobantes, other.Comprobantes, Comprobante.id),
		Usuarios:        merged(d.Usuarios, other.Usuarios, SOL.id),
		TiposCambio:     merged(d.TiposCambio, other.TiposCambio, TipoCambio.id),
		Keys:            merged(d.Keys, other.Keys, Key.id),
		Deleted: Deleted{
			Contribuyentes: slices.Concat(d.Deleted.Contribuyentes, other.Deleted.Contribuyentes),
			Usuarios:       slices.Concat(d.Deleted.Usuarios, other.Deleted.Usuarios),
			TiposCambio:    slices.Concat(d.Deleted.TiposCambio, other.Deleted.TiposCambio),
			DefaultKey:     d.Deleted.DefaultKey || other.Deleted.DefaultKey,
		},
	}
}

func merged[Item any, ID comparable](first, then []Item, id func(Item) ID) []Item {
	again := make(map[ID]bool, len(then))
	for _, item := range then {
		again[id(item)] = true
	}
	kept := slices.DeleteFunc(slices.Clone(first), func(item Item) bool { return again[id(item)] })
	return append(kept, then...)
}

// LoadData reads a file, or all .json files of a folder. Errors have the line.
func LoadData(name string) (Data, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Data{}, err
	}
	if info.IsDir() {
		return readFolder(os.DirFS(name), ".", name)
	}
	text, err := os.ReadFile(name) //nolint:gosec // the path is the caller's
	if err != nil {
		return Data{}, err
	}
	return readData(bytes.NewReader(text), name)
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
	var text bytes.Buffer
	if err := d.Write(&text); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o600)
}
