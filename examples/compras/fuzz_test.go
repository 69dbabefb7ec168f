package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// A line that is sent to be validated holds a receipt, and one that is not says why.
func FuzzLeerRenglones(f *testing.F) {
	for _, seed := range []string{
		"", "\xff\xfe", "rucEmisor;tipo;comprobante\n20100070970;01;F001-123\n", "20100070970,1,f001 - 1,1.5,X\r\n", "ruc\truc\n",
		"Serie;Número;RUC;Tipo\nF001;00123;'20100070970;Factura\n;;;\n", "\"20100070970;01;F001-1\n20100070970;01;F001-2\n", "20100070970;01;F001-1\n20100070970;01;F001-1\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, datos []byte) {
		renglones, err := leerRenglones(datos)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		antes := 0
		vistos := map[fiscope.Comprobante]bool{}
		for _, r := range renglones {
			require.GreaterOrEqual(t, r.Linea, antes)
			antes = r.Linea
			require.False(t, strings.ContainsAny(r.Proveedor+r.Importe+r.Detalle, "\x00\x1b\n"), "what a terminal would obey")
			if r.Estado != "" {
				require.NotEmpty(t, r.Detalle)
				continue
			}
			require.NoError(t, fiscope.ValidarRUC(r.Comprobante.RUCEmisor))
			require.Positive(t, r.Comprobante.Numero)
			require.False(t, vistos[r.Comprobante], "twice the same")
			vistos[r.Comprobante] = true
		}
	})
}
