package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

func TestMain(m *testing.M) {
	if os.Getenv("FISCOPE_TEST_MAIN") != "" { // as a process of its own
		main()
	}
	goleak.VerifyTestMain(m)
}

// The variables of a user with a service of their own, and what no output may hold of them.
const (
	secretKey   = "secreto-de-api"
	secretClave = "secreto-sol"
)

// environment is that of a test: no service but srv's, and folders of its own.
func environment(t *testing.T, srv *mockserver.Server) string {
	t.Helper()
	folder := t.TempDir()
	t.Chdir(folder)
	url := ""
	if srv != nil {
		url = srv.URL
		require.NoError(t, srv.PutKey(secretKey, 1000))
		require.NoError(t, srv.PutUsuarioSOL(mockserver.SOL{RUC: mockserver.RUCSolicitante, Usuario: "SECUND01", Clave: secretClave}))
	}
	for name, value := range map[string]string{
		"FISCOPE_BASE_URL": url, "FISCOPE_API_KEY": secretKey, "FISCOPE_SOL_RUC": mockserver.RUCSolicitante,
		"FISCOPE_SOL_USUARIO": "SECUND01", "FISCOPE_SOL_CLAVE": secretClave, "XDG_CACHE_HOME": folder, "XDG_CONFIG_HOME": folder, "NO_COLOR": "",
	} {
		t.Setenv(name, value)
	}
	return folder
}

// execute runs the program, and checks what holds for all that it prints.
func execute(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(t.Context(), args, &out, &err)
	for _, said := range []string{out.String(), err.String()} {
		for _, secret := range []string{secretKey, secretClave, mockserver.ClaveSOL, "\x1b"} {
			assert.NotContains(t, said, secret)
		}
		for line := range strings.Lines(said) {
			if !strings.ContainsAny(line, `/"`) { // a path and JSON are as long as they are
				assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, line)
			}
		}
	}
	return out.String(), err.String(), status
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

