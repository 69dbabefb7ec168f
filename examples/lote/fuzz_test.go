package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// A row has a RUC that can be asked, or says why not.
func FuzzEntrada(f *testing.F) {
	for _, seed := range []string{
		"", uno, uno + "\n" + dos, "ruc\n" + uno + "\n", "Nombre;RUC\nPeña, Ñ;" + uno + "\n", "\ufeffRUC,Nombre\r\n" + uno + ",x\r\n", "Nombre;RUC\nPe\xf1a;" + uno + "\n",
		"\xff\xfeR\x00U\x00C\x00\n\x002\x00", "'" + uno + "\n=\"" + dos + "\"\n", "x,ruc\n\"Av. 1\nLima\"," + uno + "\n", "x;ruc\n\"Peña;" + uno + "\nz;" + dos + "\n",
	} {
		f.Add([]byte(seed), "")
		f.Add([]byte(seed), "2")
	}
	f.Fuzz(func(t *testing.T, texto []byte, columna string) {
		ruta := filepath.Join(t.TempDir(), "rucs.csv")
		require.NoError(t, os.WriteFile(ruta, texto, 0o600))
		e, err := abrirEntrada(ruta, columna)
		if err != nil {
			return
		}
		antes := 0
		for fila, err := range e.filas() {
			if err != nil {
				return
			}
			require.Greater(t, fila.linea, antes)
			antes = fila.linea
			require.NotEqual(t, fila.ruc == "", fila.falla == "")
			require.True(t, fila.ruc == "" || fiscope.ValidarRUC(fila.ruc) == nil, fila.ruc)
		}
	})
}
