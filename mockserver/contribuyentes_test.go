package mockserver_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// busy is a Registro that puts a taxpayer on the server each time that it is asked.
type busy struct {
	mockserver.RegistroEnMemoria
	srv   *mockserver.Server
	asked []int // the limits
}

func (r *busy) Buscar(ctx context.Context, texto string, limite int) ([]mockserver.Contribuyente, error) {
	found, err := r.RegistroEnMemoria.Buscar(ctx, texto, limite)
	r.asked = append(r.asked, limite)
	if err == nil {
		err = r.srv.PutContribuyente(mockserver.Contribuyente{RUC: fmt.Sprintf("200000001%02d", len(r.asked)), RazonSocial: "PUESTA MIENTRAS BUSCA"})
	}
	return found, err
}

// A Registro is asked again only if more of what it found may have been hidden meanwhile than it was asked for.
func TestRegistroIsAskedAsOftenAsNeeded(t *testing.T) {
	for name, c := range map[string]struct {
		records int
		asked   []int
		found   int
	}{"it has few": {3, []int{5}, 2}, "it has many": {30, []int{5, 7}, 5}} {
		t.Run(name, func(t *testing.T) {
			registro := new(busy)
			srv, api := start(t, mockserver.WithRegistro(registro))
			registro.srv = srv
			for i := range c.records {
				require.NoError(t, registro.Put(mockserver.Contribuyente{RUC: fmt.Sprintf("200000001%02d", i+1), RazonSocial: "GLORIA"}))
			}
			found := rucs(api.get("/api/contribuyentes/search?razonSocial=gloria&limit=5").body)
			assert.Equal(t, c.asked, registro.asked)
			assert.Len(t, found, c.found)
		})
	}
}

// Clients that are made from openapi.yaml cannot read a date or a ubigeo of another form than the contract's.
func TestWhatARecordDoesNotSayHasTheContractsForm(t *testing.T) {
	least := mockserver.Contribuyente{RUC: "20700000001", RazonSocial: "MINIMA S.A.C."}
	said := mockserver.Contribuyente{RUC: "20700000002", RazonSocial: "MINIMA PERO DICHA S.A.C.", Estado: "BAJA DE OFICIO", Condicion: "PENDIENTE",
		Ubigeo: "-", FechaInscripcion: "-", FechaInicioActividades: "2024-02-29"}
	registro := &mockserver.RegistroEnMemoria{}
	require.NoError(t, registro.Put(least, said))
	for name, opt := range map[string]mockserver.Option{
		"put": mockserver.WithContribuyentes(least, said), "of a Registro": mockserver.WithRegistro(registro),
	} {
		t.Run(name, func(t *testing.T) {
			srv, api := start(t, opt)
			ordinary := api.get("/api/contribuyentes/20700000001").object(t)
			assert.Equal(t, []any{"ACTIVO", "HABIDO", "150101", "2000-01-03", "2000-01-03", ""},
				[]any{ordinary["estado"], ordinary["condicion"], ordinary["ubigeo"], ordinary["fechaInscripcion"], ordinary["fechaInicioActividades"], ordinary["direccion"]})
			own := api.get("/api/contribuyentes/20700000002").object(t)
			assert.Equal(t, []any{"BAJA DE OFICIO", "PENDIENTE", "-", "-", "2024-02-29"},
				[]any{own["estado"], own["condicion"], own["ubigeo"], own["fechaInscripcion"], own["fechaInicioActividades"]}, "as it was put")
			assert.JSONEq(t, `[{"ruc":"20700000001","razonSocial":"MINIMA S.A.C.","estado":"ACTIVO","condicion":"HABIDO"},
				{"ruc":"20700000002","razonSocial":"MINIMA PERO DICHA S.A.C.","estado":"BAJA DE OFICIO","condicion":"PENDIENTE"}]`,
				api.get("/api/contribuyentes/search?razonSocial=minima").body)
			for _, put := range srv.Data().Contribuyentes {
				assert.Contains(t, []mockserver.Contribuyente{least, said}, put, "the data are as they were put")
			}
		})
	}
}

// An empty date is filled from the other one only if that is a day; what is there stays as it was put.
func TestAnEmptyDateIsFilledWithADay(t *testing.T) {
	for name, c := range map[string]struct{ inscripcion, inicio, wantInscripcion, wantInicio string }{
		"neither":           {"", "", "2000-01-03", "2000-01-03"},
		"one":               {"2024-02-29", "", "2024-02-29", "2024-02-29"},
		"the other":         {"", "2024-02-29", "2024-02-29", "2024-02-29"},
		"both":              {"1999-12-31", "2024-02-29", "1999-12-31", "2024-02-29"},
		"a dash":            {"-", "", "-", "2000-01-03"},
		"the other, a dash": {"", "-", "2000-01-03", "-"},
		"a blank":           {"", " ", "2000-01-03", " "},
		"another form":      {"", "31/12/2020", "2000-01-03", "31/12/2020"},
		"no day":            {"2020-02-30", "", "2020-02-30", "2000-01-03"},
		"two dashes":        {"-", "-", "-", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			_, api := start(t, mockserver.WithContribuyentes(mockserver.Contribuyente{
				RUC: "20700000001", RazonSocial: "MINIMA", FechaInscripcion: c.inscripcion, FechaInicioActividades: c.inicio,
			}))
			got := api.get("/api/contribuyentes/20700000001").object(t)
			assert.Equal(t, []any{c.wantInscripcion, c.wantInicio}, []any{got["fechaInscripcion"], got["fechaInicioActividades"]})
		})
	}
}