func TestAnswers(t *testing.T) {
	environment(t, nil)
	for name, c := range map[string]struct {
		args   []string
		status status
		says   []string
	}{
		"a good taxpayer":     {[]string{"ruc", "20131312955"}, allWell, []string{"SUPERINTENDENCIA", "HABIDO", "  Dirección     ", "✓ Activo y habido", "Responde un mock"}},
		"flags behind":        {[]string{"ruc", "20-131312955 ", "--json"}, allWell, []string{`"ruc": "20131312955"`}},
		"a bad taxpayer":      {[]string{"ruc", "20999990020"}, problem, []string{"NO HABIDO", "✗ No está activo y habido"}},
		"nobody":              {[]string{"ruc", "20999999990"}, problem, []string{"No se encontró ningún contribuyente"}},
		"a mistyped RUC":      {[]string{"ruc", "20131312954"}, wrongUse, []string{"el RUC no es válido"}},
		"a DNI":               {[]string{"ruc", "45678912"}, wrongUse, []string{"es un DNI; su RUC sería 10456789124"}},
		"a name":              {[]string{"buscar", "gloria", "de", "prueba"}, allWell, []string{"20100000050  LACTEOS GLORIA DE PRUEBA S.A.C. (ACTIVO,"}},
		"as many as asked":    {[]string{"buscar", "-limite", "1", "gloria"}, allWell, []string{"20600000005"}},
		"too short":           {[]string{"buscar", "ab"}, wrongUse, []string{"muy corto"}},
		"no name":             {[]string{"buscar"}, wrongUse, []string{"falta el nombre", "vea fiscope help buscar"}},
		"no match":            {[]string{"buscar", "zzzz"}, problem, []string{"Ningún contribuyente tiene «zzzz»"}},
		"accepted":            {[]string{"cpe", "20100070970-01-F001-123"}, allWell, []string{"Factura F001-00000123", "✓ Válido"}},
		"the name of an XML":  {[]string{"cpe", "R-20100070970-01-F001-00000124.xml"}, problem, []string{"Anulado (código 2)", "✗ No es válido"}},
		"the text of a QR":    {[]string{"cpe", "20100070970|01|F001|126|1.00|2.00|2026-11-20"}, problem, []string{"No Existe"}},
		"an odd series":       {[]string{"cpe", "20100070970-01-B001-126"}, problem, []string{"Esa serie no es la usual"}},
		"not known yet":       {[]string{"cpe", "20100070970-01-F001-125"}, unfinished, []string{"? Todavía no se sabe"}},
		"JSON of a receipt":   {[]string{"cpe", "-json", "20100070970-01-F001-123"}, allWell, []string{`"esValido": true`}},
		"a kind of receipt":   {[]string{"cpe", "20100070970-02-F001-123"}, wrongUse, []string{"El tipo de comprobante no es válido"}},
		"a receipt's number":  {[]string{"cpe", "20100070970-01-F001-0"}, wrongUse, []string{"El número del comprobante no es válido"}},
		"no receipt":          {[]string{"cpe", "F001-123"}, wrongUse, []string{"20100070970-01-F001-123"}},
		"a rate":              {[]string{"tc", "2026-02-10"}, allWell, []string{"del 2026-02-10", "Compra        S/ 3.640", "Venta         S/ 3.650", "2026-02-09 (SBS)"}},
		"as people write":     {[]string{"tc", "10/2/2026"}, allWell, []string{"del 2026-02-10"}},
		"JSON of a rate":      {[]string{"tc", "2026-02-10", "-json"}, allWell, []string{`"venta": 3.650`}},
		"a month":             {[]string{"tc", "2026-02"}, allWell, []string{"febrero de 2026", "martes      10    3.640   3.650   2026-02-09", "sábado      28"}},
		"JSON of a month":     {[]string{"tc", "2026-02", "-json"}, allWell, []string{`"para": "2026-02-28"`}},
		"a rate to come":      {[]string{"tc", fiscope.HoyEnLima().SumarDias(20).String()}, unfinished, []string{"todavía no se publica", "Podrá seguir"}},
		"a half-typed year":   {[]string{"tc", "20/11/0202"}, wrongUse, []string{"no hay tipo de cambio de 20/11/0202: va desde julio de 1991"}},
		"a far month":         {[]string{"tc", "2120-01"}, wrongUse, []string{"no hay tipo de cambio de 2120-01"}},
		"no such day":         {[]string{"tc", "2026-02-30"}, wrongUse, []string{"no existe el día 2026-02-30"}},
		"a date of no form":   {[]string{"tc", "20-11-2026"}, wrongUse, []string{"va una fecha como 2026-11-20"}},
		"the quota":           {[]string{"cuota"}, allWell, []string{"Quedan 999 999 de 1 000 000 consultas.", "(Lima)"}},
		"JSON of the quota":   {[]string{"cuota", "-json"}, allWell, []string{`"quedan": 999999`, `"seRenueva": "20`}},
		"words for the quota": {[]string{"cuota", "x"}, wrongUse, []string{"no lleva argumentos"}},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, got := execute(t, append(c.args, "-mock")...)
			assert.Equal(t, int(c.status), got, stderr)
			for _, text := range c.says {
				assert.Contains(t, stdout+stderr, text)
			}
		})
	}
	stdout, _, _ := execute(t, "buscar", "-json", "s.a", "-mock")
	assert.Equal(t, 10, strings.Count(stdout, `"ruc"`), "by default")
	stdout, _, _ = execute(t, "ruc", "10000000006", "-mock")
	assert.NotContains(t, stdout, "Dirección", "it is a dash")
}

