package peers

import "errors"

// Contribuyente is the answer of a lookup, as a program without this library has it.
type Contribuyente struct {
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

// Object returns the taxpayer, once it is seen that there is one.
func (c *Contribuyente) Object() (Object, error) {
	if c.RUC == "" {
		return Object{}, errors.New("the answer has no RUC")
	}
	return Object{c.RUC, c.RazonSocial, c.Estado}, nil
}
