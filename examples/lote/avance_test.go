package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestAPowerCutCostsOneAnswer(t *testing.T) {
	b := nuevoBanco(t, strings.Join(inventados(10), "\n"), mockserver.WithRegistro(padronInventado{}))
	_, err := b.correr(t.Context())
	require.NoError(t, err)
	ruta := filepath.Join(sinExtension(b.entrada)+".consultado.avance", "respuestas.jsonl")
	texto, err := os.ReadFile(ruta)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(ruta, append(texto[:len(texto)-20], make([]byte, 4096)...), 0o600))
	require.NoError(t, os.Remove(sinExtension(b.entrada)+".consultado.csv"))

	out, err := b.correr(t.Context())
	require.NoError(t, err, out)
	assert.Contains(t, out, "Hechos 9,")
	b.srv.AssertSpent(t, mockserver.Filter{}, 11)
	assert.Equal(t, inventados(10), columna(b.filas(), "ruc_consultado"))
	for linea := range strings.Lines(leerTexto(t, ruta)) {
		assert.True(t, strings.HasSuffix(linea, "}\n"), linea)
	}
}

func TestADamagedAnswerIsAskedAgainAndTheOthersAreNot(t *testing.T) {
	b := nuevoBanco(t, strings.Join(inventados(10), "\n"), mockserver.WithRegistro(padronInventado{}))
	_, err := b.correr(t.Context())
	require.NoError(t, err)
	ruta := filepath.Join(sinExtension(b.entrada)+".consultado.avance", "respuestas.jsonl")
	lineas := strings.SplitAfter(leerTexto(t, ruta), "\n")
	lineas[5] = "\x00" + lineas[5][1:]
	require.NoError(t, os.WriteFile(ruta, []byte(strings.Join(lineas, "")), 0o600))
	out, err := b.correr(t.Context())
	require.NoError(t, err, out)
	b.srv.AssertSpent(t, mockserver.Filter{}, 11)

	require.NoError(t, os.WriteFile(ruta, []byte("otra cosa\n"), 0o600))
	_, err = b.correr(t.Context())
	require.ErrorContains(t, err, "no es un archivo de avance")
	assert.Equal(t, "otra cosa\n", leerTexto(t, ruta), "what is not ours is not touched")
}

func leerTexto(t *testing.T, ruta string) string {
	t.Helper()
	texto, err := os.ReadFile(ruta)
	require.NoError(t, err)
	return string(texto)
}

func TestACorrectedInputPaysOnlyForWhatIsNew(t *testing.T) {
	b := nuevoBanco(t, "RUC;Nota\n2010007097;mal\n20100113610;bien\n")
	_, err := b.correr(t.Context())
	require.NoError(t, err, "a bad row is no reason to run again")
	assert.Equal(t, []string{"fila errada: el RUC tiene 10 dígitos y no 11", "ok"}, columna(b.filas(), "consulta"))

	require.NoError(t, os.WriteFile(b.entrada, []byte("RUC;Nota\n20131312955;primero\n20100070970;corregido\n20100113610;bien\n"), 0o600))
	_, err = b.correr(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"ok", "ok", "ok"}, columna(b.filas(), "consulta"))
	assert.Equal(t, []string{"primero", "corregido", "bien"}, columna(b.filas(), "Nota"))
	b.srv.AssertSpent(t, mockserver.Filter{}, 3)
}

func TestAnswersAreAskedAgainOnDemand(t *testing.T) {
	b := nuevoBanco(t, "20131312955\n20100070970\n", mockserver.WithQuota(3))
	_, err := b.correr(t.Context())
	require.NoError(t, err)
	out, err := b.correr(t.Context(), "-de-nuevo")
	require.ErrorIs(t, err, errIncompleto)
	assert.Contains(t, out, "repita el mismo comando, pero sin -de-nuevo")
	b.srv.AssertSpent(t, mockserver.Filter{}, 3)
	assert.FileExists(t, filepath.Join(sinExtension(b.entrada)+".consultado.avance", "respuestas.anterior.jsonl"))
}

// A taxpayer is active and habido on the day of the answer.
func TestAnswersGrowOld(t *testing.T) {
	b := nuevoBanco(t, "20131312955\n20100070970\n")
	_, err := b.correr(t.Context())
	require.NoError(t, err)
	ruta := filepath.Join(sinExtension(b.entrada)+".consultado.avance", "respuestas.jsonl")
	lineas := strings.SplitAfter(leerTexto(t, ruta), "\n")
	envejecer := func(dias int) {
		entonces := time.Now().UTC().AddDate(0, 0, -dias).Format(time.RFC3339)
		lineas[1] = regexp.MustCompile(`"consultado":"[^"]+"`).ReplaceAllString(lineas[1], `"consultado":"`+entonces+`"`)
		require.NoError(t, os.WriteFile(ruta, []byte(strings.Join(lineas, "")), 0o600))
	}
	envejecer(120)
	out, err := b.correr(t.Context(), "-vigencia", "200")
	require.NoError(t, err)
	assert.Contains(t, out, "Hechos 2,")
	b.srv.AssertSpent(t, mockserver.Filter{}, 2)

	out, err = b.correr(t.Context())
	require.NoError(t, err)
	assert.Contains(t, out, "Vencidos 1, con una respuesta de más de 30 días")
	b.srv.AssertSpent(t, mockserver.Filter{}, 3)

	out, err = b.correr(t.Context())
	require.NoError(t, err)
	assert.Contains(t, out, "Hechos 2,", "the new answer is beside the old one")
	assert.NotContains(t, out, "Vencidos")
	b.srv.AssertSpent(t, mockserver.Filter{}, 3)
}

func TestAnswersOfAMockAreNeverTakenForRealOnes(t *testing.T) {
	b := nuevoBanco(t, "20131312955\n")
	_, err := b.correr(t.Context(), "-mock")
	require.NoError(t, err)
	_, err = b.correr(t.Context())
	require.ErrorContains(t, err, "sus respuestas son de mock")
	b.srv.AssertCalls(t, mockserver.Filter{}, 0)
}

func TestTwoRunsAtATimeDoNotPayTwice(t *testing.T) {
	b := nuevoBanco(t, "20131312955\n")
	otro, err := abrirAvance(sinExtension(b.entrada)+".consultado.avance", b.srv.URL, false, time.Hour)
	require.NoError(t, err)
	_, err = b.correr(t.Context())
	require.ErrorContains(t, err, "otro proceso trabaja")
	otro.cerrar()
	_, err = b.correr(t.Context())
	require.NoError(t, err)
}

func TestAFileOfSomebodyElseIsNotOverwritten(t *testing.T) {
	b := nuevoBanco(t, "20131312955\n")
	salida := sinExtension(b.entrada) + ".consultado.csv"
	require.NoError(t, os.WriteFile(salida, []byte("mío"), 0o600))
	_, err := b.correr(t.Context())
	require.ErrorContains(t, err, "no es de este programa")
	assert.Equal(t, "mío", leerTexto(t, salida))
	b.srv.AssertCalls(t, mockserver.Filter{}, 0)
}
