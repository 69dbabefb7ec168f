package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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

// What the README tells a new user to do, with the built program.
func TestFromAGeneratedFileToASearch(t *testing.T) {
	folder := t.TempDir()
	file, index := filepath.Join(folder, "padron.zip"), filepath.Join(folder, "padron.idx")
	stdout, stderr, status := runProgram(t, nil, "padron", "generate", "-rows", "20000", "-seed", "7", file)
	require.Equal(t, 0, status, stderr)
	assert.Equal(t, file+" has 20000 rows: make its index with fiscope-mock padron import "+file+"\n", stdout)
	assert.Empty(t, stderr)
	stdout, stderr, status = runProgram(t, nil, "padron", "import", file)
	require.Equal(t, 0, status, stderr)
	assert.Regexp(t, `^ +20000 rows\n +19\d{3} taxpayers taken\n`, stdout)
	assert.Regexp(t, `\ndate     20\d\d-\d\d-\d\d\nSHA-256  [0-9a-f]{64}\n\n`+index+` is made: serve it with fiscope-mock -padron `+index+`\n$`, stdout)
	assert.Empty(t, stderr)
	assert.Equal(t, []string{"padron.idx", "padron.zip"}, filesIn(t, folder))
	stdout, stderr, status = runProgram(t, nil, "padron", "info", index)
	require.Equal(t, 0, status, stderr)
	assert.Regexp(t, `^taxpayers  19\d{3}\ndate       20\d\d-\d\d-\d\d\nSHA-256    [0-9a-f]{64}\nindex      whole, as import wrote it\n$`, stdout)

	over := writeFile(t, folder, "encima.json", `{"contribuyentes": [{"ruc": "20600000005", "razonSocial": "INVERSIONES"}]}`)
	p := startProgram(t, []string{"FISCOPE_MOCK_PADRON=" + index}, "-addr", "127.0.0.1:0", "-data", over, "-assume", "CountBlanks=true")
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
	status, body = ask(t, "GET", p.url+"/api/contribuyentes/search?razonSocial=a++&limit=2", "")
	assert.Equal(t, 200, status, "a text of one character, with -assume CountBlanks")
	assert.Equal(t, 2, strings.Count(body, `"ruc"`))
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
	const report = `  6 rows
  3 taxpayers taken
  1 too few fields, not taken
  0 too long, not taken
  1 RUC not 11 digits, not taken
  1 without a name, found by RUC only
  1 replaced by a later row of the same RUC

The first odd rows of each kind:
  line 4: 10…994 has no name
  line 5: 2 of 15 fields
  line 6: a RUC of 10 characters that is not 11 digits
  line 2: a later row has the same RUC

date     `
	assert.True(t, strings.HasPrefix(stdout, report), stdout)
	assert.Equal(t, []string{"otro.idx", "padron.txt"}, filesIn(t, folder))

	url, _ := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-padron", index, "-assume", "Estados=sunat")
	for ruc, want := range map[string]string{
		"20131312955": `{"ruc":"20131312955","razonSocial":"SUNAT DE PRUEBA","estado":"ACTIVO","condicion":"HABIDO",` +
			`"direccion":"CAL.SANTANDER NRO. 10 URB. LOS PINOS LIMA - LIMA - LIMA","ubigeo":"150101","departamento":"LIMA","provincia":"LIMA","distrito":"LIMA",` +
			`"tipo":"","actividadEconomica":"","fechaInscripcion":"","fechaInicioActividades":""}` + "\n",
		"20999990011": `{"ruc":"20999990011","razonSocial":"PEÑA & \"ÑUÑEZ\" S.A.C.","estado":"BAJA DE OFICIO","condicion":"NO HALLADO SE MUDO D",` +
			`"direccion":"","ubigeo":"150101","departamento":"LIMA","provincia":"LIMA","distrito":"LIMA",` +
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
	_, body = ask(t, "GET", url+"/api/contribuyentes/search?razonSocial=superintendencia", "")
	assert.Equal(t, "[]\n", body, "the row was replaced")

	url, _ = serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-assume", "Unknown=dash", "-padron", index)
	_, body = ask(t, "GET", url+"/api/contribuyentes/10999999994", "")
	assert.Contains(t, body, `"ubigeo":"-"`, "what is assumed wins")
}

// A taxpayer without estado or condición is not active for that: the mock would make up what is not there.
func TestABlankEstadoIsServedAsTheRegistryWritesEmpty(t *testing.T) {
	file := writeFile(t, t.TempDir(), "padron.txt", headerOfRegistry+
		"20999990011|SIN ESTADO||||-|-|-|-|-|-|-|-|-|-|\n20999990029|SIN ESTADO NI MAS|ACTIVO|HABIDO||-|-|-|-|-|-|-|-|-|-|\n")
	index := filepath.Join(filepath.Dir(file), "padron.idx")
	importIndex(t, file, index)
	url, _ := serving(t, vars(), "-addr", "127.0.0.1:0", "-log", "off", "-padron", index)
	_, body := ask(t, "GET", url+"/api/contribuyentes/20999990011", "")
	assert.Contains(t, body, `"estado":"-","condicion":"-"`)
	_, body = ask(t, "GET", url+"/api/contribuyentes/search?razonSocial=sin", "")
	assert.Equal(t, `[{"ruc":"20999990029","razonSocial":"SIN ESTADO NI MAS","estado":"ACTIVO","condicion":"HABIDO"},`+
		`{"ruc":"20999990011","razonSocial":"SIN ESTADO","estado":"-","condicion":"-"}]`+"\n", body)
}

// A file that is not the registry is named in one line, and the index before it stays whole.
func TestImportRefuses(t *testing.T) {
	folder := t.TempDir()
	registry := zipped(t, registryText+strings.Repeat("20999990011|CON NOMBRE|ACTIVO|HABIDO|-|-|-|-|-|-|-|-|-|-|-|\n", 10_000))
	damaged := func(at int, b byte) string {
		s := []byte(registry)
		s[at] ^= b
		return string(s)
	}
	var noMember bytes.Buffer
	require.NoError(t, zip.NewWriter(&noMember).Close())
	directory := strings.Index(registry, "PK\x01\x02")
	for name, c := range map[string]struct{ content, says string }{
		"HTML":              {"<!DOCTYPE html>\n<html><body>Request Rejected</body></html>", "web page"},
		"empty":             {"", "empty"},
		"empty zip":         {noMember.String(), "holds no file"},
		"zip of nothing":    {zipped(t, ""), "an empty file"},
		"cut zip":           {registry[:len(registry)/2], "cut or damaged"},
		"cut stream":        {registry[:directory/2] + registry[directory:], "damaged"},
		"wrong CRC":         {damaged(directory+16, 1), "checksum error"},
		"wrong bytes":       {damaged(directory/2, 0xff), "the download went wrong"},
		"another zip":       {zipped(t, "hola\n"), "not the header of the registry"},
		"wrong header":      {strings.Replace(registryText, "UBIGEO", "DISTRITO", 1), `column 5 is "DISTRITO"`},
		"no header":         {registryText[len(headerOfRegistry):], "the beginning of the registry, with its header, is missing"},
		"no rows":           {headerOfRegistry, "no row"},
		"too many odd rows": {headerOfRegistry + "20999990011|corta|\n", "1 of 1 rows are odd"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			index := writeFile(t, folder, "padron.idx", "el índice de antes")
			file := writeFile(t, folder, "padron.zip", c.content)
			stdout, stderr, status := runProgram(t, []string{"TMPDIR=" + folder}, "padron", "import", file)
			assert.Equal(t, 1, status)
			assert.Empty(t, stdout)
			lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
			assert.Contains(t, lines[len(lines)-1], "fiscope-mock: padron: "+file+": ")
			assert.Contains(t, lines[len(lines)-1], c.says)
			if name == "too many odd rows" {
				assert.Contains(t, stderr, "  line 2: 2 of 15 fields\n")
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
		"no file":              {[]string{"import", file + "x"}, "padron.txtx: no such file"},
		"a folder":             {[]string{"import", folder}, "it is not a file"},
		"index is a folder":    {[]string{"import", "-max-odd", "1", "-o", folder, file}, "it is there and no file"},
		"index in no folder":   {[]string{"import", "-max-odd", "1", "-o", filepath.Join(folder, "no", "i"), file}, "no such file or directory"},
		"index is the file":    {[]string{"import", "-o", file, file}, "it is the registry's file"},
		"no odd row at all":    {[]string{"import", "-max-odd", "0", file}, "1 of 3 rows are odd, 33.33 %, and at most 0.00 % may be: see what they have, or allow more with -max-odd\n"},
		"info of no file":      {[]string{"info", file + "x"}, "padron.txtx: no such file"},
		"info, a byte changed": {[]string{"info", changed}, "cambiado.idx: damaged: import the registry again\n"},
		"info of a registry":   {[]string{"info", file}, "not an index"},
		"generate a folder":    {[]string{"generate", folder}, "it is there and no file"},
		"generate a device":    {[]string{"generate", os.DevNull}, "it is there and no file"},
		"generate, no folder":  {[]string{"generate", filepath.Join(folder, "no", "i")}, "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, padronCommand(t.Context(), c.args, &stdout, &stderr))
			assert.Empty(t, stdout.String())
			assert.Contains(t, stderr.String(), "fiscope-mock: ")
			assert.Contains(t, stderr.String(), c.says)
			assert.Equal(t, []string{"padron.txt"}, filesIn(t, folder))
		})
	}
}

func TestPadronUsage(t *testing.T) {
	for name, c := range map[string]struct {
		args, says string
		status     int
	}{
		"help":           {"-h", "Usage: fiscope-mock padron import", 0},
		"help as a word": {"help", "Usage: fiscope-mock padron import", 0},
		"of import":      {"import -h", "Usage: fiscope-mock padron import", 0},
		"alone":          {"", "padron wants import, info or generate", 2},
		"another word":   {"importar x", `padron has no "importar"`, 2},
		"no file":        {"import", "padron import wants one FILE, after the flags", 2},
		"flags behind":   {"import x -o y", "padron import wants one FILE, after the flags", 2},
		"unknown flag":   {"import -max 1 x", "-max", 2},
		"a share":        {"import -max-odd 5 x", "-max-odd 5: want a share", 2},
		"a share below":  {"import -max-odd -0.1 x", "-max-odd -0.1: want a share", 2},
		"no share":       {"import -max-odd NaN x", "-max-odd NaN: want a share", 2},
		"no number":      {"import -max-odd x x", "-max-odd", 2},
		"no index":       {"info", "padron info wants one INDEX", 2},
		"no rows":        {"generate -rows 0 x", "-rows 0: want 1 or more", 2},
		"a seed":         {"generate -seed x x", "-seed", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, c.status, padronCommand(t.Context(), strings.Fields(c.args), &stdout, &stderr))
			said, silent := &stderr, &stdout
			if c.status == 0 {
				said, silent = &stdout, &stderr
			}
			assert.Contains(t, said.String(), c.says)
			assert.Empty(t, silent.String())
		})
	}
	for line := range strings.Lines(padronUsage) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 81, "%q with its line end", line)
	}
	stdout, _, status := runProgram(t, nil, "padron", "-h")
	assert.Equal(t, 0, status)
	assert.Equal(t, padronUsage, stdout)
	_, _, status = runProgram(t, nil, "padron")
	assert.Equal(t, 2, status)
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
	generate := func(name, seed string) string {
		var stdout, stderr bytes.Buffer
		name = filepath.Join(folder, name)
		require.Equal(t, 0, padronCommand(t.Context(), []string{"generate", "-rows", "300", "-seed", seed, name}, &stdout, &stderr), stderr.String())
		return string(readFile(t, name))
	}
	text := generate("a.txt", "1")
	assert.Equal(t, 301, 1+strings.Count(text, "\n"), "the header and 300 lines, of which the last has no end")
	assert.Equal(t, text, generate("b", "1"), "a seed has its rows, under any name")
	assert.NotEqual(t, text, generate("a.txt", "2"), "what was there is replaced")
	archive, err := zip.NewReader(strings.NewReader(generate("a.ZIP", "1")), int64(len(generate("a.ZIP", "1"))))
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
		"missing":  {filepath.Join(folder, "no.idx"), "no such file or directory"},
		"registry": {writeFile(t, folder, "padron.txt", registryText), "not an index"},
		"empty":    {writeFile(t, folder, "vacio", ""), "empty"},
		"a folder": {folder, "not an index"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := runProgram(t, nil, "-addr", "127.0.0.1:0", "-padron", c.file)
			assert.Equal(t, 2, status)
			assert.Empty(t, stdout)
			assert.Regexp(t, `^fiscope-mock: -padron: .*`+c.says+`.*\(fiscope-mock padron import makes an index\)\nrun fiscope-mock help for the flags\n$`, stderr)
			_, stderr, status = runProgram(t, []string{"FISCOPE_MOCK_PADRON=" + c.file}, "exec", "--", "true")
			assert.Equal(t, execFailed, status)
			assert.Contains(t, stderr, c.says)
		})
	}
}