// The service has no rate of Tuesday, 10 February.
func TestARateThatTheServiceLost(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithNow(time.Date(2026, time.February, 12, 18, 0, 0, 0, fiscope.Lima)))
	require.NoError(t, srv.DeleteTipoCambio("2026-02-10"))
	environment(t, srv)
	_, stderr, got := execute(t, "tc", "2026-03")
	assert.Equal(t, int(unfinished), got)
	assert.Contains(t, stderr, "todavía no se publica")
	_, _, got = execute(t, "tc", "2026-02", "-salida", "tc.csv")
	assert.Equal(t, int(allWell), got)
	text, err := os.ReadFile("tc.csv")
	require.NoError(t, err)
	assert.Contains(t, string(text), "2026-02-11;3.640;3.650;2026-02-09;falta el tipo de cambio de")
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"a day":   {[]string{"tc", "2026-02-11"}, []string{"2026-02-09 (SBS) Atención falta el tipo de cambio de días hábiles (2026-02-10): revise antes de registrar. Todavía puede cambiar."}},
		"JSON":    {[]string{"tc", "2026-02-11", "-json"}, []string{`"sinTasa": [ "2026-02-10" ]`, `"provisional": true`}},
		"a month": {[]string{"tc", "2026-02"}, []string{"miércoles 11 3.640 3.650 2026-02-09 falta el tipo de cambio de días hábiles (2026-02-10): revise antes de registrar. Todavía puede cambiar. jueves 12"}},
		"no word": {[]string{"tc", "2026-02-12"}, []string{"2026-02-11 (SBS)"}},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, got := execute(t, c.args...)
			assert.Equal(t, int(allWell), got, stderr)
			for _, text := range c.says {
				assert.Contains(t, strings.Join(strings.Fields(stdout), " "), text)
			}
		})
	}
}

func TestWrongUse(t *testing.T) {
	environment(t, nil)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no service":         {[]string{"ruc", "20131312955"}, "falta la variable FISCOPE_BASE_URL"},
		"no such command":    {[]string{"compra"}, "¿quiso decir compras?"},
		"no such flag":       {[]string{"ruc", "-jsno", "20131312955"}, "¿quiso decir -json?"},
		"a secret in a flag": {[]string{"ruc", "-api-key=" + secretKey, "20131312955"}, "no existe la opción -api-key"},
		"a flag first":       {[]string{"-mock", "ruc", "20131312955"}, "-mock va después del comando\nvea fiscope help\n"},
		"nothing near":       {[]string{"ruc", "-x"}, "no existe la opción -x\n"},
		"help of no command": {[]string{"-h", "nada"}, "no existe el comando 'nada'"},
		"no number":          {[]string{"buscar", "-limite", "dos", "gloria"}, "-limite"},
		"no argument":        {[]string{"ruc"}, "falta el RUC"},
		"two":                {[]string{"lote", "a.csv", "b.csv"}, "va un solo archivo"},
		"no such file":       {[]string{"lote", "a.csv", "-mock"}, "a.csv: no existe"},
		"no such index":      {[]string{"ruc", "20131312955", "-padron", "a.idx"}, "a.idx: no existe"},
		"a folder":           {[]string{"lote", ".", "-mock"}, ". es una carpeta"},
		"help of nothing":    {[]string{"help", "nada"}, "no existe el comando"},
		"a negative reserve": {[]string{"lote", "a.csv", "-reserva", "-1", "-mock"}, "-reserva"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, got := execute(t, c.args...)
			assert.Equal(t, int(wrongUse), got)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, c.says)
		})
	}
	for _, url := range []string{"http://ejemplo.pe", "https://yo:" + secretKey + "@ejemplo.pe", "://" + secretKey} {
		t.Setenv("FISCOPE_BASE_URL", url)
		_, stderr, got := execute(t, "ruc", "20131312955")
		assert.Equal(t, int(wrongUse), got)
		assert.Contains(t, stderr, "FISCOPE_BASE_URL debe ser")
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"-h"}, {"--help"}, {"help"}} {
		stdout, _, got := execute(t, args...)
		assert.Equal(t, 0, got)
		for _, command := range []string{"ruc", "buscar", "cpe", "tc", "lote", "compras", "cuota", "completion", "serve", "version", "help"} {
			assert.Contains(t, stdout, "\n  "+command+" ")
			help, _, got := execute(t, "help", command)
			assert.Equal(t, 0, got)
			assert.Contains(t, help, "Uso: fiscope "+command)
		}
	}
	for _, version := range []string{"version", "-version"} {
		stdout, _, got := execute(t, version)
		assert.Equal(t, 0, got)
		assert.Regexp(t, `^fiscope \S+ go1`, stdout)
	}
	stdout, _, got := execute(t, "completion", "bash")
	assert.Equal(t, 0, got)
	assert.Contains(t, stdout, "fiscope")
}

