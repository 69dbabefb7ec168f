package mockserver_test

import (
	"strings"
	"testing"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each way to write a field without a value, in all fields that can be without, and as the SDK reads it.
func TestUnknowns(t *testing.T) {
	optional := []string{"direccion", "ubigeo", "departamento", "provincia", "distrito", "tipo", "actividadEconomica", "fechaInscripcion", "fechaInicioActividades"}
	const head = `{"ruc":"20999990098","razonSocial":"-","estado":"ACTIVO","condicion":"HABIDO"`
	all := func(value string) string {
		return head + `,"` + strings.Join(optional, `":`+value+`,"`) + `":` + value + "}\n"
	}
	for how, c := range map[mockserver.Unknown]struct{ empty, dash string }{ // of fields put as "" and as "-"
		mockserver.UnknownAsPut:  {"", all(`"-"`)},
		mockserver.UnknownEmpty:  {all(`""`), all(`""`)},
		mockserver.UnknownDash:   {all(`"-"`), all(`"-"`)},
		mockserver.UnknownNull:   {all("null"), all("null")},
		mockserver.UnknownAbsent: {head + "}\n", head + "}\n"},
	} {
		t.Run(string(how), func(t *testing.T) {
			a := mockserver.DefaultAssumptions()
			a.Unknown = how
			srv, api := start(t, mockserver.WithAssumptions(a))
			known := api.get(lookup).body
			for value, want := range map[string]string{"": c.empty, "-": c.dash} {
				if want == "" {
					continue
				}
				record := mockserver.Contribuyente{
					RUC: "20999990098", RazonSocial: "-", Estado: "ACTIVO", Condicion: "HABIDO", // what is required stays as it was put
					Direccion: value, Ubigeo: value, Departamento: value, Provincia: value, Distrito: value,
					Tipo: value, ActividadEconomica: value, FechaInscripcion: value, FechaInicioActividades: value,
				}
				require.NoError(t, srv.PutContribuyente(record))
				assert.Equal(t, want, api.get("/api/contribuyentes/20999990098").body)

				record.RazonSocial = "SIN DATOS"
				require.NoError(t, srv.PutContribuyente(record))
				var seen fiscope.Response
				read, err := srv.Client().Contribuyentes.Consultar(t.Context(), "20999990098", fiscope.WithResponse(&seen))
				require.NoError(t, err)
				assert.Empty(t, seen.Warnings)
				assert.True(t, read.FechaInscripcion.IsZero())
				some, err := srv.Client().Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "sin datos"})
				require.NoError(t, err)
				assert.Len(t, some, 1)
			}
			_, plain := start(t)
			assert.Equal(t, plain.get(lookup).body, known, "a record whose fields all have a value")
		})
	}
}
