package admin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestContribuyentes(t *testing.T) {
	r := start(t)
	found := func(query string) (rucs []string) {
		var list []map[string]string
		r.ok(&list, "GET", "contribuyentes"+query, "")
		for _, c := range list {
			assert.Len(t, c, 14, "a record of the data file")
			rucs = append(rucs, c["ruc"])
		}
		return rucs
	}
	assert.Len(t, found(""), 20)
	assert.Len(t, found("?limit=1000"), 22)
	r.ok(nil, "PUT", "contribuyentes/20700000001", `{"razonSocial": "ÑUSTA & HIJOS S.A.C.", "nombreComercial": "LA ÑUSTA", "estado": "BAJA DE OFICIO", "ubigeo": "-"}`)
	assert.Equal(t, []string{"20700000001", "10000000006"}, found("?limit=2"), "the put ones first")
	assert.Equal(t, []string{"20700000001"}, found("?text=207"))
	assert.Equal(t, []string{"20700000001"}, found("?text=20700000001"))
	assert.Equal(t, []string{"20700000001"}, found("?text="+url.QueryEscape(" ñusta & ")))
	assert.Equal(t, []string{"20600000005", "20100000131"}, found("?text=gloria&limit=2"))
	assert.Equal(t, []string{"20600000005"}, found("?text=gloria&limit=1"))
	assert.Equal(t, "[]\n", r.do("GET", "contribuyentes?text=zzzz", "").body)

	var one map[string]string
	r.ok(&one, "GET", "contribuyentes/20700000001", "")
	assert.Equal(t, map[string]string{
		"ruc": "20700000001", "razonSocial": "ÑUSTA & HIJOS S.A.C.", "nombreComercial": "LA ÑUSTA", "estado": "BAJA DE OFICIO", "condicion": "",
		"direccion": "", "ubigeo": "-", "departamento": "", "provincia": "", "distrito": "", "tipo": "", "actividadEconomica": "",
		"fechaInscripcion": "", "fechaInicioActividades": "",
	}, one, "as it is stored")
	r.ok(nil, "PUT", "contribuyentes/20700000001", `{"ruc": "20700000001"}`)
	r.ok(&one, "GET", "contribuyentes/20700000001", "")
	assert.Empty(t, one["razonSocial"], "the whole record is another")
	assert.Equal(t, 200, r.call("/api/contribuyentes/20700000001", "s3creta"))

	r.ok(nil, "DELETE", "contribuyentes/20700000001", "")
	r.ok(nil, "DELETE", "contribuyentes/20131312955", "")
	for _, ruc := range []string{"20700000001", "20131312955", "99999999999", "x"} {
		r.do("GET", "contribuyentes/"+ruc, "").isProblem(t, 404, codeNotFound, "no hay ningún contribuyente")
		r.do("DELETE", "contribuyentes/"+ruc, "").isProblem(t, 404, codeNotFound, "?text=")
	}
	assert.Equal(t, 404, r.call(lookup, "s3creta"))
	assert.Equal(t, 200, r.do("HEAD", "contribuyentes", "").status)
}

func TestContribuyentesThatCannotBe(t *testing.T) {
	r := start(t)
	before := r.do("GET", "data", "").body
	for name, c := range map[string]struct{ path, body, says string }{
		"a short RUC":       {"contribuyentes/2070000000", `{"razonSocial": "X"}`, `contribuyente "2070000000": ruc no tiene 11 dígitos`},
		"another RUC":       {"contribuyentes/20700000001", `{"ruc": "20700000002"}`, "el ruc del cuerpo no es el de la dirección"},
		"nothing":           {"contribuyentes/20700000001", ``, "no dice nada del contribuyente"},
		"null":              {"contribuyentes/20700000001", `null`, "null no es un valor"},
		"an unknown member": {"contribuyentes/20700000001", `{"nombre": "X"}`, `no existe el miembro "nombre"`},
		"a number":          {"contribuyentes/20700000001", `{"ubigeo": 150101}`, `se espera un texto`},
	} {
		t.Run(name, func(t *testing.T) {
			r.do("PUT", c.path, c.body).isProblem(t, 400, codeInvalid, c.says)
			assert.Equal(t, before, r.do("GET", "data", "").body)
		})
	}
	for query, says := range map[string]string{
		"limit=0": "limit no es un número entero de 1 a 1000", "limit=-1": "limit", "limit=1001": "limit", "limit=x": "limit",
		"texto=x": "los parámetros son [text limit]", "text=%zz": "revise los %",
	} {
		r.do("GET", "contribuyentes?"+query, "").isProblem(t, 400, codeInvalid, says)
	}
}

// failing is a registry that cannot be read.
type failing struct{ error }

func (f failing) PorRUC(context.Context, string) (mockserver.Contribuyente, bool, error) {
	return mockserver.Contribuyente{}, false, f.error
}
func (f failing) Buscar(context.Context, string, int) ([]mockserver.Contribuyente, error) {
	return nil, f.error
}

type inSpanishToo struct{ error }

func (inSpanishToo) Spanish() string { return "el índice padron.idx está dañado" }

func TestARegistryThatFails(t *testing.T) {
	secret := errors.New("/home/quien/padron.idx: I/O error")
	for _, c := range []struct {
		err  error
		says string
	}{{secret, "el padrón que se dio a este servidor devolvió un error; "}, {fmt.Errorf("padron: %w", inSpanishToo{secret}), "no responde: el índice padron.idx está dañado"}} {
		r := start(t, mockserver.WithRegistro(failing{c.err}))
		for _, call := range [][2]string{
			{"GET", "contribuyentes?text=gloria"}, {"GET", "contribuyentes?text=20131312955"}, {"GET", "contribuyentes/20131312955"}, {"DELETE", "contribuyentes/20131312955"},
		} {
			got := r.do(call[0], call[1], "")
			got.isProblem(t, 500, codeRegistry, c.says)
			assert.NotContains(t, got.body, "/home")
		}
		assert.Equal(t, "[]\n", r.do("GET", "contribuyentes", "").body, "millions are not listed")
		r.ok(nil, "PUT", "contribuyentes/20131312955", `{"razonSocial": "PUESTO"}`)
		r.ok(new(any), "GET", "contribuyentes/20131312955", "")
		require.Contains(t, r.do("GET", "contribuyentes?text=20", "").body, "MOCK_ADMIN_REGISTRY", "a prefix may be in a name")
	}
}
