package mockserver

// Empresa returns a company with this RUC, active and habido, for a test to change and to put on a server:
//
//	deBaja := mockserver.Empresa("20999990097")
//	deBaja.Estado = "BAJA DEFINITIVA"
//	srv := mockserver.New(t, mockserver.WithContribuyentes(deBaja))
//
// All but its RUC is made up, the same in each year, and of the form that openapi.yaml asks for.
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

// Persona returns a natural person with this RUC, active and habido; see [Empresa]. Like the registry, it has no
// trade name and shows no address. Take a RUC that is nobody's: that of a person holds the number of a DNI.
func Persona(ruc string) Contribuyente {
	c := Empresa(ruc)
	c.RazonSocial = "PERSONA DE PRUEBA " + ruc
	c.NombreComercial, c.Direccion = "", "-"
	c.Tipo = "PERSONA NATURAL CON NEGOCIO"
	c.ActividadEconomica = "4711 - VENTA AL POR MENOR EN COMERCIOS NO ESPECIALIZADOS"
	return c
}

// Factura returns an accepted invoice, for a test to change ([Comprobante.Codigo] above all) and to put on a
// server with [WithComprobantes] or [Server.PutComprobante]. A server knows receipts of taxpayers that it does
// not know.
func Factura(rucEmisor, serie string, numero int) Comprobante {
	return Comprobante{RUCEmisor: rucEmisor, Tipo: "01", Serie: serie, Numero: numero, Codigo: CodigoAceptado}
}

// UsuarioSecundario returns a secondary SOL user of this RUC, [UsuarioSOL] with [ClaveSOL], for a test to change
// and to put on a server with [WithUsuariosSOL] or [Server.PutUsuarioSOL].
func UsuarioSecundario(ruc string) SOL {
	return SOL{RUC: ruc, Usuario: UsuarioSOL, Clave: ClaveSOL}
}
