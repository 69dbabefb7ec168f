package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/conformance"
	"github.com/fiscope/fiscope/mockserver"
)

// What the conformance suite has seen of a server makes the program answer as that server.
func TestAReportMakesTheMockAnswerAsTheServerThatWasSeen(t *testing.T) {
	a := mockserver.DefaultAssumptions()
	a.MissingKey, a.InvalidKey = mockserver.Refusal{Status: 400, Code: "SIN CLAVE: falta"}, mockserver.Refusal{Status: 403, Code: "FORBIDDEN"}
	a.Quota, a.ResetZone = 345, time.UTC
	a.HeadersEverywhere, a.HeadersOnErrors = true, false
	a.CodeInvalidRUC, a.CodeInvalidLimit, a.CodeMissingFields, a.CodeInvalidCPERUC = "R=1", "L", "F", "C"
	a.CodeInvalidDate, a.Estados = "D", mockserver.EstadosLista
	options := []mockserver.Option{mockserver.WithAssumptions(a), mockserver.WithNow(time.Date(2026, time.November, 20, 18, 0, 0, 0, time.UTC))}
	server := mockserver.New(t, options...)
	cpe := &conformance.CPE{
		Comprobantes: []conformance.Comprobante{ // of each type and code: no subtest is left out
			{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 123, Codigo: "0"},
			{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 124, Codigo: "2"},
			{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 125, Codigo: "4"},
			{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 126, Codigo: "98"},
			{RUCEmisor: "20100070970", Tipo: "01", Serie: "F001", Numero: 127, Codigo: "99"},
			{RUCEmisor: "20100070970", Tipo: "03", Serie: "B001", Numero: 4567, Codigo: "0"},
			{RUCEmisor: "20100070970", Tipo: "07", Serie: "F001", Numero: 15, Codigo: "0"},
			{RUCEmisor: "20331898008", Tipo: "08", Serie: "FND1", Numero: 8, Codigo: "0"},
		},
		Usuario: conformance.UsuarioSOL{RUC: mockserver.RUCSolicitante, Usuario: mockserver.UsuarioSOL, Clave: mockserver.ClaveSOL},
	}
	seen := conformance.Run(t, conformance.Target{BaseURL: server.URL, APIKey: server.APIKey, CPE: cpe, WrongClave: true})
	report := filepath.Join(t.TempDir(), "report.json")
	text, err := json.Marshal(seen)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(report, text, 0o600))

	s, err := parsed(t, nil, "serve", "-addr", "127.0.0.1:0", "-assume", "@"+report, "-log", "off", "-now", "2026-11-20T18:00:00Z")
	require.NoError(t, err)
	assert.Equal(t, a, s.assume, "all that was changed can be seen")
	r, err := start(s, newLogger(s.log, os.Stderr))
	require.NoError(t, err)
	defer r.close()
	assert.Equal(t, seen, conformance.Run(t, conformance.Target{BaseURL: r.url, APIKey: r.mock.APIKey, CPE: cpe, WrongClave: true}))
}

func TestAReportThatCannotBeTaken(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"no list":           {`{}`, "se espera una lista JSON"},
		"an unknown name":   {`[{"name": "Nada", "value": "1"}]`, "los nombres son MissingKey"},
		"an unknown value":  {`[{"name": "Estados", "value": "otros"}]`, "uno de tabla, lista, sunat"},
		"another -quota":    {`[{"name": "Quota", "value": "9"}]`, "-quota 8 y -assume Quota=9 se contradicen"},
		"there is no file":  {"", "report.json"},
		"null takes no one": {`[{"name": "BlockAfter", "value": null}]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.json")
			if c.text != "" {
				require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
			}
			s, err := parsed(t, nil, "serve", strings.Fields("-quota 8 -assume @"+file)...)
			if c.says != "" {
				assert.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, 3, s.assume.BlockAfter)
		})
	}
}
