package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestNoRowIsLost(t *testing.T) {
	b := nuevoBanco(t, "Nombre;RUC\nbien;"+uno+"\n\"sin cierre;"+uno+"\ncorta\nlarga;"+dos+";de más\nbien;"+uno+"\n")
	out, err := b.correr(t.Context())
	require.NoError(t, err, out)
	assert.Contains(t, out, "✗ línea 3: la línea no es CSV: una comilla no se cierra")
	assert.Contains(t, out, "✗ línea 4: no tiene columna 2")
	filas := b.filas()
	assert.Equal(t, []string{"2", "3", "4", "5", "6"}, columna(filas, "linea"))
	assert.Equal(t, []string{"bien", "\"sin cierre;" + uno, "corta", "larga", "bien"}, columna(filas, "Nombre"))
	assert.Equal(t, "de más", filas[3]["columna_3"])
	assert.Equal(t, filas[0]["razon_social"], filas[4]["razon_social"], "a repeated RUC answers both rows")
	b.srv.AssertSpent(t, mockserver.Filter{}, 2)
}

func TestManyBadRowsAreCounted(t *testing.T) {
	b := nuevoBanco(t, uno+"\n"+strings.Repeat("123\n", 30))
	out, err := b.correr(t.Context())
	require.NoError(t, err)
	assert.Contains(t, out, "línea 11: el RUC tiene 3 dígitos y no 11 ✗ y 20 filas erradas más")
	assert.Len(t, b.filas(), 31)
}

func TestACellIsNeverAFormula(t *testing.T) {
	for celda, queda := range map[string]string{
		"":                "",
		"-":               "-",
		"ACME S.A.C.":     "ACME S.A.C.",
		"A=B":             "A=B",
		"=1+1":            "'=1+1",
		"+51 999":         "'+51 999",
		"-2+3":            "'-2+3",
		"@SUM(A1)":        "'@SUM(A1)",
		"\t=1":            "'\t=1",
		"  =1":            "'  =1",
		"＝1":              "'＝1",
		"20131312955":     "20131312955",
		"Ñandú":           "Ñandú",
		"CAL. 1 - LIMA":   "CAL. 1 - LIMA",
		"=cmd|'/c x'!A1":  "'=cmd|'/c x'!A1",
		"\r=1":            "'\r=1",
		"-CORCHO S.A.C. ": "'-CORCHO S.A.C. ",
	} {
		assert.Equal(t, queda, inofensiva(celda))
	}
}

func TestACodeKeepsItsZeros(t *testing.T) {
	for celda, queda := range map[string]string{"010101": `="010101"`, "150101": `="150101"`, "": "", "-": "-", "=1": "=1", "1e5": "1e5"} {
		assert.Equal(t, queda, conCeros(celda))
	}
	assert.Equal(t, "010101", limpiar(conCeros("010101")), "what is written is read")
	b := nuevoBanco(t, uno+"\n")
	emisor := mockserver.Empresa(uno)
	emisor.Ubigeo = "010101"
	require.NoError(t, b.srv.PutContribuyente(emisor))
	_, err := b.correr(t.Context())
	require.NoError(t, err)
	assert.Equal(t, `="010101"`, b.filas()[0]["ubigeo"])
}

func TestTheOutputIsPutInPlaceAtOnce(t *testing.T) {
	b := nuevoBanco(t, uno+"\n")
	require.NoError(t, os.Chmod(b.entrada, 0o640))
	_, err := b.correr(t.Context())
	require.NoError(t, err)
	salida := sinExtension(b.entrada) + ".consultado.csv"
	info, err := os.Stat(salida)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "as readable as the input")

	// A folder of that name cannot be replaced: the old output stays, nothing is left beside it, and the
	// answers are safe.
	require.NoError(t, os.Remove(salida))
	require.NoError(t, os.MkdirAll(salida+"/x", 0o700))
	_, err = b.correr(t.Context())
	require.ErrorContains(t, err, "las respuestas están a salvo")
	restos, err := os.ReadDir(strings.TrimSuffix(b.entrada, "rucs.csv"))
	require.NoError(t, err)
	assert.Len(t, restos, 3)
	b.srv.AssertSpent(t, mockserver.Filter{}, 1)
}
