package mockserver

import (
	"fmt"
	"log/slog"
	"slices"
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

// check returns an error for the first invalid item.
func (d Data) check() error {
	_, _, err := d.firstWrong()
	return err
}

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
func firstError[T any, ID comparable](list []T, check func(T) error, id func(T) ID) (int, error) {
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

func merged[T any, ID comparable](first, then []T, id func(T) ID) []T {
	again := make(map[ID]bool, len(then))
	for _, item := range then {
		again[id(item)] = true
	}
	kept := slices.DeleteFunc(slices.Clone(first), func(item T) bool { return again[id(item)] })
	return append(kept, then...)
}
