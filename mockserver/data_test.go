package mockserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const fixture = `{
  "contribuyentes": [
    {"ruc": "20999990097", "razonSocial": "PEÑA & HIJOS", "estado": "ACTIVO", "condicion": "HABIDO", "direccion": "-"}
  ],
  "comprobantes": [
    {"rucEmisor": "20999990097", "tipoComprobante": "01", "serie": "F001", "numero": 7, "codigo": "2"}
  ],
  "usuarios": [{"ruc": "20999990097", "usuario": "USUARIO9", "clave": "canario-4711"}],
  "tiposCambio": [{"fecha": "2026-11-20", "compra": 3.750, "venta": "3.760"}],
  "keys": [{"key": "clave-propia", "quota": 7}],
  "deleted": {"contribuyentes": ["20131312955"], "usuarios": [{"ruc": "20131312955", "usuario": "MIUSER01"}], "tiposCambio": ["2026-11-19"]}
}
`

func readData(t *testing.T, text string) mockserver.Data {
	t.Helper()
	d, err := mockserver.ReadData(strings.NewReader(text), "estado.json")
	require.NoError(t, err)
	return d
}

// answers is what a server with the fixture says, byte by byte.
func answers(a api, t *testing.T) string {
	key := a.withKey("clave-propia")
	var b strings.Builder
	for _, r := range []reply{
		key.get("/api/contribuyentes/20999990097"), a.get(lookup), a.get("/api/contribuyentes/search?razonSocial=sunat"),
		a.get("/api/contribuyentes/search?razonSocial=hijos"), a.get("/api/tipocambio?fecha=2026-11-20"), a.get("/api/tipocambio?fecha=2026-11-19"),
		a.get("/api/tipocambio?fecha=2026-11-18"), a.validar(cpe(t)),
		a.validar(cpe(t, "rucEmisor", `"20999990097"`, "numero", "7", "rucSolicitante", `"20999990097"`, "usuarioSol", `"USUARIO9"`, "claveSol", `"canario-4711"`)),
	} {
		fmt.Fprintln(&b, r.status, remaining(r), r.body)
	}
	return b.String()
}

func TestDataFromEverywhereIsTheSame(t *testing.T) {
	data := readData(t, fixture)
	file := filepath.Join(t.TempDir(), "estado.json")
	require.NoError(t, os.WriteFile(file, []byte(fixture), 0o600))
	loaded, err := mockserver.LoadData(file)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(data, loaded))

	clock := frozen(t, "2026-11-20T18:00:00-05:00")
	_, option := start(t, clock, mockserver.WithData(data))
	want := answers(option, t)
	for _, seen := range []string{"PEÑA & HIJOS", `"compra":3.750,"venta":3.760`, "Anulado", " 6 {"} {
		assert.Contains(t, want, seen)
	}
	assert.Equal(t, 3, strings.Count(want, "\n404 ")+strings.Count(want, "\n401 "), "the deleted ones: %s", want)

	srv, put := start(t, clock)
	require.NoError(t, srv.PutData(data))
	assert.Equal(t, want, answers(put, t))

	byHand, setters := start(t, clock)
	require.NoError(t, byHand.PutContribuyente(data.Contribuyentes...))
	require.NoError(t, byHand.PutComprobante(data.Comprobantes...))
	require.NoError(t, byHand.PutUsuarioSOL(data.Usuarios...))
	require.NoError(t, byHand.PutTipoCambio("2026-11-20", "3.750", "3.760"))
	require.NoError(t, byHand.PutKey("clave-propia", 7))
	require.NoError(t, byHand.DeleteContribuyente("20131312955"))
	require.NoError(t, byHand.DeleteUsuarioSOL("20131312955", "MIUSER01"))
	require.NoError(t, byHand.DeleteTipoCambio("2026-11-19"))
	exported := byHand.Data()
	assert.Equal(t, want, answers(setters, t))

	// What was exported answers the same, and is exported the same again.
	saved := filepath.Join(t.TempDir(), "guardado.json")
	require.NoError(t, exported.Save(saved))
	info, err := os.Stat(saved)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	again, err := mockserver.LoadData(saved)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(exported, again))
	third, api := start(t, clock, mockserver.WithData(again))
	assert.Equal(t, want, answers(api, t))
	assert.Empty(t, cmp.Diff(exported, third.Data()))
}

func TestDataOfAnUntouchedServerIsItsKey(t *testing.T) {
	srv, _ := start(t)
	assert.Empty(t, cmp.Diff(mockserver.Data{Keys: []mockserver.Key{{Key: mockserver.DefaultAPIKey, Quota: 1000}}}, srv.Data()))
	bare, api := start(t, mockserver.WithData(mockserver.Data{WithoutDefaults: true}))
	assert.True(t, bare.Data().WithoutDefaults)
	api.get(lookup).isError(t, 404, "NOT_FOUND")
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20000000001"}))
	require.NoError(t, srv.PutData(mockserver.Data{WithoutDefaults: true}))
	assert.Empty(t, cmp.Diff(bare.Data(), srv.Data()), "all was taken away")
}

