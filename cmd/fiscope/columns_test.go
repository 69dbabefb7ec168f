package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two suppliers, and who keeps the books.
const (
	supplier = "20100070970"
	other    = "20331898008"
	own      = "20131312955"
)

// sire is the first lines of a purchases proposal of the SIRE.
const sire = "RUC|Apellidos y Nombres o Razón social|Periodo|CAR SUNAT|Fecha de emisión|Fecha Vcto/Pago|Tipo CP/Doc.|Serie del CDP|Año|" +
	"Nro CP o Doc. Nro Inicial (Rango)|Nro Final (Rango)|Tipo Doc Identidad|Nro Doc Identidad|Apellidos Nombres/ Razón  Social|BI Gravado DG|" +
	"IGV / IPM DG|Total CP|Moneda|Tipo de Cambio|Fecha Emisión Doc Modificado|Tipo CP Modificado|Serie CP Modificado|COD. DAM O DSI|Nro CP Modificado|\n" +
	own + "|EMPRESA SAC|202611|" + supplier + "01F0010000000102|05/11/2026||01|F001||102||6|" + supplier + "|SUPERMERCADOS PERUANOS|1000.00|180.00|1180.00|PEN|1.000||||||\n" +
	own + "|EMPRESA SAC|202611|X|06/11/2026||07|F001||9||6|" + supplier + "|SUPERMERCADOS PERUANOS|-100.00|-18.00|-118.00|PEN|1.000|05/11/2026|01|F001||102|\n" +
	own + "|EMPRESA SAC|202611|X|07/11/2026||14|S001||77||6|" + other + "|LUZ DEL SUR|100.00|18.00|118.00|PEN|1.000||||||\n" +
	own + "|EMPRESA SAC|202611|X|08/11/2026||50||2026|1234||6|20131312955|SUNAT|100.00|18.00|118.00|PEN|1.000||||||\n" +
	own + "|EMPRESA SAC|202611|X|09/11/2026||91||||E-55||0|99-1234567|ACME INC|100.00|0.00|100.00|USD|3.750||||||\n" +
	own + "|EMPRESA SAC|202611|X|10/11/2026||01|E001||55||6|" + other + "|LUZ DEL SUR|100.00|18.00|442.50|USD|3.750||||||\n"

// ple is two lines of SUNAT's book 8.1, which has no titles.
const ple = "20261100|0001|M1|05/11/2026||01|F001|0|102||6|" + supplier + "|SUPERMERCADOS PERUANOS|1000.00|180.00|0.00|0.00|0.00|0.00|0.00|0.00|0.00|0.00|1180.00|PEN|1.000||||||||||||||||1|\n" +
	"20261100|0002|M2|06/11/2026||14|S001|0|77||6|" + other + "|LUZ DEL SUR|100.00|18.00|0.00|0.00|0.00|0.00|0.00|0.00|0.00|0.00|118.00|PEN|1.000||||||||||||||||1|\n"

// numbered returns rows of an export: a counter, the kind, and F001-102, F001-205 ...
func numbered(titles string, rows int, row string) string {
	var b strings.Builder
	fmt.Fprintln(&b, titles)
	for i := range rows {
		fmt.Fprintln(&b, strings.NewReplacer("{i}", fmt.Sprint(i+1), "{n}", fmt.Sprint(102+i*103), "{ruc}", [...]string{supplier, other}[i%2]).Replace(row))
	}
	return b.String()
}