// A clave that was refused is not sent by the next run either, until somebody says that it is right.
func TestARefusedClaveIsRemembered(t *testing.T) {
	srv := mockserver.New(t)
	environment(t, srv)
	t.Setenv("FISCOPE_SOL_CLAVE", "otra")
	for _, says := range []string{"rechazó la clave SOL o el usuario", "-olvidar-clave"} {
		_, stderr, got := execute(t, "cpe", "20100070970-01-F001-123")
		assert.Equal(t, int(wrongUse), got)
		assert.Contains(t, strings.Join(strings.Fields(stderr), " "), says)
	}
	srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, "SECUND01", 1)
	_, _, got := execute(t, "cpe", "20100070970-01-F001-123", "-olvidar-clave")
	assert.Equal(t, int(wrongUse), got)
	srv.AssertSOLAttempts(t, mockserver.RUCSolicitante, "SECUND01", 2)

	t.Setenv("FISCOPE_SOL_CLAVE", secretClave)
	_, _, got = execute(t, "cpe", "20100070970-01-F001-123")
	assert.Equal(t, int(allWell), got)
	_, stderr, got := execute(t, "cpe", "20100070970-01-F001-123", "-memoria", filepath.Join("no.csv", "\x00"))
	assert.Equal(t, int(wrongUse), got)
	assert.Contains(t, strings.Join(strings.Fields(stderr), " "), "no se envía ninguna")
	require.NoError(t, os.Mkdir("m", 0o700))
	write(t, filepath.Join("m", "memoria"), "algo")
	_, stderr, got = execute(t, "cpe", "20100070970-01-F001-123", "-memoria", "m")
	assert.Equal(t, int(wrongUse), got)
	assert.Contains(t, strings.Join(strings.Fields(stderr), " "), "y está dañado. Puede renombrarlo, pero revise antes la clave: se probará otra vez aunque ya fuera rechazada")
	t.Setenv("FISCOPE_SOL_CLAVE", "")
	_, stderr, got = execute(t, "cpe", "20100070970-01-F001-123")
	assert.Equal(t, int(wrongUse), got)
	assert.Contains(t, stderr, "falta la variable FISCOPE_SOL_CLAVE")
}

func TestAServiceThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		fault  func(*mockserver.Server)
		status status
		says   string
	}{
		"away":            {func(s *mockserver.Server) { s.Fault(mockserver.Match{}, mockserver.ResetBefore) }, unfinished, "no responde"},
		"the key":         {func(s *mockserver.Server) { s.Fault(mockserver.Match{}, mockserver.Status(401)) }, wrongUse, "FISCOPE_API_KEY"},
		"another service": {func(s *mockserver.Server) { s.Fault(mockserver.Match{}, mockserver.Answer(200, "<html>")) }, unfinished, "FISCOPE_BASE_URL"},
		"the quota":       {func(s *mockserver.Server) { assert.NoError(t, s.PutKey(secretKey, 0)) }, unfinished, "no quedan consultas"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := mockserver.New(t)
			environment(t, srv)
			c.fault(srv)
			stdout, stderr, got := execute(t, "tc", "2026-02-10")
			assert.Equal(t, int(c.status), got)
			assert.Empty(t, stdout)
			assert.Contains(t, strings.Join(strings.Fields(stderr), " "), c.says)
		})
	}
	t.Run("cuota reports a spent quota", func(t *testing.T) {
		srv := mockserver.New(t)
		environment(t, srv)
		require.NoError(t, srv.PutKey(secretKey, 0))
		stdout, stderr, got := execute(t, "cuota", "-json")
		assert.Equal(t, int(problem), got, stderr)
		var printed struct{ Quedan, Cuota int }
		require.NoError(t, json.Unmarshal([]byte(stdout), &printed))
		assert.Zero(t, printed.Quedan)
	})
}

