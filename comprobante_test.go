package fiscope_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/fiscope/fiscope/mockserver"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestParseSerieNumero(t *testing.T) {
	for name, test := range map[string]struct {
		text, serie string
		numero      int
		printed     string
	}{
		"as printed":             {"F001-00000123", "F001", 123, "F001-00000123"},
		"small letters":          {"f001-00000123", "F001", 123, "F001-00000123"},
		"no zeros":               {"F001-123", "F001", 123, "F001-00000123"},
		"some zeros":             {"F001-000123", "F001", 123, "F001-00000123"},
		"too many zeros":         {"F001-0000000000123", "F001", 123, "F001-00000123"},
		"blanks around":          {"  F001-123\r\n", "F001", 123, "F001-00000123"},
		"blanks inside":          {"F001 - 00000123", "F001", 123, "F001-00000123"},
		"a blank on one side":    {"F001- 123", "F001", 123, "F001-00000123"},
		"a tab":                  {"F001\t-\t123", "F001", 123, "F001-00000123"},
		"a blank that is bound":  {"F001\u00a0-\u00a0123", "F001", 123, "F001-00000123"},
		"a blank in the series":  {"F 001-123", "F001", 123, "F001-00000123"},
		"a blank and no dash":    {"F001 123", "F001", 123, "F001-00000123"},
		"blanks and no dash":     {" f001   00000123 ", "F001", 123, "F001-00000123"},
		"a longer dash":          {"F001–123", "F001", 123, "F001-00000123"},
		"a dash that is bound":   {"F001‑123", "F001", 123, "F001-00000123"},
		"a minus":                {"F001−123", "F001", 123, "F001-00000123"},
		"boleta":                 {"b001-1", "B001", 1, "B001-00000001"},
		"the portal's factura":   {"E001-7", "E001", 7, "E001-00000007"},
		"the portal's boleta":    {"eb01-7", "EB01", 7, "EB01-00000007"},
		"letters in the series":  {"fa9z-1", "FA9Z", 1, "FA9Z-00000001"},
		"on paper":               {"0001-000123", "0001", 123, "0001-00000123"},
		"on paper, without dash": {"0001 000123", "0001", 123, "0001-00000123"},
		"a short series":         {"1-1", "1", 1, "1-00000001"},
		"a series as written":    {"F1-1", "F1", 1, "F1-00000001"},
		"the lowest":             {"F001-00000001", "F001", 1, "F001-00000001"},
		"the highest":            {"F001-99999999", "F001", 99_999_999, "F001-99999999"},
	} {
		t.Run(name, func(t *testing.T) {
			serie, numero, err := fiscope.ParseSerieNumero(test.text)
			require.NoError(t, err)
			assert.Equal(t, test.serie, serie)
			assert.Equal(t, test.numero, numero)
			assert.Equal(t, test.printed, fiscope.Comprobante{Serie: serie, Numero: numero}.SerieNumero())
		})
	}
}

func TestParseSerieNumeroRefuses(t *testing.T) {
	const (
		noDash = "a dash must separate the series from the number"
		series = "the series must be 1 to 4 letters and digits"
		number = "the number must be digits and nothing else"
		bounds = "the number must be 1 to 99999999"
	)
	for name, test := range map[string]struct{ text, says string }{
		"empty":                      {"", noDash},
		"blanks":                     {"   ", noDash},
		"one word":                   {"F00100000123", noDash},
		"a series alone":             {"F001", noDash},
		"three words":                {"F 001 123", noDash},
		"a slash":                    {"F001/123", noDash},
		"no series":                  {"-123", series},
		"a dash alone":               {"-", series},
		"five letters and digits":    {"F0001-123", series},
		"five with a blank":          {"F0 001-123", series},
		"an Ñ":                       {"FÑ1-123", series},
		"another alphabet's F":       {"Ｆ001-123", series},
		"a dotless i":                {"ı001-123", series},
		"a long s":                   {"ſ001-123", series},
		"a mark before it":           {"\ufeffF001-123", series},
		"invalid UTF-8":              {"F\xff1-123", series},
		"no number":                  {"F001-", number},
		"no number but blanks":       {"F001-  ", number},
		"two dashes":                 {"F001--123", number},
		"a kind before it":           {"01-F001-123", number},
		"a blank in the number":      {"F001-0000 0123", number},
		"another number after it":    {"F001-123 124", number},
		"a sign":                     {"F001-+123", number},
		"a point":                    {"F001-123.0", number},
		"letters in the number":      {"F001-12A", number},
		"arabic digits":              {"F001-١٢٣", number},
		"no number, in words":        {"F001 A", number},
		"zero":                       {"F001-0", bounds},
		"zeros":                      {"F001-00000000", bounds},
		"nine digits":                {"F001-100000000", bounds},
		"more than an int can count": {"F001-" + strings.Repeat("9", 30), bounds},
	} {
		t.Run(name, func(t *testing.T) {
			serie, numero, err := fiscope.ParseSerieNumero(test.text)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			assert.ErrorContains(t, err, "fiscope: invalid request: ")
			assert.ErrorContains(t, err, "as in F001-00000123: "+test.says)
			assert.NotEqual(t, fiscope.TextoParaUsuario(fiscope.ErrInvalidRequest), fiscope.TextoParaUsuario(err), "it says what to write")
			assert.Empty(t, serie)
			assert.Zero(t, numero)
		})
	}
}

