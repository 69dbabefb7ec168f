package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

const (
	rucSUNAT      = "20131312955" // the tax authority itself: public, and it always exists
	rucInventado  = "99999999999" // no RUC begins with 99
	anchoPantalla = 78
)

var comprobanteDeMuestra = fiscope.Comprobante{
	RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123,
}

// sesion is one run: what it asks, of whom, and where it prints.
type sesion struct {
	ctx          context.Context
	out          io.Writer
	client       *fiscope.Client
	mock         *mockserver.Server // nil where the server is not ours
	comprobante  fiscope.Comprobante
	credenciales fiscope.CredencialesSOL
	err          error // the first operation that should have worked and did not
}

func (s *sesion) presentar(baseURL string) {
	if s.mock != nil {
		s.linea("fiscope contra un servidor mock de este proceso (%s)", baseURL)
	} else {
		s.linea("fiscope contra %s", baseURL)
	}
}

func (s *sesion) consultar() {
	s.titulo("1. Consultar un RUC")
	var resp fiscope.Response
	c, err := s.client.Contribuyentes.Consultar(s.ctx, rucSUNAT, fiscope.WithResponse(&resp))
	if err != nil {
		s.fallo(err)
		return
	}
	s.campo("RUC", c.RUC)
	s.campo("Razón social", c.RazonSocial)
	s.campo("Estado", fmt.Sprintf("%s, %s", c.Estado, c.Condicion))
	s.campo("Dirección", c.Direccion)
	if !c.FechaInscripcion.IsZero() {
		s.campo("Inscripción", c.FechaInscripcion.String())
	}
	if c.ActivoYHabido() {
		s.campo("Facturable", "sí: activo y habido")
	} else {
		s.campo("Facturable", "cuidado: no está activo y habido")
	}
	if r := resp.RateLimit; r != nil && r.Remaining != fiscope.NoHeader {
		s.campo("Cuota", fmt.Sprintf("quedan %d consultas", r.Remaining))
	}
}

func (s *sesion) buscar() {
	s.titulo("2. Buscar por nombre: «gloria»")
	encontrados, err := s.client.Contribuyentes.Buscar(s.ctx, fiscope.Busqueda{RazonSocial: "gloria", Limite: 5})
	if err != nil {
		s.fallo(err)
		return
	}
	if len(encontrados) == 0 {
		s.linea("  (ningún resultado)")
	}
	for _, c := range encontrados {
		s.linea("  %s  %s (%s)", c.RUC, c.RazonSocial, c.Estado)
	}
}

func (s *sesion) validar() {
	c := s.comprobante
	s.titulo(fmt.Sprintf("3. Validar el comprobante %s-%d de %s", c.Serie, c.Numero, c.RUCEmisor))
	if s.credenciales.RUC == "" || s.credenciales.Usuario == "" || s.credenciales.Clave.IsZero() {
		s.linea("  No se valida: hacen falta FISCOPE_SOL_RUC, FISCOPE_SOL_USUARIO y")
		s.linea("  FISCOPE_SOL_CLAVE, de un usuario SOL secundario.")
		return
	}
	v, err := s.client.CPE.Validar(s.ctx, c, s.credenciales)
	if err != nil {
		s.fallo(err)
		return
	}
	s.campo("Estado", fmt.Sprintf("%s (código %s)", v.Estado, v.Codigo))
	s.campo("Mensaje", v.Mensaje)
	s.campo("Válido", map[bool]string{true: "sí", false: "no"}[v.EsValido])
}

func (s *sesion) tipoCambio() {
	fecha := fiscope.HoyEnLima().AddDays(-1)
	for !fecha.DiaHabil() {
		fecha = fecha.AddDays(-1)
	}
	s.titulo("4. Tipo de cambio del " + fecha.String())
	tc, err := s.client.TipoCambio.Consultar(s.ctx, fecha)
	if err != nil {
		s.fallo(err)
		return
	}
	s.campo("Compra", "S/ "+tc.Compra.StringFixed(3))
	s.campo("Venta", "S/ "+tc.Venta.StringFixed(3))
	s.campo("Fuente", fmt.Sprintf("%s, %s", tc.Origen, tc.Moneda))
}

func (s *sesion) despedir() {
	s.linea("")
	if s.err != nil {
		s.linea("Algo no salió bien: vea arriba las líneas con «✗».")
		return
	}
	s.linea("Listo. El código está en examples/quickstart.")
}

func (s *sesion) titulo(texto string) {
	s.linea("\n%s", texto)
}

func (s *sesion) campo(nombre, valor string) {
	const sangria = 17
	lineas := plegar(valor, anchoPantalla-sangria)
	s.linea("  %s%s%s", nombre, strings.Repeat(" ", sangria-2-len([]rune(nombre))), lineas[0])
	for _, l := range lineas[1:] {
		s.linea("%*s%s", sangria, "", l)
	}
}

func (s *sesion) linea(formato string, args ...any) {
	fmt.Fprintf(s.out, formato+"\n", args...)
}

// fallo shows an operation that should have worked.
func (s *sesion) fallo(err error) {
	s.err = cmp.Or(s.err, errors.New("una operación falló"))
	for i, l := range plegar(explicar(err), anchoPantalla-4) {
		s.linea("  %s %s", [...]string{"✗", " "}[min(i, 1)], l)
	}
}

// plegar breaks a text between its words into lines of at most ancho runes.
func plegar(texto string, ancho int) []string {
	lineas := []string{""}
	for _, palabra := range strings.Fields(texto) {
		ultima := &lineas[len(lineas)-1]
		switch {
		case *ultima == "":
			*ultima = palabra
		case len([]rune(*ultima))+1+len([]rune(palabra)) <= ancho:
			*ultima += " " + palabra
		default:
			lineas = append(lineas, palabra)
		}
	}
	return lineas
}
