package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/padron"
)

// headerOfRegistry is the first line of SUNAT's file, in its Windows-1252.
const headerOfRegistry = "RUC|NOMBRE O RAZ\xd3N SOCIAL|ESTADO DEL CONTRIBUYENTE|CONDICI\xd3N DE DOMICILIO|UBIGEO|TIPO DE V\xcdA|NOMBRE DE V\xcdA|" +
	"C\xd3DIGO DE ZONA|TIPO DE ZONA|N\xdaMERO|INTERIOR|LOTE|DEPARTAMENTO|MANZANA|KIL\xd3METRO|\r\n"

// registryText is a registry of a few rows.
const registryText = headerOfRegistry +
	"20131312955|SUPERINTENDENCIA DE PRUEBA|ACTIVO|HABIDO|150101|AV.|GARCILASO DE LA VEGA|URB.|EL CERCADO|1472|-|-|-|-|-|\n" +
	"20999990011|PE\xd1A & \"\xd1U\xd1EZ\" S.A.C.|BAJA DE OFICIO|NO HALLADO SE MUDO D|150101|----|-|----|-|-|-|-|-|-|-|\n" +
	"10999999994|----|SUSPENSION TEMPORAL|NO HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n"

// writeFile writes a file into a folder and returns its name.
func writeFile(t *testing.T, folder, name, content string) string {
	t.Helper()
	name = filepath.Join(folder, name)
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return content
}

// zipped is a zip that holds a text.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	member, err := w.Create(memberName)
	require.NoError(t, err)
	_, err = member.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// filesIn are the names of all that is in a folder.
func filesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// importIndex makes an index in this process.
func importIndex(t *testing.T, file, index string) {
	t.Helper()
	_, err := padron.Import(t.Context(), file, index, padron.ImportOptions{MaxOdd: 1})
	require.NoError(t, err)
}

// What the README has a new user do, with the built program.
func TestFromAGeneratedFileToASearch(t *testing.T) {
	folder := t.TempDir()
	file, index := filepath.Join(folder, "padron.zip"), filepath.Join(folder, "padron.idx")
	stdout, stderr, status := runProgram(t, nil, "padron", "generate", "-rows", "20000", file)
	require.Equal(t, 0, status, stderr)
	assert.Equal(t, file+" tiene 20000 filas: haga su índice con fiscope-mock padron import "+shellWord(file)+"\n", stdout)
	assert.Empty(t, stderr)
	stdout, stderr, status = runProgram(t, nil, "padron", "import", file)
	require.Equal(t, 0, status, stderr)
	assert.Regexp(t, `^ +20000 filas\n +19\d{3} contribuyentes\n`, stdout)
	assert.Regexp(t, `\nfecha    20\d\d-\d\d-\d\d\nSHA-256  [0-9a-f]{64}\n\n`+regexp.QuoteMeta(index)+` está hecho: sírvalo con fiscope-mock -padron `+regexp.QuoteMeta(shellWord(index))+`\n$`, stdout)
	assert.Empty(t, stderr)
	assert.Equal(t, []string{"padron.idx", "padron.zip"}, filesIn(t, folder))
	stdout, stderr, status = runProgram(t, nil, "padron", "info", index)
	require.Equal(t, 0, status, stderr)
	assert.Regexp(t, `^contribuyentes  19\d{3}\nfecha           20\d\d-\d\d-\d\d\nSHA-256         [0-9a-f]{64}\níndice          entero, como import lo escribió\n$`, stdout)

	over := writeFile(t, folder, "encima.json", `{"contribuyentes": [{"ruc": "20600000005", "razonSocial": "INVERSIONES"}]}`)
	p := startProgram(t, []string{"FISCOPE_MOCK_PADRON=" + index}, "-addr", "127.0.0.1:0", "-data", over)
	status, body := ask(t, "GET", p.url+"/api/contribuyentes/search?razonSocial=inversiones&limit=50", "")
	require.Equal(t, 200, status, body)
	var found []struct{ RUC, RazonSocial string }
	require.NoError(t, json.Unmarshal([]byte(body), &found))
	require.Len(t, found, 50)
	assert.Equal(t, "20600000005", found[0].RUC, "that of -data, which is equal to the text")
	for _, c := range found {
		assert.Contains(t, c.RazonSocial, "INVERSIONES")
	}
	status, body = ask(t, "GET", p.url+"/api/contribuyentes/"+found[1].RUC, "")
	assert.Equal(t, 200, status, body)
	quoted, err := json.Marshal(found[1].RazonSocial)
	require.NoError(t, err)
	assert.Contains(t, body, `"razonSocial":`+string(quoted))
	status, body = ask(t, "GET", p.url+"/api/contribuyentes/20131312955", "")
	assert.Equal(t, 404, status, "none of the default data: %s", body)
	status, body = ask(t, "GET", p.url+"/_mock/data", "")
	assert.Equal(t, 200, status)
	assert.Equal(t, 1, strings.Count(body, `"ruc"`), "what was put, and not the registry: %s", body)
	status, body = ask(t, "GET", p.url+"/_mock/healthz", "")
	assert.Equal(t, 200, status, body)

	stdout, stderr, status = runProgram(t, nil, "exec", "-padron", index, "--", "sh", "-c",
		`curl -s -H "X-API-KEY: $FISCOPE_API_KEY" "$FISCOPE_BASE_URL/api/contribuyentes/`+found[1].RUC+`"`)
	assert.Equal(t, 0, status, stderr)
	assert.Contains(t, stdout, `"ruc":"`+found[1].RUC+`"`)
}