func TestComprobantePrints(t *testing.T) {
	assert.Equal(t, "20100070970-01-F001-00000123", factura.String())
	assert.Equal(t, "F001-00000123", factura.SerieNumero())
	assert.Equal(t, "F001-123456789", fiscope.Comprobante{Serie: "F001", Numero: 123_456_789}.SerieNumero(), "nothing is cut off")
}

func TestParseComprobante(t *testing.T) {
	for name, text := range map[string]string{
		"as String writes it":         "20100070970-01-F001-00000123",
		"the file":                    "20100070970-01-F001-00000123.xml",
		"the archive":                 "20100070970-01-F001-00000123.zip",
		"in capitals":                 "20100070970-01-F001-00000123.XML",
		"the authority's answer":      "R-20100070970-01-F001-00000123.zip",
		"... without its archive":     "R-20100070970-01-F001-00000123.xml",
		"... as some systems do":      "r-20100070970-01-f001-00000123.Xml",
		"no zeros":                    "20100070970-01-F001-123.xml",
		"small letters":               "20100070970-01-f001-123",
		"in a folder":                 "/cpe/2026-11/20100070970-01-F001-00000123.xml",
		"in a folder of Windows":      `C:\CPE\20100070970-01-F001-00000123.xml`,
		"blanks around it":            "  20100070970-01-F001-00000123.xml\r\n",
		"in a folder with its dashes": "a-b-c/20100070970-01-F001-00000123.xml",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := fiscope.ParseComprobante(text)
			require.NoError(t, err)
			assert.Equal(t, factura, c)
		})
	}
	_, err := fiscope.ParseComprobante("20100070970-01-F001-00000123.pdf")
	require.EqualError(t, err, "fiscope: invalid request: not the name of a receipt's file: it must end in .xml or .zip")
	_, err = fiscope.ParseComprobante("factura.pdf")
	require.ErrorContains(t, err, ".xml or .zip")
	assert.Contains(t, fiscope.TextoParaUsuario(err), "escríbalo como 20100070970-01-F001-123")
	_, err = fiscope.ParseQR("F001-123")
	assert.Contains(t, fiscope.TextoParaUsuario(err), "escríbalo como 20100070970-01-F001-123")
	for _, c := range []fiscope.Comprobante{
		{RUCEmisor: rucEmisor, Tipo: fiscope.TipoBoleta, Serie: "B001", Numero: 1},
		{RUCEmisor: rucEmisor, Tipo: fiscope.TipoNotaCredito, Serie: "FC01", Numero: 99_999_999},
		{RUCEmisor: rucEmisor, Tipo: fiscope.TipoNotaDebito, Serie: "E001", Numero: 7},
		{RUCEmisor: rucEmisor, Tipo: fiscope.TipoFactura, Serie: "0001", Numero: 12},
	} {
		for _, text := range []string{c.String(), c.String() + ".xml", "R-" + c.String() + ".zip"} {
			got, err := fiscope.ParseComprobante(text)
			require.NoError(t, err)
			assert.Equal(t, c, got)
		}
	}
}

func TestParseComprobanteRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                "",
		"an extension":           ".xml",
		"an answer to nothing":   "R-",
		"a series and a number":  "F001-00000123",
		"no number":              "20100070970-01-F001.xml",
		"no kind":                "20100070970-F001-00000123",
		"a RUC of ten digits":    "2010007097-01-F001-00000123.xml",
		"a RUC with a letter":    "2010007097O-01-F001-00000123.xml",
		"a daily summary":        "20100070970-RC-20261120-1.xml",
		"a cancellation":         "20100070970-RA-20261120-001.zip",
		"a waybill":              "20100070970-09-T001-00000123.xml",
		"a kind without its 0":   "20100070970-1-F001-00000123.xml",
		"a long series":          "20100070970-01-F0001-00000123.xml",
		"number zero":            "20100070970-01-F001-00000000.xml",
		"a number of nine":       "20100070970-01-F001-100000000.xml",
		"a blank in the series":  "20100070970-01-F 001-00000123.xml",
		"... and another dash":   "20100070970-01-F 001–123.xml",
		"blanks and four parts":  "20100070970-01-F 0 0 1-123",
		"a copy":                 "20100070970-01-F001-00000123 (1).xml",
		"something after it":     "20100070970-01-F001-00000123-firmado.xml",
		"another extension":      "20100070970-01-F001-00000123.pdf",
		"two extensions":         "20100070970-01-F001-00000123.xml.zip",
		"an answer to an answer": "R-R-20100070970-01-F001-00000123.zip",
		"a folder alone":         "20100070970-01-F001-00000123.xml/",
		"invalid UTF-8":          "20100070970-01-F\xff01-00000123.xml",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := fiscope.ParseComprobante(text)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			assert.Zero(t, c)
			assert.NotContains(t, err.Error(), rucEmisor)
			assert.NotContains(t, err.Error(), "\n")
			assert.Less(t, len(err.Error()), 250)
		})
	}
}

func TestParseComprobanteNamesAKindThatCannotBeValidated(t *testing.T) {
	_, err := fiscope.ParseComprobante("20100070970-RC-20261120-1.xml")
	require.EqualError(t, err, `fiscope: invalid request: tipoComprobante must be 01, 03, 07 or 08: it is "RC"`)
}

func TestValidarComprobante(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fiscope.Comprobante)
		field  string
	}{
		"a good one":         {func(*fiscope.Comprobante) {}, ""},
		"a RUC of 10 digits": {func(c *fiscope.Comprobante) { c.RUCEmisor = "2010007097" }, "rucEmisor"},
		"a mistyped RUC":     {func(c *fiscope.Comprobante) { c.RUCEmisor = "20100070971" }, "rucEmisor"},
		"a kind":             {func(c *fiscope.Comprobante) { c.Tipo = "14" }, "tipoComprobante"},
		"a series":           {func(c *fiscope.Comprobante) { c.Serie = "f001" }, "serie"},
		"no number":          {func(c *fiscope.Comprobante) { c.Numero = 0 }, "numero"},
		"a long number":      {func(c *fiscope.Comprobante) { c.Numero = 100_000_000 }, "numero"},
	} {
		t.Run(name, func(t *testing.T) {
			receipt := factura
			c.change(&receipt)
			err := fiscope.ValidarComprobante(receipt)
			if c.field == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			var e *fiscope.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.field, e.Field)
		})
	}
}

func TestAdvertencia(t *testing.T) {
	const (
		electronicFactura = "F001 FA9Z FFFF F999 E001"
		electronicBoleta  = "B001 BA9Z BBBB B999 EB01"
		paper             = "1 12 001 0001"
		others            = "E002 EB02 T001 R001 S001 EA01 F01 B01 F B F1 f001 b001 F0001 00001 F-01 -"
	)
	for name, test := range map[string]struct {
		tipo        fiscope.TipoComprobante
		usual, odd  string
		wants, code string
	}{
		"factura":         {fiscope.TipoFactura, electronicFactura + " " + paper, electronicBoleta + " " + others, "se espera F y tres más, o E001, o de 1 a 4 dígitos", "01"},
		"boleta":          {fiscope.TipoBoleta, electronicBoleta + " " + paper, electronicFactura + " " + others, "se espera B y tres más, o EB01, o de 1 a 4 dígitos", "03"},
		"nota de crédito": {fiscope.TipoNotaCredito, electronicFactura + " " + electronicBoleta + " " + paper, others, "se espera F o B y tres más, o E001 o EB01, o", "07"},
		"nota de débito":  {fiscope.TipoNotaDebito, electronicFactura + " " + electronicBoleta + " " + paper, others, "se espera F o B y tres más, o E001 o EB01, o", "08"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, serie := range strings.Fields(test.usual) {
				assert.Empty(t, fiscope.Comprobante{Tipo: test.tipo, Serie: serie}.Advertencia(), serie)
			}
			for _, serie := range append(strings.Fields(test.odd), "", "F001\n") {
				got := fiscope.Comprobante{Tipo: test.tipo, Serie: serie}.Advertencia()
				assert.Contains(t, got, "no es usual para tipoComprobante "+test.code+": "+test.wants, serie)
				assert.NotContains(t, got, "\n")
			}
		})
	}
	assert.Equal(t, `tipoComprobante no es 01, 03, 07 ni 08: es "02"`, fiscope.Comprobante{Tipo: "02", Serie: "F001"}.Advertencia())
	assert.NotContains(t, fiscope.Comprobante{Tipo: "01", Serie: rucEmisor}.Advertencia(), rucEmisor[:6])
}

