package mockserver

import (
	"errors"
	"net/http"
)

// wireResumen is what a search tells of a taxpayer, and a lookup first.
type wireResumen struct {
	RUC         string `json:"ruc"`
	RazonSocial string `json:"razonSocial"`
	Estado      string `json:"estado"`
	Condicion   string `json:"condicion"`
}

// wireContribuyente is a taxpayer whose fields are all written as texts.
type wireContribuyente struct {
	wireResumen
	Direccion              string `json:"direccion"`
	Ubigeo                 string `json:"ubigeo"`
	Departamento           string `json:"departamento"`
	Provincia              string `json:"provincia"`
	Distrito               string `json:"distrito"`
	Tipo                   string `json:"tipo"`
	ActividadEconomica     string `json:"actividadEconomica"`
	FechaInscripcion       string `json:"fechaInscripcion"`
	FechaInicioActividades string `json:"fechaInicioActividades"`
}

// wireWithoutValues is a taxpayer whose fields without a value are null or absent. To encode one takes longer.
type wireWithoutValues struct {
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

// consultar is the lookup of docs/contrato.md, 4.1.
func consultar(c *call, assume *Assumptions) answer {
	ruc := c.ruc
	if !isRUC(ruc) {
		return refusal(http.StatusBadRequest, assume.CodeInvalidRUC,
			"el RUC %s no es válido: debe tener exactamente 11 dígitos numéricos (docs/contrato.md, 4.1)", c.quoted(ruc))
	}
	found, ok, err := c.data.contribuyentes.porRUC(c.r.Context(), ruc)
	if err != nil {
		return registroFailed(err)
	}
	if !ok {
		return refusal(http.StatusNotFound, codeNotFound,
			"no existe un contribuyente con el RUC %s: revise el número o busque por razón social (docs/contrato.md, 4.1)", c.keys.Out(ruc))
	}
	body := c.data.lookups.body(found, assume, func() []byte { return encodeContribuyente(&found, assume) })
	return answer{status: http.StatusOK, body: body}
}

// encodeContribuyente is the body of a lookup's answer.
func encodeContribuyente(found *Contribuyente, assume *Assumptions) []byte {
	r := found.conforming()
	resumen := wireResumen{r.RUC, r.RazonSocial, assume.Estados.estado(r.Estado), r.Condicion}
	u := assume.Unknown
	if u != UnknownAsPut { // which says how a field without a value is written
		r = *found
	}
	if u == UnknownNull || u == UnknownAbsent {
		return encode(&wireWithoutValues{
			resumen, u.value(r.Direccion), u.value(r.Ubigeo), u.value(r.Departamento), u.value(r.Provincia), u.value(r.Distrito),
			u.value(r.Tipo), u.value(r.ActividadEconomica), u.value(r.FechaInscripcion), u.value(r.FechaInicioActividades),
		})
	}
	return encode(&wireContribuyente{
		resumen, u.text(r.Direccion), u.text(r.Ubigeo), u.text(r.Departamento), u.text(r.Provincia), u.text(r.Distrito),
		u.text(r.Tipo), u.text(r.ActividadEconomica), u.text(r.FechaInscripcion), u.text(r.FechaInicioActividades),
	})
}

// registroFailed is the answer where a [Registro] fails.
func registroFailed(err error) answer {
	reason := "devolvió un error: revise su implementación"
	if told := interface{ Spanish() string }(nil); errors.As(err, &told) {
		reason = "no responde: " + told.Spanish()
	}
	return refusal(http.StatusInternalServerError, codeRegistroDown, "el Registro que se dio a este servidor de pruebas %s", reason)
}
