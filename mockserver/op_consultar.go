package mockserver

import "net/http"

type wireContribuyente struct {
	RUC                    string `json:"ruc"`
	RazonSocial            string `json:"razonSocial"`
	Estado                 string `json:"estado"`
	Condicion              string `json:"condicion"`
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

// consultar is the lookup of docs/contrato.md, 4.1.
func consultar(c *call, assume *Assumptions) answer {
	ruc := c.ruc
	if !isRUC(ruc) {
		return refusal(http.StatusBadRequest, assume.CodeInvalidRUC,
			"el RUC %s no es válido: debe tener exactamente 11 dígitos numéricos (docs/contrato.md, 4.1)", c.quoted(ruc))
	}
	found, ok, err := c.data.contribuyentes.porRUC(c.r.Context(), ruc)
	if err != nil {
		return registroFailed()
	}
	if !ok {
		return refusal(http.StatusNotFound, codeNotFound,
			"no existe un contribuyente con el RUC %s: revise el número o busque por razón social (docs/contrato.md, 4.1)", ruc)
	}
	body := c.data.lookups.body(found, func() []byte {
		found := found.conforming()
		return encode(wireContribuyente{
			RUC:                    found.RUC,
			RazonSocial:            found.RazonSocial,
			Estado:                 assume.Estados.estado(found.Estado),
			Condicion:              found.Condicion,
			Direccion:              found.Direccion,
			Ubigeo:                 found.Ubigeo,
			Departamento:           found.Departamento,
			Provincia:              found.Provincia,
			Distrito:               found.Distrito,
			Tipo:                   found.Tipo,
			ActividadEconomica:     found.ActividadEconomica,
			FechaInscripcion:       found.FechaInscripcion,
			FechaInicioActividades: found.FechaInicioActividades,
		})
	})
	return answer{status: http.StatusOK, body: body}
}

func registroFailed() answer {
	return refusal(http.StatusInternalServerError, codeRegistroDown,
		"el Registro que se dio a este servidor de pruebas devolvió un error: revise su implementación")
}