func TestImportReportsAndServesWhatTheFileSays(t *testing.T) {
	folder := t.TempDir()
	file := writeFile(t, folder, "padron.txt", registryText+"20999990011|corta|\n2099999001|X|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n"+
		"20131312955|SUNAT DE PRUEBA|ACTIVO|HABIDO|150101|CAL.|SANTANDER|URB.|LOS PINOS|10|-|-|-|-|-|\n")
	index := filepath.Join(folder, "otro.idx")
	stdout, stderr, status := runProgram(t, nil, "padron", "import", "-o", index, "-max-odd", "0.7", file)
	require.Equal(t, 0, status, stderr)
	assert.Empty(t, stderr)
	const report = `  6 filas
  3 contribuyentes
  1 con otro número de campos, que quedan fuera
  0 demasiado largas, que quedan fuera
  1 con un RUC que no es de 11 dígitos, que quedan fuera
  1 sin nombre, que se encuentran solo por RUC
  1 reemplazadas por otra posterior del mismo RUC

Las primeras filas que están mal, de cada clase:
  línea 4: 10…994 no tiene nombre
  línea 5: 2 de 15 campos
  línea 6: un RUC de 10 caracteres que no es de 11 dígitos
  línea 2: otra fila posterior tiene el mismo RUC

fecha    `
	assert.True(t, strings.HasPrefix(stdout, report), stdout)
	assert.Equal(t, []string{"otro.idx", "padron.txt"}, filesIn(t, folder))

	url := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-padron", index, "-assume", "Estados=sunat")
	for ruc, want := range map[string]string{
		"20131312955": `{"ruc":"20131312955","razonSocial":"SUNAT DE PRUEBA","estado":"ACTIVO","condicion":"HABIDO",` +
			`"direccion":"CAL.SANTANDER NRO. 10 URB. LOS PINOS LIMA - LIMA - LIMA","ubigeo":"150101","departamento":"LIMA","provincia":"LIMA","distrito":"LIMA",` +
			`"tipo":"","actividadEconomica":"","fechaInscripcion":"","fechaInicioActividades":""}` + "\n",
		"10999999994": `{"ruc":"10999999994","razonSocial":"","estado":"SUSPENSION TEMPORAL","condicion":"NO HABIDO",` +
			`"direccion":"","ubigeo":"","departamento":"","provincia":"","distrito":"",` +
			`"tipo":"","actividadEconomica":"","fechaInscripcion":"","fechaInicioActividades":""}` + "\n",
	} {
		status, body := ask(t, "GET", url+"/api/contribuyentes/"+ruc, "")
		assert.Equal(t, 200, status)
		assert.Equal(t, want, body)
	}
	_, body := ask(t, "GET", url+"/api/contribuyentes/search?razonSocial=nunez", "")
	assert.Equal(t, `[{"ruc":"20999990011","razonSocial":"PEÑA & \"ÑUÑEZ\" S.A.C.","estado":"BAJA DE OFICIO","condicion":"NO HALLADO SE MUDO D"}]`+"\n", body)

	url = serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-assume", "Unknown=dash", "-padron", index)
	_, body = ask(t, "GET", url+"/api/contribuyentes/10999999994", "")
	assert.Contains(t, body, `"ubigeo":"-"`, "what is assumed wins")
}

