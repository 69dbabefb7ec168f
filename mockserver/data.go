package mockserver

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
)

// Data is what a server holds over its default data: the one format of fixtures, the same from Go
// ([WithData], [Server.PutData]), from a file ([LoadData]) and from [Server.Data]. As JSON:
//
//	{
//	  "contribuyentes": [{"ruc": "20100070970", "razonSocial": "...", "estado": "ACTIVO", ...}],
//	  "comprobantes": [{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 7, "codigo": "0"}],
//	  "usuarios": [{"ruc": "20131312955", "usuario": "MIUSER01", "clave": "...", "principal": false}],
//	  "tiposCambio": [{"fecha": "2026-11-20", "compra": 3.750, "venta": 3.760}],
//	  "keys": [{"key": "clave-de-prueba", "quota": 100}],
//	  "deleted": {"contribuyentes": ["20131312955"], "usuarios": [{"ruc": "...", "usuario": "..."}], "tiposCambio": ["2026-11-19"], "defaultKey": true},
//	  "withoutDefaults": false
//	}
//
// Every member may be left out; one that is not listed here is refused. Its claves and keys are test
// data: no verb of fmt and no slog handler prints them, and its JSON, made to be stored, carries them.
type Data struct {
	// WithoutDefaults takes the default data away, and on a running server everything else that was put
	// on it but its keys, before the rest is put. A Registro stays, and so does a tax authority that is down.
	WithoutDefaults bool            `json:"withoutDefaults,omitempty"`
	Contribuyentes  []Contribuyente `json:"contribuyentes,omitempty"`
	Comprobantes    []Comprobante   `json:"comprobantes,omitempty"`
	Usuarios        []SOL           `json:"usuarios,omitempty"`
	TiposCambio     []TipoCambio    `json:"tiposCambio,omitempty"`
	Keys            []Key           `json:"keys,omitempty"`
	// Deleted is what of the default data is gone. It is taken away before the rest is put: what is in both is
	// replaced in one step, and the default key stays with what it has used.
	Deleted Deleted `json:"deleted,omitzero"`
}

// Deleted names records of the default data, or of a [Registro], that a server does not have. A receipt
// is deleted by putting it with [CodigoNoExiste].
type Deleted struct {
	Contribuyentes []string    `json:"contribuyentes,omitempty"` // RUCs
	Usuarios       []UsuarioID `json:"usuarios,omitempty"`
	TiposCambio    []string    `json:"tiposCambio,omitempty"` // dates, YYYY-MM-DD
	DefaultKey     bool        `json:"defaultKey,omitempty"`  // DefaultAPIKey, unless WithAPIKey asks for it; see Server.OwnKey
}

// Format implements [fmt.Formatter]: whatever the verb, it tells how much there is, and no secret.
func (d Data) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "Data{%d taxpayers, %d receipts, %d SOL users, %d rates, %d keys}",
		len(d.Contribuyentes), len(d.Comprobantes), len(d.Usuarios), len(d.TiposCambio), len(d.Keys))
}

// LogValue implements [slog.LogValuer]: a JSON handler would otherwise write the claves and keys.
func (d Data) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(d)) }

// check returns the first thing in d that a server cannot take.
func (d Data) check() error {
	return cmp.Or(
		firstError(d.Contribuyentes, Contribuyente.check),
		firstError(d.Comprobantes, Comprobante.check),
		firstError(d.Usuarios, SOL.check),
		firstError(d.TiposCambio, TipoCambio.check),
		firstError(d.Keys, Key.check),
		d.Deleted.check(),
	)
}

func firstError[T any](list []T, check func(T) error) error {
	for _, item := range list {
		if err := check(item); err != nil {
			return err
		}
	}
	return nil
}

func (d Deleted) check() error {
	return cmp.Or(
		firstError(d.Contribuyentes, func(ruc string) error { return Contribuyente{RUC: ruc}.check() }),
		firstError(d.Usuarios, UsuarioID.check),
		firstError(d.TiposCambio, func(fecha string) error { _, err := diaDeTipoCambio(fecha); return err }),
	)
}

// join adds the records of other after those of d: where both have one, the last put wins.
func (d Data) join(other Data) Data {
	return Data{
		WithoutDefaults: d.WithoutDefaults || other.WithoutDefaults,
		Contribuyentes:  slices.Concat(d.Contribuyentes, other.Contribuyentes),
		Comprobantes:    slices.Concat(d.Comprobantes, other.Comprobantes),
		Usuarios:        slices.Concat(d.Usuarios, other.Usuarios),
		TiposCambio:     slices.Concat(d.TiposCambio, other.TiposCambio),
		Keys:            slices.Concat(d.Keys, other.Keys),
		Deleted: Deleted{
			Contribuyentes: slices.Concat(d.Deleted.Contribuyentes, other.Deleted.Contribuyentes),
			Usuarios:       slices.Concat(d.Deleted.Usuarios, other.Deleted.Usuarios),
			TiposCambio:    slices.Concat(d.Deleted.TiposCambio, other.Deleted.TiposCambio),
			DefaultKey:     d.Deleted.DefaultKey || other.Deleted.DefaultKey,
		},
	}
}
