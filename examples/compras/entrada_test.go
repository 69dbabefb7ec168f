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
		{"Windows-1252", latin1.Replace("RUC;Tipo;N\xba comprobante;Importe;Proveedor\n20100070970;01;F001\x96123;1180.00;EL ÑANDÚ S.A.\n")},
		{"a dash that UTF-8 has too", "RUC;Tipo;Comprobante;Importe;Proveedor\n20100070970;01;F001–123;1180.00;EL ÑANDÚ S.A.\n"},
		{"the end of a file of DOS", "RUC;Tipo;Comprobante;Importe;Proveedor\r\n20100070970;01;F001-123;1180.00;EL ÑANDÚ S.A.\r\n\x1a"},
		{"a number beside its series", "RUC;Tipo;Serie;N° comprobante;Importe;Proveedor\n20100070970;01;F001;00000123;1180.00;EL ÑANDÚ S.A.\n"},
		{"the whole beside its series", "RUC;Tipo;Serie;N° comprobante;Importe;Proveedor\n20100070970;01;F001;F001-00000123;1180.00;EL ÑANDÚ S.A.\n"},
		{"a kind in words", "RUC;Tipo;Comprobante;Importe;Proveedor\n20100070970;Factura Electrónica;F001-123;1180.00;EL ÑANDÚ S.A.\n"},
		{"a kind in letters", "RUC;Tipo;Comprobante;Importe;Proveedor\n20100070970;FT;F001-123;1180.00;EL ÑANDÚ S.A.\n"},
		{"numbers as data frames write them", "RUC;Tipo;Serie;Número;Importe;Proveedor\n20100070970.0;1.0;F001;123.0;1180.00;EL ÑANDÚ S.A.\n"},
		{"numbers as spreadsheets write them", "RUC;Tipo;Serie;Número;Importe;Proveedor\n2,0100070970E+10;\"=\"\"01\"\"\";F001;'00123;1180.00;EL ÑANDÚ S.A.\n"},
		{"blanks that do not break", "RUC;Tipo;Comprobante;Importe;Proveedor\n\u00a020100070970\u00a0;01\u2003;F001-123;1180.00;EL ÑANDÚ S.A.\n"},
		{"SUNAT's own ledger", "RUC|Apellidos y Nombres o Razón social|Tipo CP/Doc.|Serie del CDP|Nro CP o Doc. Nro Inicial (Rango)|Nro Final (Rango)|Tipo Doc Identidad|Nro Doc Identidad|Apellidos Nombres/ Razón  Social|Total CP|Tipo CP Modificado|Serie CP Modificado|Nro CP Modificado\n" +
			"20131312955|NOSOTROS|01|F001|123||6|20100070970|EL ÑANDÚ S.A.|1180.00|||\n"},
		{"without its ranges", "Tipo CP/Doc.,Serie del CDP,Nro CP o Doc.,Nro Doc Identidad,Total CP,Proveedor\n01,F001,123,20100070970,1180.00,EL ÑANDÚ S.A.\n"},
		{"an empty line first", "\nrucEmisor,tipo,comprobante,importe,proveedor\n20100070970,01,F001-123,1180.00,EL ÑANDÚ S.A.\n"},
		{"a separator that is declared", "\ufeffsep=,\n20100070970,01,F001-123,1180.00,EL ÑANDÚ S.A.\n"},
		{"without titles", "\n20100070970;01;F001-00000123;1180.00;EL ÑANDÚ S.A.\n"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := leerRenglones([]byte(tc.csv))
			require.NoError(t, err)
			require.Len(t, got, 1)
			got[0].Linea = want.Linea
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
		{"two dashes, in Windows-1252", "20100070970;01;F001-12\x963;;\xd1", "«F001-12–3»: escríbalo"},
		{"a byte that is no character", "20100070970;01;F001-12\x813", "comprobante: tiene un carácter que no se ve o no existe (U+FFFD)"},
		{"a dash of UTF-8 in a file that is not", "20100070970;01;F001–2;;\xd1", "escríbalo como F001-00000123"},
		{"a RUC that a spreadsheet rounded", "2.010007097E+10;01;F001-2", "deben ser 11"},
		{"a kind that is a fraction", "20100070970;0.1;F001-2", "solo se validan"},
		{"a carriage return", "20100070970;01;F001-12\r3", "retorno de carro"},
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
		require.Len(t, got, 3)
		assert.Equal(t, 2, got[1].Linea)
		assert.Contains(t, got[1].Detalle, "no se cierran")
		assert.Equal(t, 3, got[2].Comprobante.Numero, "an open quote spoils its own line and no other")
	})
	t.Run("a quote that the quote of another line seems to close", func(t *testing.T) {
		got, err := leerRenglones([]byte(good + "20100070970;01;F001-2;1;\"EL ÑANDÚ\n20100070970;01;F001-3;1;TUBO 3/4\"\n20100070970;01;F001-4\n"))
		require.NoError(t, err)
		require.Len(t, got, 4)
		assert.Equal(t, []estado{"", estadoIlegible, estadoIlegible, ""}, []estado{got[0].Estado, got[1].Estado, got[2].Estado, got[3].Estado})
	})
	t.Run("a cell of several lines", func(t *testing.T) {
		got, err := leerRenglones([]byte(good + "20100070970;01;F001-2;1;\"EL ÑANDÚ;\r\nLIMA\"\r\n20100070970;01;F001-3\n"))
		require.NoError(t, err)
		require.Len(t, got, 3)
		assert.Equal(t, "EL ÑANDÚ; LIMA", got[1].Proveedor)
		assert.Equal(t, 4, got[2].Linea)
	})
	t.Run("the same receipt twice", func(t *testing.T) {
		got, err := leerRenglones([]byte(good + "20100070970;factura;f001 1\n"))
		require.NoError(t, err)
		assert.Equal(t, estadoRepetido, got[1].Estado)
		assert.Contains(t, got[1].Detalle, "línea 1")
	})
}