func TestParseQR(t *testing.T) {
	const digest = "xMLFMnbgp1/bHEy572RKRTE9hPY="
	for name, test := range map[string]struct {
		text             string
		igv, total, date string
		tipo, documento  string
		digest           string
	}{
		"as the annex has it":        {"20100070970|01|F001|00000123|18.00|118.00|2026-11-20|6|20131312955|" + digest, "18.00", "118.00", "2026-11-20", "6", "20131312955", digest},
		"with a bar at its end":      {"20100070970|01|F001|00000123|18.00|118.00|2026-11-20|6|20131312955|" + digest + "|", "18.00", "118.00", "2026-11-20", "6", "20131312955", digest},
		"with the signature":         {"20100070970|01|F001|123|18.00|118.00|2026-11-20|6|20131312955|" + digest + "|bGFyZ28=", "18.00", "118.00", "2026-11-20", "6", "20131312955", digest},
		"with blanks":                {"20100070970 | 01 | F001 | 000123 | 18.000000000000 | 118.0 | 20/11/2026 | 6 | 20131312955 | " + digest + " |\n", "18", "118", "2026-11-20", "6", "20131312955", digest},
		"with the day first":         {"20100070970|01|F001|123|18.00|118.00|03-04-2026|1|12345678|", "18.00", "118.00", "2026-04-03", "1", "12345678", ""},
		"without a digest":           {"20100070970|01|F001|123|18.00|118.00|2026-11-20|1|12345678", "18.00", "118.00", "2026-11-20", "1", "12345678", ""},
		"without a buyer":            {"20100070970|01|F001|123|0.00|5.50|2026-11-20|||" + digest, "0", "5.50", "2026-11-20", "", "", digest},
		"a buyer without a document": {"20100070970|01|F001|123|0|5.5|2026-11-20|-|-|" + digest, "0", "5.5", "2026-11-20", "-", "-", digest},
		"without IGV":                {"20100070970|01|F001|123||5.50|2026-11-20", "0", "5.50", "2026-11-20", "", "", ""},
		"small letters":              {"20100070970|01|f001|123|0.90|5.90|2026-11-20", "0.9", "5.9", "2026-11-20", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := fiscope.ParseQR(test.text)
			require.NoError(t, err)
			assert.Equal(t, factura, q.Comprobante)
			assert.Equal(t, decimal.RequireFromString(test.igv).String(), q.IGV.String())
			assert.Equal(t, decimal.RequireFromString(test.total).String(), q.Total.String())
			assert.Equal(t, test.date, q.Fecha.String())
			assert.Equal(t, []string{test.tipo, test.documento, test.digest}, []string{q.TipoDocumento, q.NumeroDocumento, q.ValorResumen})
		})
	}
	t.Run("of a credit note", func(t *testing.T) {
		q, err := fiscope.ParseQR("20100070970|07|FC01|45|1.80|11.80|2026-11-20|6|20131312955|")
		require.NoError(t, err)
		assert.Equal(t, "20100070970-07-FC01-00000045", q.Comprobante.String())
	})
}

