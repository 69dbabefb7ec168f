package fiscope

// Contribuyente is a taxpayer's full record (docs/contrato.md, 2.1). The texts are the registry's, mostly in
// upper case; what the registry does not have is "" or "-". It marshals to the contract's JSON.
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
	FechaInscripcion       Fecha     `json:"fechaInscripcion"`       // zero where the registry has none
	FechaInicioActividades Fecha     `json:"fechaInicioActividades"` // zero where the registry has none
}

// ContribuyenteResumen is a taxpayer as a search shows it (docs/contrato.md, 2.2).
type ContribuyenteResumen struct {
	RUC         string    `json:"ruc"`         // 11 digits
	RazonSocial string    `json:"razonSocial"` // business name
	Estado      Estado    `json:"estado"`
	Condicion   Condicion `json:"condicion"`
}

// ActivoYHabido reports whether the taxpayer is active and the domicile verified, on the day of the
// answer: the receipts of an issuer that is not endanger the tax credit. What is in no list is neither,
// so an unknown text is never let through.
func (c Contribuyente) ActivoYHabido() bool { return c.Estado.Activo() && c.Condicion.Habido() }

// ActivoYHabido reports what [Contribuyente.ActivoYHabido] does.
func (c ContribuyenteResumen) ActivoYHabido() bool { return c.Estado.Activo() && c.Condicion.Habido() }
