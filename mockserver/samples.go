package mockserver

// The default key and SOL users, which are public. The server refuses the principal user.
const (
	DefaultAPIKey    = "clave-de-prueba"
	RUCSolicitante   = "20131312955"
	UsuarioSOL       = "MIUSER01"
	ClaveSOL         = "clave-mock-1"
	UsuarioPrincipal = "PRINCIP1"
	ClavePrincipal   = "clave-mock-2"
)

// Empresa returns an invented active company, for a test to change and add.
func Empresa(ruc string) Contribuyente {
	return Contribuyente{
		RUC:                    ruc,
		RazonSocial:            "EMPRESA DE PRUEBA " + ruc + " S.A.C.",
		NombreComercial:        "PRUEBA " + ruc,
		Estado:                 "ACTIVO",
		Condicion:              "HABIDO",
		Direccion:              "AV. DE MUESTRA NRO. 123 LIMA - LIMA - LIMA",
		Ubigeo:                 "150101",
		Departamento:           "LIMA",
		Provincia:              "LIMA",
		Distrito:               "LIMA",
		Tipo:                   "SOCIEDAD ANONIMA CERRADA",
		ActividadEconomica:     "6201 - PROGRAMACIÓN INFORMÁTICA",
		FechaInscripcion:       "2020-01-02",
		FechaInicioActividades: "2020-01-03",
	}
}

// Persona returns an invented active person. Use a RUC that belongs to no one.
func Persona(ruc string) Contribuyente {
	c := Empresa(ruc)
	c.RazonSocial = "PERSONA DE PRUEBA " + ruc
	c.NombreComercial, c.Direccion = "", "-"
	c.Tipo = "PERSONA NATURAL CON NEGOCIO"
	c.ActividadEconomica = "4711 - VENTA AL POR MENOR EN COMERCIOS NO ESPECIALIZADOS"
	return c
}

// Factura returns an accepted invoice, for a test to change and add.
func Factura(rucEmisor, serie string, numero int) Comprobante {
	return Comprobante{RUCEmisor: rucEmisor, Tipo: "01", Serie: serie, Numero: numero, Codigo: CodigoAceptado}
}

// UsuarioSecundario returns a SOL user: [UsuarioSOL] with [ClaveSOL].
func UsuarioSecundario(ruc string) SOL {
	return SOL{RUC: ruc, Usuario: UsuarioSOL, Clave: ClaveSOL}
}