func TestParseQRRefuses(t *testing.T) {
	const good = "20100070970|01|F001|123|18.00|118.00|2026-11-20|1|12345678|"
	with := func(field int, text string) string {
		fields := strings.Split(good, "|")
		fields[field] = text
		return strings.Join(fields, "|")
	}
	for name, test := range map[string]struct{ text, says string }{
		"nothing":                      {"", "7 fields or more"},
		"an address":                   {"https://example.com/cpe?id=1", "7 fields or more"},
		"six fields":                   {"20100070970|01|F001|123|18.00|118.00", "7 fields or more"},
		"other bars":                   {strings.ReplaceAll(good, "|", ";"), "7 fields or more"},
		"a RUC of ten digits":          {with(0, "2010007097"), "rucEmisor"},
		"no RUC":                       {with(0, ""), "rucEmisor"},
		"a kind that is not validated": {with(1, "09"), "tipoComprobante"},
		"a kind in words":              {with(1, "FACTURA"), "tipoComprobante"},
		"no series":                    {with(2, ""), "series"},
		"the number with the series":   {with(2, "F001-123"), "number"},
		"no number":                    {with(3, ""), "number"},
		"number zero":                  {with(3, "0"), "number"},
		"an IGV in words":              {with(4, "dieciocho"), "IGV"},
		"an IGV below zero":            {with(4, "-18.00"), "IGV"},
		"no total":                     {with(5, ""), "total"},
		"a currency":                   {with(5, "S/ 118.00"), "total"},
		"thousands":                    {with(5, "1,118.00"), "total"},
		"a decimal comma":              {with(5, "118,00"), "total"},
		"an exponent":                  {with(5, "1e9"), "total"},
		"not a number":                 {with(5, "NaN"), "total"},
		"a total without end":          {with(5, strings.Repeat("9", 1<<20)), "total"},
		"a total that is a point":      {with(5, "."), "total"},
		"no date":                      {with(6, ""), "date"},
		"30 February":                  {with(6, "2026-02-30"), "date"},
		"30 February, day first":       {with(6, "30/02/2026"), "date"},
		"the month first":              {with(6, "11/20/2026"), "date"},
		"a short year":                 {with(6, "20/11/26"), "date"},
		"an hour":                      {with(6, "2026-11-20T10:00:00"), "date"},
		"a blank in the series":        {with(2, "F 001"), "series"},
		"a line break in the series":   {with(2, "F0\n01"), "line break"},
		"... in the buyer's document":  {with(8, "1234\r5678"), "line break"},
		"two codes":                    {good + "eA==\r\n" + good, "line break"},
		"two codes with signatures":    {good + "eA==|eA==\n" + good, "line break"},
		"an IGV above the total":       {with(4, "118.01"), "above its total"},
		"a total that is a document":   {with(5, "12345678X"), "total"},
		"a date that is a document":    {with(6, "12345678"), "date"},
		"an IGV that is a document":    {with(4, "X12345678"), "IGV"},
		"a kind that is a document":    {with(1, "12345678"), "tipoComprobante"},
		"a series that is a document":  {with(2, "12345678"), "series"},
		"no IGV and no date":           {"20100070970|01|F001|123|118.00|1|12345678|eA==", "above its total"},
		"fields that moved":            {"20100070970|01|F001-123|18.00|118.00|2026-11-20|1|12345678|", "number"},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := fiscope.ParseQR(test.text)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			require.ErrorContains(t, err, test.says)
			assert.Zero(t, q)
			assert.Less(t, len(err.Error()), 250)
			for _, private := range []string{"2010007", "1234567", "\n"} {
				assert.NotContains(t, err.Error(), private)
			}
		})
	}
}

func ExampleParseQR() {
	srv := server()
	defer srv.Close()
	client := srv.Client()
	defer func() { _ = client.Close(context.Background()) }()

	q, err := fiscope.ParseQR("20100070970|01|F001|00000123|18.00|118.00|2026-11-20|6|20131312955|xMLFMnbgp1/bHEy572RKRTE9hPY=|")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q.Comprobante.SerieNumero(), q.Total.StringFixed(2), q.Fecha)
	v, err := client.CPE.Validar(context.Background(), q.Comprobante, fiscope.CredencialesSOL{
		RUC:     mockserver.RUCSolicitante,
		Usuario: mockserver.UsuarioSOL,
		Clave:   fiscope.NewSecreto(mockserver.ClaveSOL),
	})
	fmt.Println(v.Estado, err)
	// Output:
	// F001-00000123 118.00 2026-11-20
	// Aceptado <nil>
}
