package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/fiscope/fiscope/mockserver"
)

const (
	uno = "20100070970"
	dos = "20131312955"
)

func TestInputsAsPeopleHaveThem(t *testing.T) {
	latin1 := func(s string) string { s, _ = charmap.Windows1252.NewEncoder().String(s); return s }
	utf16 := func(s string) string {
		s, _ = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(s)
		return s
	}
	for name, caso := range map[string]struct {
		texto, columna string
		lee            string // "LINE RUC" of each row; "LINE ✗" where it is bad
		primera        string // the first cell of the first row
	}{
		"one column, nothing else":       {uno + "\n" + dos, "", "1 20100070970, 2 20131312955", uno},
		"with a header":                  {"ruc\n" + uno + "\n", "", "2 20100070970", uno},
		"semicolons":                     {"Nombre;RUC\nPeña, Ñ;" + uno + "\n", "", "2 20100070970", "Peña, Ñ"},
		"tabs":                           {"Nombre\tRUC\nPeña, Ñ\t" + uno + "\n", "", "2 20100070970", "Peña, Ñ"},
		"a mark at the beginning":        {"\ufeffRUC,Nombre\n" + uno + ",x\n", "", "2 20100070970", uno},
		"Latin-1":                        {latin1("Nombre;RUC\nPeña €;" + uno + "\n"), "", "2 20100070970", "Peña €"},
		"Latin-1 only at the end":        {latin1("Nombre;RUC\nx;" + uno + "\nÑandú;" + dos + "\n"), "", "2 20100070970, 3 20131312955", "x"},
		"UTF-16":                         {utf16("Nombre;RUC\nPeña;" + uno + "\n"), "", "2 20100070970", "Peña"},
		"carriage returns":               {"RUC;x\r\n" + uno + ";1\r\n", "", "2 20100070970", uno},
		"empty lines":                    {"\n\nRUC;x\n\n" + uno + ";1\n   \n" + dos + ";2\n", "", "5 20100070970, 7 20131312955", uno},
		"the column by name":             {"ruc,proveedor\nx," + uno + "\n", " Proveedor ", "2 20100070970", "x"},
		"the column by position":         {uno + "," + dos + "\n", "2", "1 20131312955", uno},
		"a header by position":           {"a,b\n" + uno + "," + dos + "\n", "2", "2 20131312955", uno},
		"the title has more words":       {"N° RUC;Monto\n" + uno + ";" + dos + "\n", "", "2 20100070970", uno},
		"by what is in it":               {"documento,monto\n" + uno + ",5\n", "", "2 20100070970", uno},
		"a wrong RUC comes first":        {"2010007097\n" + uno + "\n", "", "1 ✗, 2 20100070970", "2010007097"},
		"as spreadsheets keep digits":    {"'" + uno + "\n=\"" + dos + "\"\n", "", "1 20100070970, 2 20131312955", "'" + uno},
		"a separator that is declared":   {"sep=;\r\nNombre, y más;RUC\r\nx;" + uno + "\r\n", "", "3 20100070970", "x"},
		"declared after a mark":          {"\ufeffsep=,\n" + uno + ",x;y;z\n", "", "2 20100070970", uno},
		"declared in UTF-16":             {utf16("sep=\t\nRUC\tNombre\n" + uno + "\tPeña\n"), "", "3 20100070970", uno},
		"bars":                           {"Ruc|Razón Social|\n" + uno + "|Peña, Ñ; y|\n", "", "2 20100070970", uno},
		"numbers of data frames":         {"ruc;x\n" + uno + ".0;1\n" + dos + ",00;2\n", "", "2 20100070970, 3 20131312955", uno + ".0"},
		"exponents with all digits":      {"x;ruc\n1;2.0131312955E+10\n2;2,0100070970e10\n", "", "2 20131312955, 3 20100070970", "1"},
		"exponents that were rounded":    {"x;ruc\n1;2.010007097E+10\n2;2.01313129E+10\n3;2.0131312955E+11\n4;20131312955.5\n5;2.0131312956E+10\n", "", "2 ✗, 3 ✗, 4 ✗, 5 ✗, 6 ✗", "1"},
		"found by its numbers":           {"a;b\n1;2.0131312955E+10\n", "", "2 20131312955", "1"},
		"a control character":            {"ruc;x\n2010007\x000970;1\n" + uno + "\x1f;1\n2010007\u00850970;1\n2010007\r0970;1\n2010007\t0970;1\n", "", "2 ✗, 3 ✗, 4 ✗, 5 ✗, 6 ✗", "2010007\x000970"},
		"a row after a lone CR":          {"x;ruc\n1;" + uno + ";y\r2;" + dos + "\n3;" + dos + "\n", "", "2 ✗, 3 20131312955", "1;" + uno + ";y\r2;" + dos},
		"a byte that is no character":    {"ruc;x\n2010007\x810970;1\n", "", "2 ✗", "2010007\ufffd0970"},
		"a quote that another closes":    {"x;ruc\n\"Peña;" + uno + "\nTubo 3/4\";" + dos + "\n", "", "2 ✗, 3 20131312955", `"Peña;` + uno},
		"blanks of every kind":           {"ruc\n\u00a0" + uno + " \u200b\n", "", "2 20100070970", "\u00a0" + uno + " \u200b"},
		"bad ones of every kind":         {"ruc;x\n;1\n2.01E+10;1\n20123456789;1\n20a00070970;1\n" + uno + ";1\n", "", "2 ✗, 3 ✗, 4 ✗, 5 ✗, 6 20100070970", ""},
		"short and long rows":            {"x;ruc\ny\ny;" + uno + ";z;z\n", "", "2 ✗, 3 20100070970", "y"},
		"a cell of several lines":        {"x,ruc\n\"Av. 1\nLima\"," + uno + "\nz," + dos + "\n", "", "2 20100070970, 4 20131312955", "Av. 1\nLima"},
		"a quote inside of a cell":       {"x;ruc\nTubo 3/4\";" + uno + "\nz;" + dos + "\n", "", "2 20100070970, 3 20131312955", `Tubo 3/4"`},
		"a quote that is never closed":   {"x;ruc\n\"Peña;" + uno + "\nz;" + dos + "\n", "", "2 ✗, 3 20131312955", `"Peña;` + uno},
		"one that another line misleads": {"x;ruc\n\"Peña;" + uno + "\n\"Ríos\";" + dos + "\n", "", "2 ✗, 3 20131312955", `"Peña;` + uno},
	} {
		t.Run(name, func(t *testing.T) {
			ruta := nuevoBanco(t, caso.texto).entrada
			e, err := abrirEntrada(ruta, caso.columna)
			require.NoError(t, err)
			var lee []string
			for f, err := range e.filas() {
				require.NoError(t, err)
				que := f.ruc
				if f.falla != "" {
					assert.Empty(t, f.ruc)
					que = "✗"
				}
				if lee == nil {
					assert.Equal(t, caso.primera, f.celdas[0])
				}
				lee = append(lee, string(rune('0'+f.linea))+" "+que)
			}
			assert.Equal(t, caso.lee, strings.Join(lee, ", "))
		})
	}
}