// Files as people have them: what is understood, and the receipts of the first rows; or why a file is refused.
func TestRealFiles(t *testing.T) {
	const counted = "{i};05/11/2026;FACTURA;F001;{n};{ruc};1,180.00"
	for name, c := range map[string]struct {
		text, columns string
		understood    string
		receipts      string
		refused       string
	}{
		"the proposal of the SIRE": {sire, "",
			"RUC: «Nro Doc Identidad» (13), tipo: «Tipo CP/Doc.» (7), serie: «Serie del CDP» (8), número: «Nro CP o Doc. Nro Inicial (Rango)» (10), último número: «Nro Final (Rango)» (11), importe: «Total CP» (17), moneda: «Moneda» (18), proveedor: «Apellidos Nombres/ Razón Social» (14)",
			"20100070970-01-F001-00000102 1180, 20100070970-07-F001-00000009 -118, no se valida 118, no se valida 118, no se valida, 20331898008-01-E001-00000055", ""},
		"the book 8.1 of the PLE": {ple, "", "RUC: columna 12, tipo: columna 6, serie: columna 7, número: columna 9, último número: columna 10, importe: columna 24, moneda: columna 25, proveedor: columna 13",
			"20100070970-01-F001-00000102 1180, no se valida 118", ""},
		"a counter in front": {numbered("Nro;Fecha;Tipo Comprobante;Serie;N° Documento;RUC;Total", 3, counted), "",
			"RUC: «RUC» (6), tipo: «Tipo Comprobante» (3), serie: «Serie» (4), número: «N° Documento» (5), importe: «Total» (7)",
			"20100070970-01-F001-00000102 1180, 20331898008-01-F001-00000205 1180, 20100070970-01-F001-00000308 1180", ""},
		"a counter with gaps, and a total below": {numbered("N°;Fecha;T.D.;Serie;Nº Factura;RUC;Total", 4, counted) + "9;;01;F001;7;20100070970;\n;;;;TOTAL;;4,720.00\n", "",
			"RUC: «RUC» (6), tipo: «T.D.» (3), serie: «Serie» (4), número: «Nº Factura» (5), importe: «Total» (7)", "20100070970-01-F001-00000102 1180", ""},
		"a counter of sorted rows, and sums": {"Nro;Tipo;Serie;Folio;RUC\n3;01;F001;102;" + supplier + "\n1;01;F001;205;" + supplier + "\n4;01;F001;308;" + supplier + "\nTOTAL;;;;\n", "", "", "", "«Nro» (1) cuenta las filas"},
		"a counter, and a title that nobody knows": {numbered("Nro;Fecha;Tipo;Serie;Folio;RUC;Total", 3, counted), "", "", "",
			"«Nro» (1) cuenta las filas, y no es el número del comprobante: indique su columna con -columna numero=N; hay: Nro, Fecha, Tipo, Serie, Folio"},
		"a counter of filtered rows":  {"Nro;Tipo;Serie;Folio;RUC\n1;01;F001;102;" + supplier + "\n2;01;F001;205;" + supplier + "\n7;01;F001;308;" + supplier + "\n", "", "", "", "hay dos columnas «numero», «Nro» (1) y «Folio» (4): elija con -columna numero=N"},
		"a number left of the series": {"Número;Serie;Tipo;RUC\n102;F001;01;" + supplier + "\n", "", "RUC: «RUC» (4), tipo: «Tipo» (3), serie: «Serie» (2), número: «Número» (1)", "20100070970-01-F001-00000102", ""},
		"the same, mended by position": {numbered("Nro;Fecha;Tipo;Serie;Folio;RUC;Total", 3, counted), "numero=5",
			"RUC: «RUC» (6), tipo: «Tipo» (3), serie: «Serie» (4), número: «Folio» (5), importe: «Total» (7)", "20100070970-01-F001-00000102 1180", ""},
		"the same, mended by title":                   {numbered("Nro;Fecha;Tipo;Serie;Folio, último;RUC;Total", 3, counted), "Número=FOLIO ultimo", "RUC: «RUC» (6), tipo: «Tipo» (3), serie: «Serie» (4), número: «Folio, último» (5), importe: «Total» (7)", "", ""},
		"a counter that is named is not refused":      {numbered("Nro;Fecha;Tipo;Serie;Folio;RUC;Total", 3, counted), "numero=Nro", "RUC: «RUC» (6), tipo: «Tipo» (3), serie: «Serie» (4), número: «Nro» (1), importe: «Total» (7)", "20100070970-01-F001-00000001 1180", ""},
		"numbers in a row, right of the series":       {"RUC;Tipo;Serie;Número\n" + supplier + ";01;F001;1\n" + supplier + ";01;F001;2\n" + supplier + ";01;F001;3\n", "", "RUC: «RUC» (1), tipo: «Tipo» (2), serie: «Serie» (3), número: «Número» (4)", "20100070970-01-F001-00000001, 20100070970-01-F001-00000002", ""},
		"a counter beside a title that nobody knows":  {numbered("Tipo;Serie;Folio;Nro;RUC", 3, "01;F001;{n};{i};{ruc}"), "", "", "", "«Nro» (4) cuenta las filas"},
		"a counter left of a title that nobody knows": {numbered("Tipo;Serie;Nro;Folio;RUC", 3, "01;F001;{i};{n};{ruc}"), "", "", "", "«Nro» (3) cuenta las filas"},
		"a counter at the end":                        {numbered("Tipo;Serie;Número;RUC;Correlativo", 3, "01;F001;{n};{ruc};{i}"), "", "RUC: «RUC» (4), tipo: «Tipo» (1), serie: «Serie» (2), número: «Número» (3)", "20100070970-01-F001-00000102", ""},
		"two columns that could be the number":        {numbered("Tipo;Serie;Número;Correlativo;RUC", 3, "01;F001;{n};5{n};{ruc}"), "", "", "", "hay dos columnas «numero», «Número» (3) y «Correlativo» (4): elija con -columna numero=N"},
		"two amounts are labels":                      {"RUC;Tipo;Comprobante;Importe;Total\n" + supplier + ";01;F001-102;100.00;118.00\n", "", "RUC: «RUC» (1), tipo: «Tipo» (2), comprobante: «Comprobante» (3), importe: «Total» (5)", "20100070970-01-F001-00000102 118", ""},
		"an export of a system, with tabs and Windows-1252": {"F. Emisi\xf3n\tTipo Doc.\tN\xfamero de documento\tRUC/DNI\tRaz\xf3n Social\tImporte S/\n" +
			"05/11/2026\t01 - FACTURA\tF001-00000102\t20-10007097-0\tPERUANA\tS/ 1 180.00\n" + "05/11/2026\t03\tB001-5\t45678912\tJUANA\t50,50\n", "",
			"RUC: «RUC/DNI» (4), tipo: «Tipo Doc.» (2), comprobante: «Número de documento» (3), importe: «Importe S/» (6), proveedor: «Razón Social» (5)",
			"20100070970-01-F001-00000102 1180, es un DNI; su RUC sería 10456789124 50.5", ""},
		"the identity's kind and number beside the receipt's": {"Tipo Doc.;Nro. Doc.;Proveedor;Tipo Comprobante;Serie;Nro. Comprob.\n6;" + supplier + ";X;Factura electrónica;F001;102\n", "",
			"RUC: «Nro. Doc.» (2), tipo: «Tipo Comprobante» (4), serie: «Serie» (5), número: «Nro. Comprob.» (6), proveedor: «Proveedor» (3)", "20100070970-01-F001-00000102", ""},
		"Nro. Doc. as the number": {"RUC;Tipo Doc.;Serie;Nro. Doc.\n" + supplier + ";FT;F001;102\n", "", "RUC: «RUC» (1), tipo: «Tipo Doc.» (2), serie: «Serie» (3), número: «Nro. Doc.» (4)", "20100070970-01-F001-00000102", ""},
		"the kind under Comprobante": {"Comprobante,Serie,Numero,RUC Proveedor\nFactura,F001,102," + supplier + "\n", "",
			"RUC: «RUC Proveedor» (4), tipo: «Comprobante» (1), serie: «Serie» (2), número: «Numero» (3)", "20100070970-01-F001-00000102", ""},
		"the own RUC in all rows": {numbered("RUC;Tipo;Comprobante", 10, own+";01;F001-{n}"), "", "", "", "«RUC» (1) es el RUC de usted en todas las filas, y no el de los emisores: indique su columna con -columna emisor=N"},
		"the own RUC, named":      {numbered("RUC;Tipo;Comprobante", 10, own+";01;F001-{n}"), "emisor=1", "RUC: «RUC» (1), tipo: «Tipo» (2), comprobante: «Comprobante» (3)", "20131312955-01-F001-00000102", ""},
		"the own RUC beside the supplier's": {"RUC;Tipo;Comprobante;Doc. Proveedor\n" + own + ";01;F001-102;" + supplier + "\n", "",
			"RUC: «Doc. Proveedor» (4), tipo: «Tipo» (2), comprobante: «Comprobante» (3)", "20100070970-01-F001-00000102", ""},
		"the books' owner in front, and a surer title": {"RUC;Tipo;Comprobante;N° Doc. Proveedor\n20601030013;01;F001-102;" + supplier + "\n20601030013;01;F001-205;" + other + "\n", "",
			"RUC: «N° Doc. Proveedor» (4), tipo: «Tipo» (2), comprobante: «Comprobante» (3)", "20100070970-01-F001-00000102", ""},
		"the books' owner, and a title that nobody knows": {"RUC;Tipo;Comprobante;RUC Prov.\n20601030013;01;F001-102;" + supplier + "\n20601030013;01;F001-205;" + other + "\n", "", "", "",
			"«RUC» (1) no tiene más de un RUC, y otra columna sí: indique la de los emisores con -columna emisor=N"},
		"one supplier, and the receiver": {"RUC;Tipo;Comprobante;RUC Receptor\n" + supplier + ";01;F001-102;" + own + "\n" + supplier + ";01;F001-205;" + own + "\n", "",
			"RUC: «RUC» (1), tipo: «Tipo» (2), comprobante: «Comprobante» (3)", "20100070970-01-F001-00000102", ""},
		"rows above the titles":            {"\ufeffEMPRESA SAC;;;\nRUC:;" + own + ";;\nREGISTRO DE COMPRAS;;;\n\nRUC;Tipo;Serie;Número\n" + supplier + ";01;F001;102\n", "", "", "", "los títulos van en la primera línea, y están en la línea 5: borre las de arriba"},
		"no column of the kind":            {"RUC;Serie;Número;Fecha\n" + supplier + ";F001;102;x\n", "", "", "", "falta la columna «tipo»: indíquela con -columna tipo=N; hay: RUC, Serie, Número, Fecha"},
		"no column of the series":          {"RUC;Tipo;N° Documento\n" + supplier + ";01;102\n", "", "", "", "falta la columna «comprobante», o «serie» y «numero»: indíquela con -columna numero=N; hay: RUC, Tipo, N° Documento"},
		"titles that nobody knows, named":  {"A;B;C;D\n" + supplier + ";01;F001;102\n", "emisor=1; tipo=B; serie=3; numero=4", "RUC: «A» (1), tipo: «B» (2), serie: «C» (3), número: «D» (4)", "20100070970-01-F001-00000102", ""},
		"six titles alike":                 {"RUC;Tipo;Serie" + strings.Repeat(";Número", 6) + "\n" + supplier + ";01;F001" + strings.Repeat(";102", 6) + "\n", "", "", "", "«Número» (4) y «Número» (5)"},
		"a kind like a title, no titles":   {supplier + ";Factura;F001-102\n", "", "RUC: columna 1, tipo: columna 2, comprobante: columna 3", "20100070970-01-F001-00000102", ""},
		"without titles, named":            {supplier + ";01;x;F001;102\n", "serie=4; numero=5", "RUC: columna 1, tipo: columna 2, serie: columna 4, número: columna 5", "20100070970-01-F001-00000102", ""},
		"the whole beside the series":      {"ruc;tipo;serie;numero\n" + supplier + ";07;F001;F001-12\n", "", "RUC: «ruc» (1), tipo: «tipo» (2), serie: «serie» (3), número: «numero» (4)", "20100070970-07-F001-00000012", ""},
		"a sign that hides":                {supplier + ";01;F001-\u00001\n", "", "", "", "no se entiende ninguna fila"},
		"a range and a check digit":        {"RUC;Tipo;Serie;Número;Nro Final (Rango)\n" + supplier + ";03;B001;5;9\n20100070907;01;F001;1;\n", "", "RUC: «RUC» (1), tipo: «Tipo» (2), serie: «Serie» (3), número: «Número» (4), último número: «Nro Final (Rango)» (5)", "es un rango de comprobantes: escriba uno en cada línea, un dígito del RUC", ""},
		"no issuer":                        {"tipo;comprobante\n", "", "", "", "falta la columna «rucEmisor»"},
		"a name of no column":              {"RUC\n", "fecha=1", "", "", "-columna es como numero=5"},
		"a position too far":               {"RUC\n", "numero=2", "", "", "-columna va de 1 a 1"},
		"a title twice":                    {"RUC;Número;Número;Tipo\n", "numero=Número", "", "", "hay dos columnas «Número»"},
		"a thousand is not one":            {"RUC;Tipo;Serie;Número\n" + supplier + ";01;F001;1,000\n", "", "RUC: «RUC» (1), tipo: «Tipo» (2), serie: «Serie» (3), número: «Número» (4)", "comprobante «F001-1,000»: escríbalo como F001-00000123", ""},
		"a byte that Windows-1252 has not": {supplier + ";0\x811;F001-102\n" + supplier + ";01;F001-102\n", "", "RUC: columna 1, tipo: columna 2, comprobante: columna 3", "tipo «0�1»: solo se validan 01, 03, 07 y 08, 20100070970-01-F001-00000102", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("FISCOPE_SOL_RUC", own)
			path := filepath.Join(t.TempDir(), "a.csv")
			write(t, path, c.text)
			table, err := readTable(path, "")
			require.NoError(t, err)
			var asked []string
			if c.columns != "" {
				asked = strings.Split(c.columns, "; ")
			}
			found, err := table.findPurchases(asked)
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.understood, table.understood(found))
			var read []string
			for _, r := range table.rows {
				p := found.read(r)
				text := p.receipt.String()
				if p.other {
					text = "no se valida"
				} else if p.wrong != "" {
					text = p.wrong
				}
				if p.soles.Valid {
					text += " " + p.soles.Decimal.String()
				}
				read = append(read, text)
			}
			assert.True(t, strings.HasPrefix(strings.Join(read, ", "), c.receipts), "%q", read)
		})
	}
}

