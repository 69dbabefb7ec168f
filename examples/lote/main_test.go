package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/mockserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// banco is a folder with an input, and a server to ask.
type banco struct {
	t       *testing.T
	srv     *mockserver.Server
	entrada string
}

func nuevoBanco(t *testing.T, contenido string, opts ...mockserver.Option) *banco {
	t.Helper()
	b := &banco{t: t, srv: mockserver.New(t, opts...), entrada: filepath.Join(t.TempDir(), "rucs.csv")}
	require.NoError(t, os.WriteFile(b.entrada, []byte(contenido), 0o600))
	return b
}

func (b *banco) env(name string) string {
	return map[string]string{"FISCOPE_BASE_URL": b.srv.URL, "FISCOPE_API_KEY": b.srv.APIKey}[name]
}

// correr runs the program once, checks that its lines fit a terminal, and returns what it printed with
// its lines joined.
func (b *banco) correr(ctx context.Context, args ...string) (string, error) {
	b.t.Helper()
	return correr(ctx, b.t, b.env, append(args, b.entrada)...)
}

func correr(ctx context.Context, t *testing.T, env func(string) string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(ctx, args, env, &out)
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(line, ".csv") { // a path is as long as it is
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, line)
		}
	}
	return strings.Join(strings.Fields(out.String()), " "), err
}

// filas reads an output, without its mark, as one map a row.
func (b *banco) filas() []map[string]string {
	b.t.Helper()
	return filasDe(b.t, sinExtension(b.entrada)+".consultado.csv")
}

func filasDe(t *testing.T, ruta string) []map[string]string {
	t.Helper()
	texto, err := os.ReadFile(ruta)
	require.NoError(t, err)
	cuerpo, ok := strings.CutPrefix(string(texto), "\ufeff")
	require.True(t, ok, "a spreadsheet knows UTF-8 by its mark")
	r := csv.NewReader(strings.NewReader(cuerpo))
	primera, _, _ := strings.Cut(cuerpo, "\n")
	r.Comma = separadorDe(primera)
	registros, err := r.ReadAll()
	require.NoError(t, err)
	var filas []map[string]string
	for _, celdas := range registros[1:] {
		fila := map[string]string{}
		for i, c := range celdas {
			fila[registros[0][i]] = c
		}
		filas = append(filas, fila)
	}
	return filas
}

func columna(filas []map[string]string, nombre string) []string {
	var celdas []string
	for _, f := range filas {
		celdas = append(celdas, f[nombre])
	}
	return celdas
}

func inventados(n int) []string {
	var rucs []string
	for i := range n {
		rucs = append(rucs, rucInventado(i))
	}
	return rucs
}

func sinEntorno(string) string { return "" }

func TestWithoutFlagsItShowsASampleOnAMockOfItsOwn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR")) // Windows
	require.NoError(t, os.WriteFile(filepath.Join(os.TempDir(), "fiscope-lote"), nil, 0o400), "somebody else's")
	out, err := correr(t.Context(), t, sinEntorno)
	require.NoError(t, err, out)
	for _, dice := range []string{
		"Latin-1, separada por punto y coma, RUC en la columna 2 («RUC»)", "sus datos son inventados",
		"línea 8: el dígito verificador", "línea 9: el RUC tiene 10 dígitos", "línea 10: la hoja de cálculo",
		"Listo: los 7 RUC tienen respuesta",
	} {
		assert.Contains(t, out, dice)
	}
	carpetas, err := filepath.Glob(filepath.Join(os.TempDir(), "fiscope-lote-*"))
	require.NoError(t, err)
	require.Len(t, carpetas, 1)
	filas := filasDe(t, filepath.Join(carpetas[0], "muestra.consultado.csv"))
	assert.Len(t, filas, 11)
	assert.Equal(t, "Peña & Núñez; asociados", filas[1]["Proveedor"])
	assert.Equal(t, "PEÑA & NÚÑEZ ASOCIADOS DE PRUEBA S.A.C.", filas[1]["razon_social"])
	assert.Equal(t, "no existe", filas[5]["consulta"])

	out, err = correr(t.Context(), t, sinEntorno)
	require.NoError(t, err)
	assert.NotContains(t, out, "no se vuelven a pagar", "each run has a folder of its own")

	out, err = correr(t.Context(), t, sinEntorno, "-n", "100", "-cuota", "60")
	require.ErrorIs(t, err, errIncompleto)
	_, entrada, ok := strings.Cut(out, "con la entrada al final (")
	require.True(t, ok, out)
	entrada, _, _ = strings.Cut(entrada, ")")
	_, err = correr(t.Context(), t, sinEntorno, "-n", "100", "-cuota", "60", entrada)
	require.NoError(t, err, "it goes on where it stopped")
}

func TestInventedRUCsRunOnAMockOfTheirOwn(t *testing.T) {
	entrada := filepath.Join(t.TempDir(), "rucs.csv")
	for _, caso := range []struct {
		dice string
		err  error
	}{
		{"Van 60 de 100 RUC y faltan 40.", errIncompleto},
		{"Listo: los 100 RUC tienen respuesta.", nil},
	} {
		out, err := correr(t.Context(), t, sinEntorno, "-n", "100", "-cuota", "60", entrada)
		require.Equal(t, caso.err, err, out)
		assert.Contains(t, out, caso.dice)
	}
	filas := filasDe(t, sinExtension(entrada)+".consultado.csv")
	assert.Equal(t, inventados(100), columna(filas, "ruc_consultado"), "the input's order")
	assert.Equal(t, "'=1+5 SINTÉTICA S.A.C.", filas[5]["razon_social"], "no formula runs")
	assert.Equal(t, "no existe", filas[39]["consulta"])
}
