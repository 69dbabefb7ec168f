package mockserver

import (
	"errors"
	"net/http"
)

// wireContribuyente has strings, and in the fields that may have no value what [Unknown] makes of that.
type wireContribuyente struct {
	RUC                    string `json:"ruc"`
	RazonSocial            string `json:"razonSocial"`
	Estado                 string `json:"estado"`
	Condicion              string `json:"condicion"`
	Direccion              any    `json:"direccion,omitempty"`
	Ubigeo                 any    `json:"ubigeo,omitempty"`
	Departamento           any    `json:"departamento,omitempty"`
	Provincia              any    `json:"provincia,omitempty"`
	Distrito               any    `json:"distrito,omitempty"`
	Tipo                   any    `json:"tipo,omitempty"`
	ActividadEconomica     any    `json:"actividadEconomica,omitempty"`
	FechaInscripcion       any    `json:"fechaInscripcion,omitempty"`
	FechaInicioActividades any    `json:"fechaInicioActividades,omitempty"`
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
	body := c.data.lookups.body(found, assume, func() []byte {
		conforming := found.conforming()
		r := conforming
		if assume.Unknown != UnknownAsPut { // which says how a field without a value is written
			r = found
		}
		return encode(wireContribuyente{
			RUC:                    r.RUC,
			RazonSocial:            r.RazonSocial,
			Estado:                 assume.Estados.estado(conforming.Estado),
			Condicion:              conforming.Condicion,
			Direccion:              assume.Unknown.write(&r.Direccion),
			Ubigeo:                 assume.Unknown.write(&r.Ubigeo),
			Departamento:           assume.Unknown.write(&r.Departamento),
			Provincia:              assume.Unknown.write(&r.Provincia),
			Distrito:               assume.Unknown.write(&r.Distrito),
			Tipo:                   assume.Unknown.write(&r.Tipo),
			ActividadEconomica:     assume.Unknown.write(&r.ActividadEconomica),
			FechaInscripcion:       assume.Unknown.write(&r.FechaInscripcion),
			FechaInicioActividades: assume.Unknown.write(&r.FechaInicioActividades),
		})
	})
	return answer{status: http.StatusOK, body: body}
}

// registroFailed is the answer where a [Registro] fails.
func registroFailed(err error) answer {
	reason := "devolvió un error: revise su implementación"
	if told := interface{ Spanish() string }(nil); errors.As(err, &told) {
		reason = "no responde: " + told.Spanish()
	}
	return refusal(http.StatusInternalServerError, codeRegistroDown, "el Registro que se dio a este servidor de pruebas %s", reason)
}
