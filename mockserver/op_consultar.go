package mockserver

import (
	"hash/maphash"
	"net/http"
)

// wireResumen is a search result, and the first part of a lookup's record.
type wireResumen struct {
	RUC         string `json:"ruc"`
	RazonSocial string `json:"razonSocial"`
	Estado      string `json:"estado"`
	Condicion   string `json:"condicion"`
}

// wireContribuyente is a taxpayer. Fields without a value may be null or absent.
type wireContribuyente struct {
	wireResumen
	Direccion              any `json:"direccion,omitempty"`
	Ubigeo                 any `json:"ubigeo,omitempty"`
	Departamento           any `json:"departamento,omitempty"`
	Provincia              any `json:"provincia,omitempty"`
	Distrito               any `json:"distrito,omitempty"`
	Tipo                   any `json:"tipo,omitempty"`
	ActividadEconomica     any `json:"actividadEconomica,omitempty"`
	FechaInscripcion       any `json:"fechaInscripcion,omitempty"`
	FechaInicioActividades any `json:"fechaInicioActividades,omitempty"`
}

// consultar is the lookup of docs/contract.md, 4.1.
func consultar(q *request, data *dataset, assume *Assumptions) answer {
	ruc := q.ruc
	if !isRUC(ruc) {
		return refusal(http.StatusBadRequest, assume.CodeInvalidRUC,
			"el RUC %s no es válido: debe tener exactamente 11 dígitos numéricos (docs/contract.md, 4.1)", q.quoted(ruc))
	}
	found, ok, err := data.contribuyentes.porRUC(q.r.Context(), ruc)
	if err != nil {
		return registroFailed(err)
	}
	if !ok {
		return refusal(http.StatusNotFound, codeNotFound,
			"no existe un contribuyente con el RUC %s: revise el número o busque por razón social (docs/contract.md, 4.1)", q.keys.Out(ruc))
	}
	last := &data.lookups[maphash.String(hashSeed, ruc)%uint64(len(data.lookups))]
	if b := last.Load(); b != nil && b.of == found && b.assume == assume {
		return b.answer
	}
	r, u := found.conforming(), assume.Unknown
	a := success(&wireContribuyente{
		wireResumen:            wireResumen{r.RUC, r.RazonSocial, assume.Estados.estado(r.Estado), r.Condicion},
		Direccion:              u.value(found.Direccion, r.Direccion),
		Ubigeo:                 u.value(found.Ubigeo, r.Ubigeo),
		Departamento:           u.value(found.Departamento, r.Departamento),
		Provincia:              u.value(found.Provincia, r.Provincia),
		Distrito:               u.value(found.Distrito, r.Distrito),
		Tipo:                   u.value(found.Tipo, r.Tipo),
		ActividadEconomica:     u.value(found.ActividadEconomica, r.ActividadEconomica),
		FechaInscripcion:       u.value(found.FechaInscripcion, r.FechaInscripcion),
		FechaInicioActividades: u.value(found.FechaInicioActividades, r.FechaInicioActividades),
	})
	last.Store(&lookupBody{found, assume, a})
	return a
}
