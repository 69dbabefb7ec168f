package admin

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/fiscope/fiscope/mockserver"
)

const comprobanteShape = `{"codigo": "4", "mensaje": "", "luego": [{"codigo": "0", "tras": "2m"}]}; codigo es 0 aceptado, 2 anulado, 4 en proceso, 98 no existe o 99 error`

// shownComprobante returns a receipt with fingerprints instead of keys.
func (a *api) shownComprobante(c mockserver.Comprobante) mockserver.Comprobante {
	for _, text := range []*string{&c.RUCEmisor, &c.Serie, &c.Mensaje} {
		*text = a.control.WithoutKeys(*text)
	}
	c.Luego = slices.Clone(c.Luego)
	for i := range c.Luego {
		c.Luego[i].Mensaje = a.control.WithoutKeys(c.Luego[i].Mensaje)
	}
	return c
}

func (a *api) getComprobantes(r *http.Request) (any, error) {
	values, err := a.parametersOf(r, "ruc", "limit")
	if err != nil {
		return nil, err
	}
	found := a.control.Comprobantes(values.Get("ruc"))
	if text := values.Get("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 1 {
			return nil, invalid("quítelo para recibirlos todos, o envíe un entero desde 1", "limit no es un número entero desde 1")
		}
		found = found[:min(limit, len(found))]
	}
	list := make([]mockserver.Comprobante, len(found))
	for i, c := range found {
		list[i] = a.shownComprobante(c)
	}
	return list, nil
}

// comprobante returns the identity of the receipt in the path.
func comprobante(r *http.Request) (mockserver.Comprobante, error) {
	numero, err := strconv.Atoi(r.PathValue("numero"))
	if err != nil || numero < 1 {
		return mockserver.Comprobante{}, invalid("termine la dirección en rucEmisor/tipo/serie/numero, como 20100070970/01/F001/123", "el numero de la dirección no es un entero desde 1")
	}
	return mockserver.Comprobante{RUCEmisor: r.PathValue("rucEmisor"), Tipo: r.PathValue("tipo"), Serie: r.PathValue("serie"), Numero: numero}, nil
}

// isSame reports whether the parts of an identity that other has are c's.
func isSame(c, other mockserver.Comprobante) bool {
	return (other.RUCEmisor == "" || other.RUCEmisor == c.RUCEmisor) && (other.Tipo == "" || other.Tipo == c.Tipo) &&
		(other.Serie == "" || other.Serie == c.Serie) && (other.Numero == 0 || other.Numero == c.Numero)
}

// putComprobante adds or replaces a receipt.
func (a *api) putComprobante(r *http.Request) (any, error) {
	id, err := comprobante(r)
	if err != nil {
		return nil, err
	}
	var c *mockserver.Comprobante
	if err := read(r, &c, comprobanteShape); err != nil {
		return nil, err
	}
	switch {
	case c == nil:
		return nil, invalid("envíe "+comprobanteShape, "no dice el codigo del comprobante")
	case !isSame(id, *c):
		return nil, invalid("quítelo del cuerpo, o corrija uno de los dos", "el comprobante del cuerpo no es el de la dirección")
	}
	id.Codigo, id.Mensaje, id.Luego = c.Codigo, c.Mensaje, c.Luego
	return nil, a.Mock.PutComprobante(id)
}

func (a *api) deleteComprobante(r *http.Request) (any, error) {
	id, err := comprobante(r)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(a.control.Comprobantes(id.RUCEmisor), func(c mockserver.Comprobante) bool { return isSame(c, id) }) {
		return nil, notFound("vea los que hay en GET /_mock/comprobantes", "no hay tal comprobante")
	}
	return nil, a.control.DeleteComprobante(id.RUCEmisor, id.Tipo, id.Serie, id.Numero)
}
