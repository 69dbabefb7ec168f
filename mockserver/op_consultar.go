package mockserver

import (
	"hash/maphash"
	"net/http"
	"sync/atomic"
)

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
			"el RUC %s no es válido: debe tener exactamente 11 dígitos numéricos (docs/contrato.md, 4.1)", quoted(ruc))
	}
	found, ok, err := c.data.contribuyentes.porRUC(c.r.Context(), ruc)
	if err != nil {
		return registroFailed()
	}
	if !ok {
		return refusal(http.StatusNotFound, codeNotFound,
			"no existe un contribuyente con el RUC %s: revise el número o busque por razón social (docs/contrato.md, 4.1)", ruc)
	}
	return answer{status: http.StatusOK, body: c.data.lookups.body(found, assume.Estados)}
}

// lookups keep the bodies of the last records that were looked up: encoding one takes as long as the rest of
// the answer. A record that was put since is encoded anew, since it is not the one that was encoded.
type lookups [256]atomic.Pointer[lookupBody]

type lookupBody struct {
	of   Contribuyente
	body []byte // never written
}

var lookupSeed = maphash.MakeSeed()

// body returns a record as a lookup answers it, with the one spelling of the states that the server has.
func (l *lookups) body(found Contribuyente, estados Vocabulario) []byte {
	last := &l[maphash.String(lookupSeed, found.RUC)%uint64(len(l))]
	if b := last.Load(); b != nil && b.of == found {
		return b.body
	}
	b := &lookupBody{found, encode(wireContribuyente{
		RUC:                    found.RUC,
		RazonSocial:            found.RazonSocial,
		Estado:                 estados.estado(found.Estado),
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
	})}
	last.Store(b)
	return b.body
}

func registroFailed() answer {
	return refusal(http.StatusInternalServerError, codeRegistroDown,
		"el Registro que se dio a este servidor de pruebas devolvió un error: revise su implementación")
}
