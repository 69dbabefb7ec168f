package page_test

import (
	"fmt"
	"strings"
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
		{"missing fields", nil, "POST", "cpe/validar", `{}`, []string{"Faltan o están vacíos: rucEmisor, tipoComprobante, serie, numero, rucSolicitante, usuarioSol, claveSol.", "El servidor dijo: “faltan"}, ""},
		{"of a wrong type", nil, "POST", "cpe/validar", strings.Replace(validation("123", "A", "a"), `"F001"`, "1", 1), []string{"De tipo equivocado: serie."}, ""},
		{"a wrong issuer", nil, "POST", "cpe/validar", strings.Replace(validation("123", "A", "a"), "20100070970", "123", 1), []string{"No es válido: rucEmisor debe tener 11 dígitos."}, ""},
		{"a wrong kind", nil, "POST", "cpe/validar", strings.Replace(validation("123", "A", "a"), `"01"`, `"02"`, 1), []string{"No es válido: tipoComprobante debe ser 01, 03, 07 u 08."}, ""},
		{"a wrong number", nil, "POST", "cpe/validar", validation("1.5", "A", "a"), []string{"No es válido: numero debe ser un entero desde 1."}, ""},
		{"no JSON", nil, "POST", "cpe/validar", `serie=F001`, []string{"El cuerpo no es un objeto JSON"}, ""},
		{"a wrong RUC", nil, "GET", "contribuyentes/123", "", []string{"No es válido: RUC debe tener 11 dígitos.", "El servidor dijo"}, ""},
		{"a short text", nil, "GET", "contribuyentes/search?razonSocial=ab", "", []string{"No es válido: razonSocial debe tener 3 caracteres o más."}, ""},
		{"no text", nil, "GET", "contribuyentes/search?nombre=ab", "", []string{"Faltan o están vacíos: razonSocial."}, ""},
		{"a wrong limit", nil, "GET", "contribuyentes/search?razonSocial=luz&limit=51", "", []string{"No es válido: limit debe ser un entero de 1 a 50."}, ""},
		{"a limit twice", nil, "GET", "contribuyentes/search?razonSocial=luz&limit=5&limit=6", "", []string{"Llegó más de una vez: limit."}, ""},
		{"a wrong date", nil, "GET", "tipocambio?fecha=20-11-2026", "", []string{"No es válido: fecha debe ser un día que exista, como AAAA-MM-DD."}, ""},
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
		}, "GET", "contribuyentes/20131312955", "", []string{"La falla epoch-reset-2 actuó", "Esta llamada repite #26.", "Costó 1"}, "fallas"},
		{"the quota spent", func() { require.NoError(t, srv.SetQuotaUsed(srv.APIKey, 1000)) }, "GET", "contribuyentes/20131312955", "", []string{"La cuota del día está agotada", "El servidor dijo", "No costó"}, "cuotas"},
		{"blocked, and a fault", func() {
			srv.SetSUNATDown(false)
			require.NoError(t, srv.SetQuotaUsed(srv.APIKey, 0))
			srv.Fault(mockserver.Match{Op: mockserver.OpValidar, Times: 1}, mockserver.Outage503)
		}, "POST", "cpe/validar", validation("123", mockserver.UsuarioSOL, mockserver.ClaveSOL), []string{"El usuario SOL está bloqueado y se rechaza", "actuó"}, "sol"},
		{"a fault that refuses", func() {
			srv.Fault(mockserver.Match{Op: mockserver.OpTipoCambio, Times: 1}, mockserver.Answer(400, `{"error": "fecha no es válida"}`))
		}, "GET", "tipocambio?fecha=2026-11-19", "", []string{"actuó", "El servidor dijo", "Costó 1"}, "fallas"},
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

// A real service has rules and texts of its own: nothing is read out of them, also when they are replayed.
func TestWhyOfARealService(t *testing.T) {
	var said [][]string
	modules(t, mockserver.New(t), `const { why } = await import(files + 'why.js')
		const call = { n: 1, op: 'consultar', matched: true, status: 400, answer: '{"error": "el RUC no figura en su plan"}', cost: 1 }
		say([{ upstream: 'asked' }, { upstream: 'strange' }, {}, { upstream: 'asked', status: 502, code: 'MOCK_UPSTREAM' }, { status: 501, matched: false, code: 'MOCK_NOT_RECORDED' }]
			.map((change) => why({ ...call, ...change }, [], []).map(([text]) => text)))`, &said)
	const rule, quote, cost = "No cumple una regla del servicio.", "El servidor dijo: “el RUC no figura en su plan”", "Costó 1 consulta."
	assert.Equal(t, [][]string{
		{rule, quote, "Respondió el servicio real.", cost},
		{rule, quote, "Respondió el servicio real, y su respuesta rompe el contrato.", cost},
		{rule, quote, cost},
		{"El servicio falló.", quote, cost},
		{"La grabación no tiene esta consulta.", quote, "No costó ninguna consulta."},
	}, said)
}