// With no variable set, those of the user's own file count; with one, the file does not.
func TestSettingsFile(t *testing.T) {
	srv := mockserver.New(t)
	folder := environment(t, srv)
	for _, name := range variables {
		t.Setenv(name, "")
	}
	require.NoError(t, os.Mkdir("fiscope", 0o700))
	env := filepath.Join(folder, "fiscope", "env")
	settings := "\ufeff# FISCOPE_API_KEY=otra\r\nFISCOPE_BASE_URL=" + srv.URL + "\r\n\r\nFISCOPE_API_KEY = " + secretKey + "\r\n"
	sol := "FISCOPE_SOL_RUC=" + mockserver.RUCSolicitante + "\nFISCOPE_SOL_USUARIO=SECUND01\nFISCOPE_SOL_CLAVE=" + secretClave
	for name, c := range map[string]struct {
		file   string
		mode   os.FileMode
		set    string
		status status
		says   string
	}{
		"all of it":             {settings + sol, 0o600, "", allWell, "✓ Válido"},
		"no file's clave":       {settings, 0o600, "", wrongUse, "falta la variable FISCOPE_SOL_RUC"},
		"a variable is set":     {settings + sol, 0o600, "FISCOPE_SOL_RUC", wrongUse, "falta la variable FISCOPE_SOL_USUARIO"},
		"others can read it":    {settings + sol, 0o640, "", wrongUse, "no es solo de usted: corríjalo con chmod 600"},
		"a line that is none":   {settings + secretKey, 0o600, "", wrongUse, "línea 5: va como FISCOPE_API_KEY=valor"},
		"another variable":      {settings + "HTTPS_PROXY=" + secretKey, 0o600, "", wrongUse, "línea 5"},
		"a variable left empty": {settings + sol + "\nFISCOPE_INSECURE_HTTP=", 0o600, "", allWell, "✓ Válido"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.mode != 0o600 {
				t.Skip("its folder says who may read it")
			}
			write(t, env, c.file)
			require.NoError(t, os.Chmod(env, c.mode))
			if c.set != "" {
				t.Setenv(c.set, mockserver.RUCSolicitante)
			}
			stdout, stderr, got := execute(t, "cpe", "20100070970-01-F001-123")
			assert.Equal(t, int(c.status), got, stderr)
			assert.Contains(t, stdout+strings.Join(strings.Fields(stderr), " "), c.says)
			if c.set == "" {
				assert.Empty(t, os.Getenv("FISCOPE_API_KEY"), "nothing stays set")
			}
		})
	}
}

// A full disk is called so, once.
func TestAFullDisk(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "c.csv.jsonl", Err: syscall.ENOSPC}
	for _, err := range []error{full, &fiscope.LoteDetenidoError{Err: fmt.Errorf("its Progress failed: %w", full)}} {
		text := explain(err)
		if runtime.GOOS != "windows" {
			assert.Equal(t, "c.csv.jsonl: el disco está lleno", text)
		}
	}
}

// A month for a spreadsheet. It replaces only its own.
func TestMonthForASpreadsheet(t *testing.T) {
	environment(t, nil)
	for range 2 {
		stdout, stderr, got := execute(t, "tc", "2026-02", "-mock", "-salida", "tc.csv")
		assert.Equal(t, int(allWell), got, stderr)
		assert.Equal(t, "Salida: tc.csv\n", stdout)
	}
	text, err := os.ReadFile("tc.csv")
	require.NoError(t, err)
	lines := strings.Split(string(text), "\r\n")
	assert.Equal(t, "\ufefffecha;compra;venta;cierre;atención", lines[0])
	assert.Contains(t, lines, "2026-02-10;3.640;3.650;2026-02-09;")
	assert.Len(t, lines, 1+28+1)
	write(t, "compras.csv", purchases)
	for says, args := range map[string][]string{"no es de este programa": {"2026-02", "-salida", "compras.csv"}, "la carpeta no no existe": {"2026-02", "-salida", "no/x.csv"}, "-salida va con un mes": {"2026-02-10", "-salida", "x.csv"}} {
		_, stderr, got := execute(t, append([]string{"tc", "-mock"}, args...)...)
		assert.Equal(t, int(wrongUse), got)
		assert.Contains(t, stderr, says)
	}
}
