package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fiscope/fiscope"
)

// titulos are the columns that are added to those of the input.
var titulos = []string{
	"linea", "consulta", "ruc_consultado", "razon_social", "estado", "condicion", "activo_y_habido",
	"direccion", "ubigeo", "departamento", "provincia", "distrito", "tipo", "actividad_economica",
	"fecha_inscripcion", "fecha_inicio_actividades", "consultado_lima",
}

var columnaUbigeo = slices.Index(titulos, "ubigeo")

// columnas returns the cells that are added to a row.
func columnas(f fila, a *avance, sinRespuesta map[string]string) ([]string, error) {
	r, err := a.de(f.ruc)
	if err != nil {
		return nil, err
	}
	c := make([]string, 3, len(titulos))
	c[0], c[1], c[2] = fmt.Sprint(f.linea), "pendiente", f.ruc
	switch {
	case f.falla != "":
		c[1] = "fila errada: " + f.falla
	case r == nil && sinRespuesta[f.ruc] != "":
		c[1] = "pendiente: " + sinRespuesta[f.ruc]
	case r == nil:
	case r.Contribuyente == nil:
		c[1] = "no existe"
	default:
		t := r.Contribuyente
		c[1] = "ok"
		c = append(c, t.RazonSocial, string(t.Estado), string(t.Condicion), siNo(t.ActivoYHabido()),
			t.Direccion, t.Ubigeo, t.Departamento, t.Provincia, t.Distrito, t.Tipo, t.ActividadEconomica,
			t.FechaInscripcion.String(), t.FechaInicioActividades.String())
	}
	c = append(c, make([]string, len(titulos)-len(c))...)
	if r != nil {
		c[len(c)-1] = r.Consultado.In(fiscope.Lima).Format("2006-01-02 15:04:05")
	}
	for i := range c {
		c[i] = inofensiva(c[i])
	}
	c[columnaUbigeo] = conCeros(c[columnaUbigeo])
	return c, nil
}

// inofensiva keeps a spreadsheet from running a cell as a formula (CSV injection): a business name is
// whatever somebody registered. The registry's "-", for what it does not have, stays.
func inofensiva(celda string) string {
	if celda == "-" || !strings.ContainsRune("=+-@\t\r＝＋－＠", primeraRuna(celda)) {
		return celda
	}
	return "'" + celda
}

var digitos = regexp.MustCompile(`^[0-9]+$`)

// conCeros writes a code of digits as a formula that is its text: as a number, a spreadsheet would make 10101 of
// 010101. [limpiar] reads it.
func conCeros(celda string) string {
	if digitos.MatchString(celda) {
		return `="` + celda + `"`
	}
	return celda
}

func primeraRuna(s string) rune {
	for _, r := range strings.TrimLeft(s, " ") {
		return r
	}
	return ' '
}

func siNo(b bool) string {
	if b {
		return "sí"
	}
	return "no"
}
