package admin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/fiscope/fiscope/mockserver"
)

// The limits of a list of taxpayers.
const (
	contribuyentesDefault = 20
	contribuyentesMost    = 1000
)

const contribuyenteShape = `{"razonSocial": "…", "estado": "ACTIVO", …}, como en un archivo de -data`

var errNoContribuyente = notFound("vea los que hay en GET /_mock/contribuyentes?text=", "no hay ningún contribuyente con ese RUC")

// shownContribuyente returns a taxpayer with fingerprints instead of keys.
func (a *api) shownContribuyente(c mockserver.Contribuyente) mockserver.Contribuyente {
	for _, text := range []*string{
		&c.RUC, &c.RazonSocial, &c.NombreComercial, &c.Estado, &c.Condicion, &c.Direccion, &c.Ubigeo, &c.Departamento, &c.Provincia,
		&c.Distrito, &c.Tipo, &c.ActividadEconomica, &c.FechaInscripcion, &c.FechaInicioActividades,
	} {
		*text = a.control.WithoutKeys(*text)
	}
	return c
}

func (a *api) getContribuyentes(r *http.Request) (any, error) {
	values, err := a.parametersOf(r, "text", "limit")
	if err != nil {
		return nil, err
	}
	limit := contribuyentesDefault
	if text := values.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > contribuyentesMost {
			return nil, invalid("quítelo, o envíe un entero de 1 a "+strconv.Itoa(contribuyentesMost), "limit no es un número entero de 1 a %d", contribuyentesMost)
		}
	}
	found, err := a.listed(r.Context(), strings.TrimSpace(values.Get("text")), limit)
	if err != nil {
		return nil, registryFailed(err)
	}
	list := make([]mockserver.Contribuyente, len(found))
	for i, c := range found {
		list[i] = a.shownContribuyente(c)
	}
	return list, nil
}

// listed returns at most limit taxpayers: first those whose RUC begins with text, then those whose name contains it.
func (a *api) listed(ctx context.Context, text string, limit int) (found []mockserver.Contribuyente, err error) {
	switch digits := strings.Trim(text, "0123456789") == ""; {
	case digits && len(text) == 11:
		c, known, err := a.control.Contribuyente(ctx, text)
		if err != nil {
			return nil, err
		}
		if known {
			found = append(found, c)
		}
	case digits:
		found = a.control.First(text, limit)
	}
	if text == "" || len(found) >= limit {
		return found, nil
	}
	named, err := a.control.Buscar(ctx, text, limit)
	for _, c := range named {
		if len(found) < limit && !slices.ContainsFunc(found, func(f mockserver.Contribuyente) bool { return f.RUC == c.RUC }) {
			found = append(found, c)
		}
	}
	return found, err
}

func (a *api) getContribuyente(r *http.Request) (any, error) {
	c, err := a.contribuyente(r)
	if err != nil {
		return nil, err
	}
	return a.shownContribuyente(c), nil
}

// contribuyente returns the taxpayer of the path.
func (a *api) contribuyente(r *http.Request) (mockserver.Contribuyente, error) {
	c, known, err := a.control.Contribuyente(r.Context(), r.PathValue("ruc"))
	switch {
	case err != nil:
		return c, registryFailed(err)
	case !known:
		return c, errNoContribuyente
	}
	return c, nil
}

// registryFailed returns the answer if the registry used instead of the default taxpayers fails.
func registryFailed(err error) *problem {
	reason := "devolvió un error"
	if failed := interface{ Spanish() string }(nil); errors.As(err, &failed) {
		reason = "no responde: " + failed.Spanish()
	}
	return &problem{http.StatusInternalServerError, codeRegistry, "el padrón que se dio a este servidor " + reason, "revise -padron; el registro del programa dice más"}
}

// putContribuyente adds or replaces a taxpayer.
func (a *api) putContribuyente(r *http.Request) (any, error) {
	var c *mockserver.Contribuyente
	if err := read(r, &c, contribuyenteShape); err != nil {
		return nil, err
	}
	ruc := r.PathValue("ruc")
	switch {
	case c == nil:
		return nil, invalid("envíe "+contribuyenteShape, "no dice nada del contribuyente")
	case c.RUC != "" && c.RUC != ruc:
		return nil, invalid("quite ruc del cuerpo, o corrija uno de los dos", "el ruc del cuerpo no es el de la dirección")
	}
	c.RUC = ruc
	return nil, a.Mock.PutContribuyente(*c)
}

func (a *api) deleteContribuyente(r *http.Request) (any, error) {
	c, err := a.contribuyente(r)
	if err != nil {
		return nil, err
	}
	return nil, a.Mock.DeleteContribuyente(c.RUC)
}