// A taxpayer without estado or condición is not active for that: the mock would make up what is not there.
func TestABlankEstadoIsServedAsTheRegistryWritesEmpty(t *testing.T) {
	file := writeFile(t, t.TempDir(), "padron.txt", headerOfRegistry+
		"20999990011|SIN ESTADO||||-|-|-|-|-|-|-|-|-|-|\n20999990029|SIN ESTADO NI MAS|ACTIVO|HABIDO||-|-|-|-|-|-|-|-|-|-|\n")
	index := filepath.Join(filepath.Dir(file), "padron.idx")
	importIndex(t, file, index)
	url := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-padron", index)
	_, body := ask(t, "GET", url+"/api/contribuyentes/20999990011", "")
	assert.Contains(t, body, `"estado":"-","condicion":"-"`)
	_, body = ask(t, "GET", url+"/api/contribuyentes/search?razonSocial=sin", "")
	assert.Equal(t, `[{"ruc":"20999990029","razonSocial":"SIN ESTADO NI MAS","estado":"ACTIVO","condicion":"HABIDO"},`+
		`{"ruc":"20999990011","razonSocial":"SIN ESTADO","estado":"-","condicion":"-"}]`+"\n", body)
}

// A download that is cut short at a line replaces no index by itself.
func TestImportOfAMuchSmallerRegistry(t *testing.T) {
	folder := t.TempDir()
	index := indexWith(t, folder, "padron.idx", "NUMERO 0")
	file := writeFile(t, folder, "padron.txt", registryText)
	_, stderr, status := runMain(t, nil, "padron", "import", "-max-odd", "1", file)
	assert.Equal(t, 1, status)
	assert.Equal(t, "fiscope-mock: "+file+": 3 contribuyentes, y el índice que reemplazaría tiene 4: descárguelo de nuevo, o admítalo con -allow-smaller\n", stderr)
	_, stderr, status = runMain(t, nil, "padron", "import", "-max-odd", "1", "-allow-smaller", file)
	require.Equal(t, 0, status, stderr)
	stdout, _, _ := runMain(t, nil, "padron", "info", index)
	assert.Contains(t, stdout, "contribuyentes  3\n")
}

// A file that is not the registry is named in one line, and the index before it stays whole.
func TestImportRefuses(t *testing.T) {
	folder := t.TempDir()
	registry := zipped(t, registryText+strings.Repeat("20999990011|CON NOMBRE|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n", 10_000))
	for name, c := range map[string]struct{ content, says string }{
		"HTML":              {"<!DOCTYPE html>\n<html><body>Request Rejected</body></html>", "es una página web y no el padrón: fue una mala descarga"},
		"empty":             {"", "está vacío"},
		"cut zip":           {registry[:len(registry)/2], "cortado o dañado"},
		"wrong header":      {strings.Replace(registryText, "UBIGEO", "DISTRITO", 1), `la columna 5 es "DISTRITO", y no "UBIGEO"`},
		"too many odd rows": {headerOfRegistry + "20999990011|corta|\n", "1 de 1 filas están mal, y puede estarlo el 1.00 %"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			index := writeFile(t, folder, "padron.idx", "el índice de antes")
			file := writeFile(t, folder, "padron.zip", c.content)
			stdout, stderr, status := runProgram(t, []string{"TMPDIR=" + folder}, "padron", "import", file)
			assert.Equal(t, 1, status)
			assert.Empty(t, stdout)
			lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
			assert.Contains(t, lines[len(lines)-1], "fiscope-mock: "+file+": ")
			assert.Contains(t, lines[len(lines)-1], c.says)
			if name == "too many odd rows" {
				assert.Contains(t, stderr, "  línea 2: 2 de 15 campos\n")
			} else {
				assert.Len(t, lines, 1, "one line")
			}
			assert.Equal(t, []string{"padron.idx", "padron.zip"}, filesIn(t, folder), "nothing is left")
			assert.Equal(t, "el índice de antes", string(readFile(t, index)))
		})
	}
	file := writeFile(t, folder, "padron.txt", registryText)
	changed := indexWith(t, t.TempDir(), "cambiado.idx", "NUMERO 0")
	change(t, changed, "superintendencia")
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no file":              {[]string{"import", file + "x"}, "padron.txtx: no existe"},
		"a folder":             {[]string{"import", folder}, "no es un archivo"},
		"index is a folder":    {[]string{"import", "-max-odd", "1", "-o", folder, file}, "ya está y no es un archivo"},
		"index in no folder":   {[]string{"import", "-max-odd", "1", "-o", filepath.Join(folder, "no", "i"), file}, "no existe"},
		"index is the file":    {[]string{"import", "-o", file, file}, "es el archivo del padrón"},
		"no odd row at all":    {[]string{"import", "-max-odd", "0", file}, "1 de 3 filas están mal, y puede estarlo el 0.00 %: vea qué tienen, o admita más con -max-odd\n"},
		"info of no file":      {[]string{"info", file + "x"}, "padron.txtx: no existe"},
		"info, a byte changed": {[]string{"info", changed}, "cambiado.idx: está dañado: vuelva a importar el padrón\n"},
		"info of a registry":   {[]string{"info", file}, "no es un índice"},
		"generate a folder":    {[]string{"generate", folder}, "ya está y no es un archivo"},
		"generate a device":    {[]string{"generate", os.DevNull}, "ya está y no es un archivo"},
		"generate, no folder":  {[]string{"generate", filepath.Join(folder, "no", "i")}, "no existe"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := runMain(t, nil, append([]string{"padron"}, c.args...)...)
			assert.Equal(t, 1, status)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, "fiscope-mock: ")
			assert.Contains(t, stderr, c.says)
			assert.Equal(t, []string{"padron.txt"}, filesIn(t, folder))
		})
	}
}

