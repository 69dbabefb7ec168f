package mockserver

import (
	"embed"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fiscope/fiscope"
)

//go:embed data/*.json
var dataFiles embed.FS

// defaults is the embedded data set, read once per process. All servers share it, and none modifies it.
type defaults struct {
	registro     *RegistroEnMemoria
	comprobantes []Comprobante
	usuarios     []SOL
}

// embedded reads the default data.
var embedded = sync.OnceValues(func() (defaults, error) {
	data, err := readFolder(dataFiles, "data")
	if err != nil {
		return defaults{}, fmt.Errorf("datos de fábrica: %w", err)
	}
	d := defaults{registro: &RegistroEnMemoria{}, comprobantes: data.Comprobantes, usuarios: data.Usuarios}
	return d, d.registro.Put(data.Contribuyentes...)
})

// dataset is all the data of a server except its keys. A reset makes a new one, so that every request sees either the old
// or the new data.
type dataset struct {
	contribuyentes contribuyentes
	comprobantes   comprobantes
	sol            sol
	tiposCambio    tiposCambio
	lookups        [256]atomic.Pointer[lookupBody]
	sunatDown      atomic.Bool
	withDefaults   bool
}

// lookupBody caches the answer to the last lookup of a record: encoding takes longer than all the rest.
type lookupBody struct {
	of     Contribuyente
	assume *Assumptions // used to encode it
	answer answer       // never modified
}

// newDataset returns a dataset with the default data, or an empty one; a Registro replaces the default taxpayers.
func newDataset(withDefaults bool, registro Registro) (*dataset, error) {
	d := &dataset{withDefaults: withDefaults}
	d.sol.users, d.contribuyentes.over, d.contribuyentes.gone = map[UsuarioID]*solUser{}, taxpayers{}, map[string]bool{}
	d.comprobantes.known, d.comprobantes.asked = map[comprobanteID]Comprobante{}, map[comprobanteID]asking{}
	d.tiposCambio.over = map[fiscope.Fecha]TipoCambio{}
	d.contribuyentes.base = registro
	if !withDefaults {
		return d, nil
	}
	def, err := embedded()
	if err != nil {
		return nil, err
	}
	if registro == nil {
		d.contribuyentes.base = def.registro
	}
	d.comprobantes.put(def.comprobantes...)
	d.tiposCambio.series = true
	d.sol.change(nil, def.usuarios)
	return d, nil
}

// put adds valid data, except the keys.
func (d *dataset) put(data Data) {
	d.contribuyentes.change(data.Deleted.Contribuyentes, data.Contribuyentes)
	d.comprobantes.put(data.Comprobantes...)
	d.sol.change(data.Deleted.Usuarios, data.Usuarios)
	d.tiposCambio.change(data.Deleted.TiposCambio, data.TiposCambio)
}

// export returns the data added to the default data, in a stable order.
func (d *dataset) export() Data {
	out := Data{
		WithoutDefaults: !d.withDefaults,
		Contribuyentes:  d.contribuyentes.all(),
		Comprobantes:    d.comprobantes.list(""),
		Usuarios:        d.sol.all(),
	}
	out.TiposCambio, out.Deleted.TiposCambio = d.tiposCambio.all()
	out.Deleted.Contribuyentes = d.contribuyentes.deleted()
	if !d.withDefaults {
		return out
	}
	def, _ := embedded() // d was made from it
	for _, c := range def.comprobantes {
		if !slices.ContainsFunc(out.Comprobantes, func(o Comprobante) bool { return o.id() == c.id() }) {
			out.Comprobantes = append(out.Comprobantes, Comprobante{RUCEmisor: c.RUCEmisor, Tipo: c.Tipo, Serie: c.Serie, Numero: c.Numero, Codigo: CodigoNoExiste})
		}
	}
	for _, u := range def.usuarios {
		if !slices.ContainsFunc(out.Usuarios, func(o SOL) bool { return o.id() == u.id() }) {
			out.Deleted.Usuarios = append(out.Deleted.Usuarios, u.id())
		}
	}
	out.Comprobantes = without(out.Comprobantes, def.comprobantes)
	out.Usuarios = without(out.Usuarios, def.usuarios)
	return out
}

// without returns the items of list that others does not contain; nil if it contains all.
func without[Item any](list, others []Item) (kept []Item) {
	for _, item := range list {
		if !slices.ContainsFunc(others, func(other Item) bool { return reflect.DeepEqual(item, other) }) {
			kept = append(kept, item)
		}
	}
	return kept
}