func TestDeleteAndPutBack(t *testing.T) {
	srv, api := start(t, mockserver.WithContribuyentes(
		mockserver.Contribuyente{RUC: "20000000001", RazonSocial: "UNA PROPIA"}, mockserver.Contribuyente{RUC: "20000000002", RazonSocial: "OTRA PROPIA"}))
	require.NoError(t, srv.DeleteContribuyente("20000000001", "20131312955", "20000000009"))
	api.get("/api/contribuyentes/20000000001").isError(t, 404, "NOT_FOUND")
	api.get(lookup).isError(t, 404, "NOT_FOUND")
	assert.Contains(t, api.get("/api/contribuyentes/search?razonSocial=propia").body, "OTRA PROPIA")
	assert.NotContains(t, api.get("/api/contribuyentes/search?razonSocial=propia").body, "UNA PROPIA")
	require.NoError(t, srv.PutContribuyente(mockserver.Contribuyente{RUC: "20131312955", RazonSocial: "DE VUELTA"}))
	assert.Contains(t, api.get(lookup).body, "DE VUELTA")
	_, other := start(t)
	assert.Contains(t, other.get(lookup).body, "SUPERINTENDENCIA", "the default data are nobody's to change")

	require.NoError(t, srv.DeleteComprobante("20100070970", "01", "F001", 123))
	assert.Contains(t, api.validar(cpe(t)).body, `"codigo":"98"`)
	require.NoError(t, srv.PutComprobante(mockserver.Comprobante{RUCEmisor: "20100070970", Tipo: "01", Serie: "F009", Numero: 1, Codigo: "0"}))
	require.NoError(t, srv.DeleteComprobante("20100070970", "01", "F009", 1))
	assert.Len(t, srv.Data().Comprobantes, 1, "only the default one needs a record of its absence")

	require.NoError(t, srv.PutKey("otra", 1))
	require.NoError(t, srv.DeleteKey("otra"))
	api.withKey("otra").get(lookup).isError(t, 401, "UNAUTHORIZED")
	require.NoError(t, srv.DeleteUsuarioSOL(mockserver.RUCSolicitante, mockserver.UsuarioSOL))
	api.validar(cpe(t)).isError(t, 401, wrongSOL)
}

func TestDeletesRefuseWhatCannotBe(t *testing.T) {
	var f fakeT
	srv := mockserver.New(&f, mockserver.WithoutSocket())
	refused := []error{
		srv.DeleteContribuyente("1"), srv.DeleteComprobante("20100070970", "02", "F001", 1), srv.DeleteUsuarioSOL("20100070970", ""),
		srv.DeleteKey("nadie"), srv.PutData(mockserver.Data{Contribuyentes: []mockserver.Contribuyente{{RUC: "20000000001"}}, Keys: []mockserver.Key{{}}}),
		srv.SetQuotaUsed("nadie", 1), srv.SetQuotaUsed(srv.APIKey, -1), srv.UnblockSOL("20100070970", "NADIE"), srv.Reset("todo"),
	}
	for i, err := range refused {
		assert.ErrorContains(t, err, "mockserver: ", i)
	}
	assert.Len(t, f.errors, len(refused))
	assert.Empty(t, srv.Data().Contribuyentes, "all or nothing")
	_, err := mockserver.Start(mockserver.WithData(mockserver.Data{Keys: []mockserver.Key{{Key: "a b"}}}))
	assert.Error(t, err)
}

