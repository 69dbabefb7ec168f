package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestOneReceiptHoweverItIsWritten(t *testing.T) {
	want := renglon{
		Linea:       2,
		Comprobante: fiscope.Comprobante{RUCEmisor: "20100070970", Tipo: fiscope.TipoFactura, Serie: "F001", Numero: 123},
		Importe:     "1180.00", Proveedor: "EL ÑANDÚ S.A.",
	}
	latin1 := strings.NewReplacer("Ñ", "\xd1", "Ú", "\xda", "ú", "\xfa")
	cases := []struct{ name, csv string }{
		{"semicolons", "rucEmisor;tipo;comprobante;importe;proveedor\n20100070970;01;F001-00000123;1180.00;EL ÑANDÚ S.A.\n"},
		{"commas", "rucEmisor,tipo,comprobante,importe,proveedor\n20100070970,01,F001-00000123,1180.00,EL ÑANDÚ S.A.\n"},
		{"tabs", "rucEmisor\ttipo\tcomprobante\timporte\tproveedor\n20100070970\t01\tF001-00000123\t1180.00\tEL ÑANDÚ S.A.\n"},
		{"Latin-1", latin1.Replace("RUC;Tipo;Serie-Número;Importe;Proveedor\n20100070970;01;F001-123;1180.00;EL ÑANDÚ S.A.\n")},
		{"UTF-8 with a mark, CRLF", "\ufeffRUC;Tipo;Comprobante;Importe;Proveedor\r\n20100070970;01;F001-123;1180.00;EL ÑANDÚ S.A.\r\n"},
		{"another order and other titles", "Razón Social;Monto;Tipo de comprobante;RUC del proveedor;Serie;Número\nEL ÑANDÚ S.A.;1180.00;Factura;20100070970;f001;00123\n"},
		{"as a spreadsheet leaves it", "ruc;tipo;comprobante;total;nombre;;\n'20100070970;1; f001 - 123 ;1180.00;\"EL ÑANDÚ S.A.\";;\n;;;;;;\n"},
		{"what a terminal would obey", "ruc;tipo;comprobante;total;nombre\n20100070970;1;F001-123;1180.00;EL\tÑANDÚ\x1b S.A.\x00\n"},
		{"without titles", "\n20100070970;01;F001-00000123;1180.00;EL ÑANDÚ S.A.\n"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := leerRenglones([]byte(tc.csv))
			require.NoError(t, err)
			require.Len(t, got, 1)
			assert.Equal(t, want, *got[0])
		})
	}
}

func TestALineThatCannotBeReadIsNotLost(t *testing.T) {
	const good = "20100070970;01;F001-1;;\n"
	cases := []struct{ name, line, says string }{
		{"a short RUC", "2010007097;01;F001-2", "deben ser 11 dígitos"},
		{"a RUC that a spreadsheet abridged", "2.01001E+10;01;F001-2", "«2.01001E+10»: deben ser 11"},
		{"two digits swapped", "20100070907;01;F001-2", "un dígito está mal"},
		{"a receipt for fees", "20100070970;02;E001-2", "solo se validan 01, 03, 07 y 08"},
		{"no dash", "20100070970;01;F00100000002", "escríbalo como F001-00000123"},
		{"nothing but the RUC", "20100070970", "tipo «»"},
		{"a stray quote", `20100070970;01;F001-2;;EL "ÑANDÚ"`, "comillas fuera de lugar"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := leerRenglones([]byte(good + tc.line + "\n20100070970;01;F001-3;;\n"))
			require.NoError(t, err)
			require.Len(t, got, 3)
			assert.Equal(t, 2, got[1].Linea)
			assert.Equal(t, estadoIlegible, got[1].Estado)
			assert.Contains(t, got[1].Detalle, tc.says)
			assert.Equal(t, 3, got[2].Linea)
			assert.Equal(t, estado(""), got[2].Estado)
		})
	}
	t.Run("a quote that is never closed", func(t *testing.T) {
		got, err := leerRenglones([]byte(good + "20100070970;01;\"F001-2\n20100070970;01;F001-3\n"))
		require.NoError(t, err)
		require.Len(t, got, 2)
		assert.Equal(t, 2, got[1].Linea)
		assert.Contains(t, got[1].Detalle, "no se cierran")
	})
	t.Run("the same receipt twice", func(t *testing.T) {
		got, err := leerRenglones([]byte(good + "20100070970;factura;f001 1\n"))
		require.NoError(t, err)
		assert.Equal(t, estadoRepetido, got[1].Estado)
		assert.Contains(t, got[1].Detalle, "línea 1")
	})
}

func TestAFileThatCannotBeRead(t *testing.T) {
	cases := []struct{ name, csv, says string }{
		{"UTF-16", "\xff\xfer\x00u\x00c\x00", "UTF-16"},
		{"no type", "ruc;comprobante\n", "falta la columna «tipo»"},
		{"no issuer", "tipo;comprobante\n", "falta la columna «rucEmisor»"},
		{"a series without a number", "ruc;tipo;serie\n", "o «serie» y «numero»"},
		{"two columns of one thing", "ruc;tipo;comprobante;ruc\n", "dos columnas «rucEmisor»"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			_, err := leerRenglones([]byte(tc.csv))
			require.ErrorContains(t, err, tc.says)
		})
	}
}
