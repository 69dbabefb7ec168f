package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
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

func TestItDoesNotGuessWhomToAskAbout(t *testing.T) {
	for name, caso := range map[string]struct{ texto, dice string }{
		"nothing in it":         {"\n\n", "está vacío"},
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