func TestDataErrorsHaveAFileALineAndAReason(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":            {"hola", "estado.json:1: not JSON"},
		"empty":              {"", "estado.json:1: the file ends too early"},
		"a list":             {"[]", `estado.json:1: want "{" here`},
		"an unknown member":  {"{\n\"contribuyente\": []}", `estado.json:2: unknown member "contribuyente": the members are contribuyentes,`},
		"a repeated member":  {"{\"keys\": [],\n\n\"keys\": []}", `estado.json:3: "keys" came before`},
		"no list":            {"{\"keys\":\n{}}", `estado.json:2: want "[" here`},
		"a comma":            {"{\n  \"keys\": [\n    {\"key\": \"a\", \"quota\": 1},\n  ]\n}", "estado.json:4: not JSON"},
		"a forgotten comma":  {"{\n  \"keys\": [\n    {\"key\": \"a\" \"quota\": 1}\n  ]\n}", "estado.json:3: not JSON"},
		"not closed":         {"{\n  \"keys\": [\n    {\"key\": \"a\"", "estado.json:3: the file ends too early"},
		"text after it":      {"{}\n{}", "estado.json:2: more text after"},
		"bad RUC":            {"{\"contribuyentes\": [\n{\"ruc\": \"20000000001\"},\n{\"ruc\": \"2000000001\"}]}", `estado.json:3: taxpayer "2000000001": the RUC is not 11 digits`},
		"bad code":           {"{\"comprobantes\": [\n\n{\"rucEmisor\": \"20100070970\", \"tipoComprobante\": \"01\", \"serie\": \"F001\", \"numero\": 1, \"codigo\": \"3\"}]}", "estado.json:3: receipt"},
		"unknown field":      {"{\"contribuyentes\": [{\"ruc\": \"20000000001\",\n\n\"razonsocial2\": \"X\"}]}", `estado.json:3: unknown member "razonsocial2"`},
		"wrong type":         {"{\"contribuyentes\": [{\"ruc\":\n20000000001}]}", `estado.json:2: "ruc" is a JSON number: want a text, in quotes`},
		"clave is a number":  {"{\"usuarios\": [{\"ruc\": \"20000000001\", \"usuario\": \"U\",\n\"clave\": 4711}]}", `estado.json:2: "clave" is a JSON number`},
		"half a number":      {"{\"comprobantes\": [\n{\"numero\": 4711.5}]}", `estado.json:2: "numero" is a JSON number: want a whole number`},
		"no clave":           {"{\"usuarios\": [\n{\"ruc\": \"20000000001\", \"usuario\": \"U\"}]}", "estado.json:2: SOL{20000000001 U principal=false}: the clave is empty"},
		"half a rate":        {"{\"tiposCambio\": [\n{\"fecha\": \"2026-11-20\", \"compra\": 3.7}]}", `estado.json:2: rate of 2026-11-20: "" is not a positive decimal`},
		"rate of a sunday":   {"{\"tiposCambio\": [\n{\"fecha\": \"2026-11-22\", \"compra\": 3.7, \"venta\": 3.8}]}", "estado.json:2: 2026-11-22 is a weekend"},
		"negative quota":     {"{\"keys\": [\n{\"key\": \"a\", \"quota\": -2}]}", "estado.json:2: a quota of -2"},
		"null":               {"{\"keys\": [\nnull]}", "estado.json:2: null is no record"},
		"deleted in a typo":  {"{\n\"deleted\": {\"ruc\": []}}", `estado.json:2: unknown member "ruc"`},
		"latin-1":            {"{\"contribuyentes\":\n\n[{\"ruc\": \"20000000001\", \"razonSocial\": \"PE\xd1A\"}]}", "estado.json:3: not UTF-8"},
		"bool as text":       {"{\n\"withoutDefaults\": \"no\"}", "estado.json:2: this is a JSON string: want true or false"},
		"a decimal as a wor": {"{\"tiposCambio\": [\n{\"fecha\": \"2026-11-20\", \"compra\": \"tres\", \"venta\": 3.8}]}", "estado.json:2: a value that cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mockserver.ReadData(strings.NewReader(c.text), "estado.json")
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), c.want), "got  %s\nwant %s", err, c.want)
			assert.NotContains(t, err.Error(), "4711", "a clave")
		})
	}
}

func TestLoadDataOfAFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	_, err := mockserver.LoadData(dir)
	assert.ErrorContains(t, err, dir+": no file of this folder ends in .json")
	write("1.json", `{"contribuyentes": [{"ruc": "20000000001", "razonSocial": "PRIMERA"}]}`)
	write("2.json", `{"contribuyentes": [{"ruc": "20000000001", "razonSocial": "SEGUNDA"}], "keys": [{"key": "k", "quota": 1}]}`)
	write("notas.txt", "no")
	d, err := mockserver.LoadData(dir)
	require.NoError(t, err)
	srv, api := start(t, mockserver.WithData(d))
	assert.Contains(t, api.get("/api/contribuyentes/20000000001").body, "SEGUNDA", "the last one wins")
	assert.Len(t, srv.Data().Keys, 2)
	write("3.json", "{\n\"x\": 1}")
	_, err = mockserver.LoadData(dir)
	assert.ErrorContains(t, err, filepath.Join(dir, "3.json")+":2: unknown member")
	_, err = mockserver.LoadData(filepath.Join(dir, "nada"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestDataPrintsWithoutSecrets(t *testing.T) {
	d := readData(t, fixture)
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(h).Info("estado", "data", d, "key", d.Keys[0], "user", d.Usuarios[0])
	}
	shown := log.String()
	for _, v := range []any{d, &d, d.Keys, d.Usuarios, []any{d}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			shown += fmt.Sprintf(verb, v)
		}
	}
	assert.NotContains(t, shown, "canario-4711")
	assert.NotContains(t, shown, "clave-propia")
	assert.Equal(t, "Data{1 taxpayers, 1 receipts, 1 SOL users, 1 rates, 1 keys}", fmt.Sprintf("%#v", d))
	srv, _ := start(t, mockserver.WithData(d))
	assert.NotContains(t, fmt.Sprintf("%+v %#v", srv, srv), "canario-4711")
	text, err := json.Marshal(d)
	require.NoError(t, err)
	assert.Contains(t, string(text), "canario-4711", "the stored form has it: a fixture without it would be useless")
}