func TestPadronUsage(t *testing.T) {
	for args, says := range map[string]string{
		"":                      "falta el comando: los comandos son import, info, generate",
		"importar x":            `no existe el comando "importar": ¿quiso decir import?`,
		"import":                "falta el ARCHIVO\nvea fiscope-mock help padron import",
		"import x y":            "va un solo ARCHIVO",
		"import -max 1 x":       "no existe la opción -max: ¿quiso decir -max-odd?",
		"import -max-odd 1.5 x": "-max-odd: se espera una parte",
		"import -max-odd NaN x": "se espera una parte",
		"import -max-odd x x":   `valor inválido "x" de -max-odd`,
		"info":                  "falta el ÍNDICE\nvea fiscope-mock help padron info",
		"generate -rows 0 x":    "-rows: se espera un número desde 1",
	} {
		t.Run(args, func(t *testing.T) {
			stdout, stderr, status := runMain(t, nil, append([]string{"padron"}, strings.Fields(args)...)...)
			assert.Equal(t, 2, status)
			assert.Contains(t, stderr, says)
			assert.Empty(t, stdout)
		})
	}
}

func TestTheIndexOfAFileLiesBesideIt(t *testing.T) {
	for file, want := range map[string]string{
		"padron_reducido_ruc.zip": "padron_reducido_ruc.idx",
		"a/b.TXT":                 "a/b.idx",
		"padron":                  "padron.idx",
		"padron.idx":              "padron.idx.idx",
		"datos.2026-11-20":        "datos.2026-11-20.idx",
	} {
		assert.Equal(t, want, indexOf(file))
	}
}

func TestGenerate(t *testing.T) {
	folder := t.TempDir()
	generate := func(name string) string {
		name = filepath.Join(folder, name)
		_, stderr, status := runMain(t, nil, "padron", "generate", "-rows", "300", name)
		require.Equal(t, 0, status, stderr)
		return string(readFile(t, name))
	}
	writeFile(t, folder, "a.txt", "lo de antes")
	text := generate("a.txt")
	assert.Equal(t, 301, 1+strings.Count(text, "\n"), "the header and 300 lines, of which the last has no end")
	assert.Equal(t, text, generate("b"), "under any name")
	zipped := generate("a.ZIP")
	archive, err := zip.NewReader(strings.NewReader(zipped), int64(len(zipped)))
	require.NoError(t, err)
	require.Len(t, archive.File, 1)
	assert.Equal(t, memberName, archive.File[0].Name)
	assert.EqualValues(t, len(text), archive.File[0].UncompressedSize64)
	names := filesIn(t, folder)
	slices.Sort(names)
	assert.Equal(t, []string{"a.ZIP", "a.txt", "b"}, names, "nothing is left beside them")
}

func TestWrongIndexAtTheStart(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct{ file, says string }{
		"missing":  {filepath.Join(folder, "no.idx"), "no existe"},
		"registry": {writeFile(t, folder, "padron.txt", registryText), "no es un índice"},
		"empty":    {writeFile(t, folder, "vacio", ""), "vacío"},
		"a folder": {folder, "no es un índice"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := runProgram(t, nil, "-addr", "127.0.0.1:0", "-padron", c.file)
			assert.Equal(t, 2, status)
			assert.Empty(t, stdout)
			assert.Regexp(t, `^fiscope-mock: -padron: .*`+c.says+`.*\(un índice lo hace fiscope-mock padron import\)\n$`, stderr)
			_, stderr, status = runProgram(t, []string{"FISCOPE_MOCK_PADRON=" + c.file}, "exec", "--", "true")
			assert.Equal(t, execFailed, status)
			assert.Contains(t, stderr, c.says)
		})
	}
}
