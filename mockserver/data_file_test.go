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
	_, err := mockserver.ReadData(strings.NewReader("\ufeff{\n  \"nada\": 1}"), "estado.json")
	assert.ErrorContains(t, err, `estado.json:2: unknown member "nada"`)
	for _, order := range []string{"\xff\xfe{\x00", "\xfe\xff\x00{"} {
		require.NoError(t, os.WriteFile(name, []byte(order), 0o600))
		_, err := mockserver.LoadData(folder)
		assert.ErrorContains(t, err, name+":1: it begins with the BOM of UTF-16")
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
