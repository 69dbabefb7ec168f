package mockserver

import (
	"errors"
	"slices"
	"sync/atomic"
)

// dataset is all the data of a server but its keys. A reset makes a new one, so that every request sees
// all of the old or all of the new.
type dataset struct {
	contribuyentes padron
	comprobantes   comprobantes
	sol            sol
	rates          rates
	sunatDown      atomic.Bool
	withDefaults   bool
}

// newDataset returns a dataset with the default data, or an empty one; a Registro takes the place of the
// default taxpayers.
func newDataset(withDefaults bool, registro Registro) (*dataset, error) {
	d := &dataset{withDefaults: withDefaults}
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
	d.comprobantes.base = def.comprobantes
	d.rates.series = true
	return d, d.sol.put(def.usuarios...)
}

// put takes data that were checked, all but the keys.
func (d *dataset) put(data Data) error {
	d.contribuyentes.remove(data.Deleted.Contribuyentes...)
	for _, u := range data.Deleted.Usuarios {
		d.sol.remove(solID{u.RUC, u.Usuario})
	}
	return errors.Join(
		d.rates.remove(data.Deleted.TiposCambio...),
		d.contribuyentes.put(data.Contribuyentes...),
		d.comprobantes.put(data.Comprobantes...),
		d.sol.put(data.Usuarios...),
		d.rates.put(data.TiposCambio...),
	)
}

// export returns what d holds over the default data, in a stable order.
func (d *dataset) export() Data {
	out := Data{
		WithoutDefaults: !d.withDefaults,
		Contribuyentes:  d.contribuyentes.over.all(),
		Comprobantes:    d.comprobantes.all(),
		Usuarios:        d.sol.all(),
	}
	out.TiposCambio, out.Deleted.TiposCambio = d.rates.all()
	out.Deleted.Contribuyentes = d.contribuyentes.deleted()
	if !d.withDefaults {
		return out
	}
	def, _ := embedded() // read when d was made
	for _, u := range def.usuarios {
		if !slices.ContainsFunc(out.Usuarios, func(o SOL) bool { return o.RUC == u.RUC && o.Usuario == u.Usuario }) {
			out.Deleted.Usuarios = append(out.Deleted.Usuarios, UsuarioID{u.RUC, u.Usuario})
		}
	}
	out.Usuarios = slices.DeleteFunc(out.Usuarios, func(u SOL) bool { return slices.Contains(def.usuarios, u) })
	if len(out.Usuarios) == 0 {
		out.Usuarios = nil
	}
	return out
}
