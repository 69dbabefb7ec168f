package fiscope

import "context"

// Contribuyente is a taxpayer's full record (docs/contract.md, 2.1). The texts are the registry's, mostly in upper
// case; a missing one is "" or "-". It marshals to the contract's JSON.
type Contribuyente struct {
	RUC                    string    `json:"ruc"`         // 11 digits
	RazonSocial            string    `json:"razonSocial"` // business name
	Estado                 Estado    `json:"estado"`
	Condicion              Condicion `json:"condicion"`
	Direccion              string    `json:"direccion"` // full fiscal address
	Ubigeo                 string    `json:"ubigeo"`    // location code, 6 digits
	Departamento           string    `json:"departamento"`
	Provincia              string    `json:"provincia"`
	Distrito               string    `json:"distrito"`
	Tipo                   string    `json:"tipo"`                   // taxpayer type
	ActividadEconomica     string    `json:"actividadEconomica"`     // main economic activity
	FechaInscripcion       Fecha     `json:"fechaInscripcion"`       // zero if missing
	FechaInicioActividades Fecha     `json:"fechaInicioActividades"` // zero if missing
}

// ContribuyenteResumen is a taxpayer as a search shows it (docs/contract.md, 2.2).
type ContribuyenteResumen struct {
	RUC         string    `json:"ruc"`         // 11 digits
	RazonSocial string    `json:"razonSocial"` // business name
	Estado      Estado    `json:"estado"`
	Condicion   Condicion `json:"condicion"`
}

// ActivoYHabido reports whether the taxpayer is active and the domicile verified, on the day of the answer: otherwise
// its receipts endanger the tax credit. An unknown status or condition is false.
func (c Contribuyente) ActivoYHabido() bool { return c.Estado.Activo() && c.Condicion.Habido() }

// ActivoYHabido is [Contribuyente.ActivoYHabido] for a search result.
func (c ContribuyenteResumen) ActivoYHabido() bool { return c.Estado.Activo() && c.Condicion.Habido() }

// Respaldo is a local copy of the registry. It answers a lookup while the service is away, see [WithRespaldo]. It must
// be safe for concurrent use.
type Respaldo interface {
	// Contribuyente returns the record of a RUC of 11 digits, and the day of its data; the zero Fecha if unknown. What
	// the registry does not have is empty. If it lacks the RUC, the error is an ErrNotFound.
	Contribuyente(ctx context.Context, ruc string) (*Contribuyente, Fecha, error)
}