// A run that answered nothing is no success, for a cron job that goes on with its output.
func TestWithoutAnyRUCItFails(t *testing.T) {
	for name, texto := range map[string]string{
		"a header alone": "Nombre;RUC\n", "a header and blank lines": "ruc\n\n \n", "bad rows alone": "ruc\n123\nx\n",
		"nothing": "", "CR": "ruc\r" + uno + "\r", "a separator and a header": "sep=;\nx;ruc\n",
	} {
		t.Run(name, func(t *testing.T) {
			b := nuevoBanco(t, texto)
			out, err := b.correr(t.Context())
			require.Error(t, err, out)
			require.NotErrorIs(t, err, errIncompleto)
			assert.NotContains(t, out, "Listo")
			b.srv.AssertCalls(t, mockserver.Filter{}, 0)
		})
	}
}

func TestItDoesNotGuessWhomToAskAbout(t *testing.T) {
	for name, caso := range map[string]struct{ texto, dice string }{
		"nothing in it":         {"\n\n", "está vacío"},
		"no line ends but CR":   {"ruc\r" + uno + "\r" + dos + "\r", "terminan en CR"},
		"CR without a header":   {uno + "\r" + dos + "\r", "terminan en CR"},
		"a mark alone":          {"\ufeff", "está vacío"},
		"a separator alone":     {"sep=;\n", "no tiene filas"},
		"no RUC in sight":       {"a,b\n1,2\n", "no se ve la columna del RUC"},
		"two columns of RUCs":   {uno + "," + dos + "\n", "las columnas 1 y 2"},
		"two titles":            {"ruc emisor;ruc receptor\n" + uno + ";" + dos + "\n", "las columnas 1 y 2"},
		"a line without end":    {"ruc\n" + strings.Repeat("2", lineaMaxima+1), "la línea 2 pasa"},
		"the first without end": {strings.Repeat("2", lineaMaxima+1), "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := abrirEntrada(nuevoBanco(t, caso.texto).entrada, "")
			require.ErrorContains(t, err, caso.dice)
		})
	}
}