// A character that does not show may stand where a digit was, wherever it is.
func TestACharacterThatDoesNotShowIsNeverLeftOut(t *testing.T) {
	letras := "\ufffd\u00ad\u200b\u2028\ue000"
	for r := range rune(0xa0) {
		if (r < ' ' || r >= 0x7f) && r != '\n' {
			letras += string(r)
		}
	}
	for _, r := range letras {
		for _, line := range []string{
			"201000%70970;01;F001-2", "%20100070970;01;F001-2", "20100070970;0%1;F001-2", "20100070970;Fact%ura;F001-2",
			"20100070970;01;F001-12%3", "20100070970;01;F%001-12", "20100070970;01;F001-12%;",
		} {
			line = strings.ReplaceAll(line, "%", string(r))
			got, err := leerRenglones([]byte("20131312955;01;F001-1\n" + line + "\n20131312955;01;F001-3\n"))
			require.NoError(t, err)
			require.Len(t, got, 3, "%q", line)
			assert.Equal(t, estadoIlegible, got[1].Estado, "%q", line)
		}
	}
	undefined := strings.NewReplacer("%", "\x81")
	got, err := leerRenglones([]byte(undefined.Replace("%20131312955;01;F001-1\n20131312955;0%1;F001-1\n20131312955;01;F001-1%\n")))
	require.NoError(t, err)
	for _, r := range got {
		assert.Equal(t, estadoIlegible, r.Estado)
	}
}

// A ledger may name a range of receipts in one line: the state of the first says nothing of the others.
func TestARangeIsNoReceipt(t *testing.T) {
	const titulos = "Tipo CP/Doc.;Serie del CDP;Nro CP o Doc. Nro Inicial (Rango);Nro Final (Rango);Nro Doc Identidad\n"
	for final, want := range map[string]estado{"": "", "0": "", "00123": "", "123.0": "", "124": estadoIlegible, "x": estadoIlegible} {
		got, err := leerRenglones([]byte(titulos + "01;F001;123;" + final + ";20100070970\n"))
		require.NoError(t, err)
		assert.Equal(t, want, got[0].Estado, final)
	}
}

func TestAFileThatCannotBeRead(t *testing.T) {
	cases := []struct{ name, csv, says string }{
		{"UTF-16", "\xff\xfer\x00u\x00c\x00", "UTF-16"},
		{"no line ends but CR", "ruc;tipo;comprobante\r20100070970;01;F001-1\r", "CR"},
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
