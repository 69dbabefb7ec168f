package page_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// What the page says of a call, from what a server really answers.
func TestWhy(t *testing.T) {
	srv := mockserver.New(t)
	validation := func(serie string, usuario, clave string) string {
		return fmt.Sprintf(`{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": %s,
			"rucSolicitante": %q, "usuarioSol": %q, "claveSol": %q}`, serie, mockserver.RUCSolicitante, usuario, clave)
	}
	type expected struct {
		name   string
		before func()
		method string
		path   string
		body   string
		says   []string // in this order
		view   string   // that the first sentence leads to
	}
	cases := []expected{
		{"a right one", nil, "POST", "cpe/validar", validation("123", mockserver.UsuarioSOL, mockserver.ClaveSOL), []string{"el comprobante es válido: Aceptado", "Costó 1 consulta; quedaron 999."}, ""},
		{"not valid", nil, "POST", "cpe/validar", validation("124", mockserver.UsuarioSOL, mockserver.ClaveSOL), []string{"no es válido: Anulado", "Costó 1"}, "comprobantes"},
		{"a wrong clave", nil, "POST", "cpe/validar", validation("123", mockserver.UsuarioSOL, "incorrecta"), []string{"La clave SOL no es correcta: 1 de 3 intentos. Al 3.º incorrecto seguido, el usuario se bloquea 30 min.", "El servidor dijo", "Costó 1"}, "sol"},
		{"the second", nil, "POST", "cpe/validar", validation("123", mockserver.UsuarioSOL, "incorrecta"), []string{"2 de 3 intentos"}, "sol"},
		{"the last", nil, "POST", "cpe/validar", validation("123", mockserver.UsuarioSOL, "incorrecta"), []string{"con este intento el usuario quedó bloqueado hasta el 20"}, "sol"},
		{"blocked", nil, "POST", "cpe/validar", validation("123", mockserver.UsuarioSOL, mockserver.ClaveSOL), []string{"El usuario SOL está bloqueado hasta el 20"}, "sol"},
		{"unknown user", nil, "POST", "cpe/validar", validation("123", "NADIE", "incorrecta"), []string{"no tiene ese usuario SOL"}, "sol"},
		{"principal user", nil, "POST", "cpe/validar", validation("123", mockserver.UsuarioPrincipal, "incorrecta"), []string{"Es el usuario SOL principal"}, "sol"},
		{"missing fields", nil, "POST", "cpe/validar", `{}`, []string{"No cumple una regla", "El servidor dijo: “faltan"}, ""},
		{"no taxpayer", nil, "GET", "contribuyentes/99999999999", "", []string{"Ningún contribuyente", "El servidor dijo", "Costó 1"}, "contribuyentes"},
		{"nothing found", nil, "GET", "contribuyentes/search?razonSocial=zzzzzz", "", []string{"ningún nombre contiene"}, ""},
		{"no rate", nil, "GET", "tipocambio?fecha=2026-11-01", "", []string{"Ese día no tiene tipo de cambio", "feriado nacional, Todos los Santos"}, "tipocambio"},
		{"no route", nil, "GET", "nada", "", []string{"no tiene esa ruta", "El servidor dijo", "No costó"}, ""},
		{"SUNAT down", func() { srv.SetSUNATDown(true) }, "POST", "cpe/validar", validation("123", mockserver.UsuarioSOL, mockserver.ClaveSOL), []string{"SUNAT no respondió", "El servidor dijo"}, "fallas"},
		{"a fault", func() {
			srv.Fault(mockserver.Match{Op: mockserver.OpConsultar, Times: 1}, mockserver.Outage503)
		}, "GET", "contribuyentes/20131312955", "", []string{"La falla outage-503-1 actuó: el 503 en HTML", "Costó 1"}, "fallas"},
		{"a fault in an answer of 200", func() {
			srv.Fault(mockserver.Match{Op: mockserver.OpConsultar, Times: 1}, mockserver.EpochReset)
		}, "GET", "contribuyentes/20131312955", "", []string{"La falla epoch-reset-2 actuó", "Es el intento 2 de #15", "Costó 1"}, "fallas"},
		{"the quota spent", func() { require.NoError(t, srv.SetQuotaUsed(srv.APIKey, 1000)) }, "GET", "contribuyentes/20131312955", "", []string{"La cuota del día está agotada", "El servidor dijo", "No costó"}, "cuotas"},
		{"blocked, and a fault", func() {
			srv.SetSUNATDown(false)
			require.NoError(t, srv.SetQuotaUsed(srv.APIKey, 0))
			srv.Fault(mockserver.Match{Op: mockserver.OpValidar, Times: 1}, mockserver.Outage503)
		}, "POST", "cpe/validar", validation("123", mockserver.UsuarioSOL, mockserver.ClaveSOL), []string{"El usuario SOL está bloqueado y se rechaza", "actuó"}, "sol"},
	}
	for _, c := range cases {
		if c.before != nil {
			c.before()
		}
		call(t, srv, c.method, c.path, c.body)
	}
	var answers [][][2]any
	modules(t, srv, `const { why } = await import(files + 'why.js')
		await (await import(files + 'preset.js')).readPresets()
		say(calls.map((call) => why(call, faults, assumptions).map(([text, view]) => [text, view || ''])))`, &answers)
	require.Len(t, answers, len(cases))
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.GreaterOrEqual(t, len(answers[i]), len(c.says), answers[i])
			for j, text := range c.says {
				assert.Contains(t, answers[i][j][0], text)
			}
			assert.Equal(t, c.view, answers[i][0][1])
		})
	}
}
