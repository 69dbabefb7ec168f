package page_test

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/cmd/fiscope-mock/internal/admin"
	"github.com/fiscope/fiscope/mockserver"
)

// What the server refuses of a form's value, an English page says in English.
func TestRefusalsInEnglish(t *testing.T) {
	srv, err := mockserver.Start(mockserver.WithoutSocket()) // New would fail the test for what is refused
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, srv.Close()) })
	api := admin.New(admin.Config{Mock: srv, Log: slog.New(slog.DiscardHandler), Ending: t.Context(), Access: admin.Access{Token: "un-token-largo"}})
	const assumptions, rate, data = "PUT assumptions", "PUT tiposcambio/2026-11-20", "PUT data"
	const no, see = "the server does not take it: ", ": see GET /_mock/assumptions"
	cases := []struct{ ask, body, says string }{
		{assumptions, `{"BlockAfter": "x"}`, "BlockAfter: BlockAfter is written as a number (3, 1, 0, ...)" + see},
		{assumptions, `{"BlockFor": "x"}`, "BlockFor: BlockFor is written as a duration such as 30m (30m0s, 24h0m0s, ...)" + see},
		{assumptions, `{"MissingKey": "x"}`, "MissingKey: MissingKey is written as STATUS or STATUS:CODE (401:UNAUTHORIZED, 403:FORBIDDEN, 400:BAD_REQUEST, ...)" + see},
		{assumptions, `{"Estados": "x"}`, "Estados: Estados is written as one of tabla, lista, sunat" + see},
		{assumptions, `{"MissingKey": "200"}`, no + `MissingKey is 200 "UNAUTHORIZED": give a status from 400 to 599: correct it`},
		{assumptions, `{"CodeInvalidRUC": ""}`, no + "CodeInvalidRUC is empty: give a code: correct it"},
		{"PUT clock", `{"now": "9999-01-01T00:00:00Z"}`, "the clock cannot go there: send a time from 1970-01-01T00:00:00Z to 9000-01-01T00:00:00Z"},
		{"DELETE faults/x", "", "it is not there any more: see GET /_mock/faults"},
		{rate, `{"compra": "2", "venta": "1"}`, no + "rate of 2026-11-20: compra 2 is greater than venta 1: correct it"},
		{rate, `{"compra": "01", "venta": "1"}`, `it is not the JSON that is expected: "compra": expected is a number such as 3.750: send {"compra": 3.750, "venta": 3.760}`},
		{data, `{`, no + "line 1: it ends too early: correct it"},
		{data, `{"contribuyentes": [{"ruc": 1}]}`, no + `line 1: "ruc" is a number: expected is a text: correct it`},
		{data, `{"tiposCambio": [{"fecha": "2026-11-22", "compra": 1, "venta": 2}]}`, no + "line 1: 2026-11-22 is a weekend or a national holiday: it has no rate (docs/contract.md, 4.4): correct it"},
		{data, `{"usuarios": [{"ruc": "20131312955", "usuario": "A", "clave": "x"}, {"ruc": "20131312955", "usuario": "A", "clave": "x"}]}`, no + "line 1: items 2 and 1 of the list are the same: correct it"},
	}
	refused := []string{"no JSON"}
	for _, c := range cases {
		method, path, _ := strings.Cut(c.ask, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, "/_mock/"+path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept-Language", "en")
		r.Header.Set("Authorization", "Bearer un-token-largo")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		refused = append(refused, w.Body.String())
	}
	text, err := json.Marshal(refused)
	require.NoError(t, err)
	var said []string
	modules(t, srv, `navigator.languages.unshift('en')
		const { put } = await import(files + 'server.js')
		const said = []
		for (const refused of `+string(text)+`) {
			globalThis.fetch = async (path, { headers }) => new Response(refused, { status: headers['Accept-Language'] === 'en' ? 400 : 500 })
			await put('data', {}).catch(({ message }) => said.push(message))
		}
		say(said)`, &said)
	require.Len(t, said, 1+len(cases))
	assert.Equal(t, "HTTP 400", said[0])
	for i, c := range cases {
		assert.Equal(t, c.says, said[1+i], c.body)
	}
}
