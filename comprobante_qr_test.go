package fiscope_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

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

func TestAQRInJSON(t *testing.T) {
	q, err := fiscope.ParseQR("20100070970|01|F001|123|18.00|118.00|2026-11-20|6|20131312955|eA==")
	require.NoError(t, err)
	text, err := json.Marshal(q)
	require.NoError(t, err)
	var back fiscope.QR
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, q.Comprobante, back.Comprobante)
	assert.Equal(t, q.Fecha, back.Fecha)
	assert.True(t, q.Total.Equal(back.Total))
}

func FuzzParseQR(f *testing.F) {
	for _, text := range []string{"20100070970|01|F001|123|18.00|118.00|2026-11-20|6|20131312955|eA==|", "|||||||", "20100070970|01|F001|1||0|20/11/2026", "", "|\xff|"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := fiscope.ParseQR(text)
		if err != nil {
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			assert.NotContains(t, err.Error(), "\n")
			return
		}
		assert.True(t, q.Fecha.Valid())
		assert.False(t, q.Total.IsNegative() || q.IGV.IsNegative())
		again, err := fiscope.ParseQR(strings.Join([]string{
			q.Comprobante.RUCEmisor, string(q.Comprobante.Tipo), q.Comprobante.Serie, fmt.Sprint(q.Comprobante.Numero),
			q.IGV.String(), q.Total.String(), q.Fecha.String(), q.TipoDocumento, q.NumeroDocumento, q.ValorResumen,
		}, "|"))
		require.NoError(t, err)
		assert.Equal(t, q.Comprobante, again.Comprobante)
		assert.True(t, q.Total.Equal(again.Total))
		assert.True(t, q.IGV.Equal(again.IGV))
	})
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