// askedRegistro notes what it is asked for. It stands for one of millions, which is not to be listed.
type askedRegistro struct {
	mockserver.RegistroEnMemoria
	asked []string
}

func (r *askedRegistro) PorRUC(ctx context.Context, ruc string) (mockserver.Contribuyente, bool, error) {
	r.asked = append(r.asked, "PorRUC "+ruc)
	return r.RegistroEnMemoria.PorRUC(ctx, ruc)
}

func (r *askedRegistro) Buscar(ctx context.Context, texto string, limite int) ([]mockserver.Contribuyente, error) {
	r.asked = append(r.asked, fmt.Sprint("Buscar ", texto, " ", limite))
	return r.RegistroEnMemoria.Buscar(ctx, texto, limite)
}

func TestTheFirstContribuyentes(t *testing.T) {
	const none = "(none)"
	var known mockserver.RegistroEnMemoria
	foreign := &askedRegistro{}
	for _, registro := range []interface {
		Put(cs ...mockserver.Contribuyente) error
	}{&known, &foreign.RegistroEnMemoria} {
		require.NoError(t, registro.Put(
			mockserver.Contribuyente{RUC: "20000000003", RazonSocial: "TIENDA 10 DE MUESTRA 20"},
			mockserver.Contribuyente{RUC: "20000000001", RazonSocial: "GLORIA PRIMERA"},
			mockserver.Contribuyente{RUC: "10000000002", RazonSocial: "DEBAJO", NombreComercial: "GLORIA DEBAJO"},
			mockserver.Contribuyente{RUC: "10000000009", RazonSocial: "QUITADA"},
		))
	}
	for name, c := range map[string]struct {
		prefijo  string
		limite   int
		memory   string // the ends of the RUCs found
		registro string // the same, in a Registro that is not in memory
	}{
		"all, the put ones first": {"", 9, "2 5 1 3", "2 5"},
		"the first":               {"", 3, "2 5 1", "2 5"},
		"no more than put":        {"", 1, "2", "2"},
		"none wanted":             {"", 0, none, none},
		"a prefix":                {"20", 9, "5 1 3", "5"},
		"a prefix, enough":        {"20", 1, "5", "5"},
		"a RUC that was deleted":  {"10000000009", 9, none, none},
		"no such prefix":          {"99", 9, none, none},
	} {
		t.Run(name, func(t *testing.T) {
			for _, with := range []struct {
				registro mockserver.Registro
				found    string
			}{{&known, c.memory}, {foreign, c.registro}} {
				srv, _ := start(t, mockserver.WithRegistro(with.registro))
				require.NoError(t, srv.PutContribuyente(
					mockserver.Contribuyente{RUC: "20000000005", RazonSocial: "PUESTA 10"},
					mockserver.Contribuyente{RUC: "10000000002", RazonSocial: "ENCIMA"},
				))
				require.NoError(t, srv.DeleteContribuyente("10000000009"))
				var ends []string
				for _, f := range srv.Control().First(c.prefijo, c.limite) {
					ends = append(ends, f.RUC[10:])
				}
				assert.Equal(t, with.found, cmp.Or(strings.Join(ends, " "), none))
				assert.Empty(t, foreign.asked, "it cannot be asked")
			}
		})
	}
}

func TestContribuyenteAsItIsStored(t *testing.T) {
	srv, _ := start(t)
	stored := mockserver.Contribuyente{RUC: "20700000001", NombreComercial: "TIENDA", Estado: "BAJA DE OFICIO", Ubigeo: "-"}
	require.NoError(t, srv.PutContribuyente(stored))
	got, known, err := srv.Control().Contribuyente(t.Context(), "20700000001")
	require.NoError(t, err)
	assert.True(t, known)
	assert.Equal(t, stored, got, "and not as it is answered")
	_, known, err = srv.Control().Contribuyente(t.Context(), "20700000002")
	require.NoError(t, err)
	assert.False(t, known)

	srv, _ = start(t, mockserver.WithRegistro(brokenRegistro{}))
	_, _, err = srv.Control().Contribuyente(t.Context(), "20131312955")
	require.Error(t, err)
	_, err = srv.Control().Buscar(t.Context(), "sunat", 20)
	require.Error(t, err)
}
