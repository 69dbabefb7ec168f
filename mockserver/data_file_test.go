package mockserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDataErrorsHaveAFileALineAndAReason(t *testing.T) {
	const user = `{"ruc": "20000000001", "usuario": "U", "clave": "canario"}`
	const rate = `{"fecha": "2026-11-20", "compra": 3.7, "venta": 3.7}`
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":                 {"hola", "estado.json:1: no es JSON"},
		"an no existe el miembro": {"{\n\"contribuyente\": []}", `estado.json:2: no existe el miembro "contribuyente": los miembros son comprobantes, contribuyentes,`},
		"a comma":                 {"{\n  \"keys\": [\n    {\"key\": \"a\", \"quota\": 1},\n  ]\n}", "estado.json:4: no es JSON"},
		"not closed":              {"{\n  \"keys\": [\n    {\"key\": \"a\"", "estado.json:3: el texto termina antes de tiempo"},
		"bad RUC":                 {"{\"contribuyentes\": [\n{\"ruc\": \"20000000001\"},\n{\"ruc\": \"2000000001\"}]}", `estado.json:3: contribuyente "2000000001": ruc no tiene 11 dígitos`},
		"bad code":                {"{\"comprobantes\": [\n\n{\"rucEmisor\": \"20100070970\", \"tipoComprobante\": \"01\", \"serie\": \"F001\", \"numero\": 1, \"codigo\": \"3\"}]}", "estado.json:3: comprobante"},
		"unknown field":           {"{\"contribuyentes\": [{\"ruc\": \"20000000001\",\n\n\"razonsocial2\": \"X\"}]}", `estado.json:3: no existe el miembro "razonsocial2"`},
		"wrong type":              {"{\"contribuyentes\": [{\"ruc\":\n20000000001}]}", `estado.json:2: "ruc" es un número: se espera un texto, entre comillas`},
		"no clave":                {"{\"usuarios\": [\n{\"ruc\": \"20000000001\", \"usuario\": \"U\"}]}", "estado.json:2: SOL{20000000001 U principal=false}: la clave SOL está vacía"},
		"half a rate":             {"{\"tiposCambio\": [\n{\"fecha\": \"2026-11-20\", \"compra\": 3.7}]}", `estado.json:2: tipo de cambio de 2026-11-20: "" no es un decimal positivo`},
		"rate of a sunday":        {"{\"tiposCambio\": [\n{\"fecha\": \"2026-11-22\", \"compra\": 3.7, \"venta\": 3.8}]}", "estado.json:2: 2026-11-22 es fin de semana"},
		"negative quota":          {"{\"keys\": [\n{\"key\": \"a\", \"quota\": -2}]}", "estado.json:2: una cuota de -2"},
		"a taxpayer twice":        {"{\"contribuyentes\": [{\"ruc\": \"20000000001\"},\n{\"ruc\": \"20000000002\"},\n{\"ruc\": \"20000000001\"}]}", "estado.json:3: el registro 3 de la lista es el mismo que el 1"},
		"a user twice":            {"{\"usuarios\": [" + user + ",\n" + user + "]}", "estado.json:2: el registro 2"},
		"a rate twice":            {"{\"tiposCambio\": [" + rate + ",\n" + rate + "]}", "estado.json:2: el registro 2"},
		"a key twice":             {`{"keys": [{"key": "canario", "quota": 1}, {"key": "canario", "quota": 2}]}`, "estado.json:1: el registro 2"},
		"buying above":            {"{\"tiposCambio\": [\n{\"fecha\": \"2026-11-20\", \"compra\": 10.1, \"venta\": 9.9}]}", "estado.json:2: tipo de cambio de 2026-11-20: la compra 10.1 es mayor que la venta 9.9"},
		"latin-1":                 {"{\"contribuyentes\":\n\n[{\"ruc\": \"20000000001\", \"razonSocial\": \"PE\xd1A\"}]}", "estado.json:3: no es UTF-8"},
		"a decimal as a wor":      {"{\"tiposCambio\": [\n{\"fecha\": \"2026-11-20\", \"compra\": \"tres\", \"venta\": 3.8}]}", `estado.json:2: "compra": se espera un número como 3.750`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mockserver.Control{}.ReadData(strings.NewReader(c.text), "estado.json")
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), c.want), "got  %s\nwant %s", err, c.want)
			assert.NotContains(t, err.Error(), "4711", "a clave")
			assert.NotContains(t, err.Error(), "canario", "a clave")
		})
	}
}

func TestLoadDataOfAFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	_, err := mockserver.LoadData(dir)
	assert.ErrorContains(t, err, dir+": ningún archivo de esta carpeta termina en .json")
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
	assert.ErrorContains(t, err, filepath.Join(dir, "3.json")+":2: no existe el miembro")
	_, err = mockserver.LoadData(filepath.Join(dir, "nada"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Some editors, and some shells, begin a file with a BOM.
func TestAFileWithABOM(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "estado.json")
	require.NoError(t, os.WriteFile(name, []byte("\ufeff"+fixture), 0o600))
	for _, path := range []string{name, folder} {
		d, err := mockserver.LoadData(path)
		require.NoError(t, err)
		assert.Len(t, d.Contribuyentes, 1)
	}
	_, err := mockserver.Control{}.ReadData(strings.NewReader("\ufeff{\n  \"nada\": 1}"), "estado.json")
	assert.ErrorContains(t, err, `estado.json:2: no existe el miembro "nada"`)
	for _, order := range []string{"\xff\xfe{\x00", "\xfe\xff\x00{"} {
		require.NoError(t, os.WriteFile(name, []byte(order), 0o600))
		_, err := mockserver.LoadData(folder)
		assert.ErrorContains(t, err, name+":1: empieza con el BOM de UTF-16")
	}
}

// A file of a folder is named with the folder, whatever is wrong with it.
func TestAFilesErrorNamesItsFolder(t *testing.T) {
	for name, make := range map[string]func(file string) error{
		"what it holds":    func(file string) error { return os.WriteFile(file, []byte("nada"), 0o600) },
		"it is a folder":   func(file string) error { return os.Mkdir(file, 0o700) },
		"it leads nowhere": func(file string) error { return os.Symlink("no-existe", file) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			file := filepath.Join(folder, "estado.json")
			require.NoError(t, make(file))
			for _, path := range []string{folder, folder + "/", file} {
				_, err := mockserver.LoadData(path)
				assert.ErrorContains(t, err, file)
			}
		})
	}
}