// Each usual title is known, with or without dots, accents and capitals.
func TestUsualTitles(t *testing.T) {
	t.Setenv("FISCOPE_SOL_RUC", own)
	for _, of := range []struct {
		file, column string
		titles       []string
	}{
		{"Nro;Tipo;Serie;%s;RUC\n1;01;F001;102;" + supplier + "\n2;01;F001;205;" + supplier + "\n3;01;F001;99;" + supplier + "\n", "número", []string{
			"Nro Documento", "N° Doc.", "Número Documento", "Num. Doc", "Nro. Doc.", "Número de documento", "N° Comprob.", "Nº Factura", "Numero de Factura",
			"N° Documento", "N° Comprobante", "Correlativo"}},
		{"Serie;Numero;RUC;%s\nF001;102;" + supplier + ";01\n", "tipo", []string{"T.D.", "Tipo Doc.", "Tipo de documento", "Tipo", "Tipo CP/Doc.", "Tipo de comprobante"}},
		{"Serie;Numero;Tipo;%s\nF001;102;01;" + supplier + "\n", "RUC", []string{"RUC", "RUC/DNI", "Nro. Doc.", "N° RUC", "R.U.C.", "RUC Proveedor", "rucEmisor", "Nro Doc Identidad"}},
	} {
		for _, title := range of.titles {
			for _, written := range []string{title, strings.ToUpper(title), strings.ReplaceAll(unaccented.Replace(title), ".", "")} {
				path := filepath.Join(t.TempDir(), "a.csv")
				write(t, path, fmt.Sprintf(of.file, written))
				table, err := readTable(path, "")
				require.NoError(t, err)
				found, err := table.findPurchases(nil)
				require.NoError(t, err, written)
				assert.Contains(t, table.understood(found), of.column+": «"+written+"»")
			}
		}
	}
}
