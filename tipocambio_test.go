package fiscope_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestTipoCambioReadsTheContractsRate(t *testing.T) {
	want := &fiscope.TipoCambio{
		Compra: decimal.RequireFromString("3.750"), Venta: decimal.RequireFromString("3.760"),
		Moneda: "USD", Fecha: viernes, Origen: "SBS",
	}
	for op, url := range map[string]string{"tipocambio": "/api/tipocambio?fecha=2026-11-20", "hoy": "/api/tipocambio"} {
		t.Run(op, func(t *testing.T) {
			client, s := answers(t, raw(200, contract(t, "tipocambio_200.json")))
			got, err := client.TipoCambio.Hoy(t.Context())
			if op == "tipocambio" {
				got, err = client.TipoCambio.Consultar(t.Context(), viernes)
			}
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(want, got))
			assert.Equal(t, "3.750", got.Compra.StringFixed(3))
			assert.Equal(t, baseURL+url, s.seen()[len(s.seen())-1].url)
		})
	}
}

func TestTipoCambioRefusesLocallyADateThatIsNone(t *testing.T) {
	for name, fecha := range map[string]fiscope.Fecha{
		"zero": {}, "30 February": fiscope.NewFecha(2026, time.February, 30), "month 13": fiscope.NewFecha(2026, 13, 1), "year 10000": fiscope.NewFecha(10000, time.January, 1),
	} {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, raw(200, price))
			got, err := client.TipoCambio.Consultar(t.Context(), fecha)
			assert.Nil(t, got)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			require.ErrorContains(t, err, "fecha must be a day of the calendar")
			assert.Empty(t, s.seen(), "nothing may be sent")
		})
	}
}

func rates(compra, venta string) string {
	return change(change(price, "3.750", compra), "3.760", venta)
}

// What cannot be is an error, and a warning to a lenient reader. What is missing or unreadable is an error to both.
func TestAnImpossibleRate(t *testing.T) {
	for name, test := range map[string]struct {
		body, says string
		lenient    bool // lenient reading lets it pass
	}{
		"a price":                   {price, "", true},
		"as strings":                {rates(`"3.750"`, `"3.760"`), "", true},
		"as cheap as it may be":     {rates("1", "1.000"), "", true},
		"as dear as it may be":      {rates("9.99", "10"), "", true},
		"as far apart as it may be": {rates("3", "3.300"), "", true},
		"another case":              {change(price, "USD", " usd "), "", true},
		"a lost point":              {rates("3710", "3720"), "compra is 3710 and venta 3720: a dollar costs between 1 and 10 soles", true},
		"... in a string":           {rates(`"3710"`, "3.720"), "between 1 and 10 soles", true},
		"... of venta":              {rates("3.710", "37.20"), "between 1 and 10 soles", true},
		"dollars for a sol":         {rates("0.266", "0.267"), "between 1 and 10 soles", true},
		"a hair below":              {rates("0.999", "1.001"), "between 1 and 10 soles", true},
		"a hair above":              {rates("9.999", "10.001"), "between 1 and 10 soles", true},
		"compra above venta":        {rates("3.761", "3.760"), "compra is 3.761 and venta 3.760: compra is above venta", true},
		"far apart":                 {rates("3.100", "3.411"), "more than 10 % apart", true},
		"another date":              {change(price, "2026-11-20", "2026-11-19"), "asked for the rate of 2026-11-20, the answer is of 2026-11-19", true},
		"another moneda":            {change(price, "USD", "EUR"), `moneda is "EUR", want USD`, true},
		"no compra":                 {change(price, `"compra"`, `"x"`), "compra is missing", false},
		"null venta":                {rates("3.750", "null"), "venta is missing", false},
		"zero":                      {rates("0.000", "3.760"), "compra must be a number above zero", false},
		"below zero":                {rates("3.750", "-3.760"), "venta must be a number above zero", false},
		"in words":                  {rates(`"tres"`, "3.760"), "compra must be a number above zero", false},
		"a truth":                   {rates("true", "3.760"), "compra must be a number above zero", false},
		"digits that fill memory":   {rates("1e999999999", "3.760"), "compra must be a number above zero, of at most 32 characters", false},
		"too many digits":           {rates(strings.Repeat("3", 40), "3.760"), "of at most 32 characters", false},
		"no fecha":                  {change(price, `"fecha":"2026-11-20",`, ""), "fecha is missing", false},
		"null fecha":                {change(price, `"2026-11-20"`, "null"), "fecha is missing", false},
		"empty fecha":               {change(price, "2026-11-20", ""), "fecha is missing", false},
		"a number for a fecha":      {change(price, `"2026-11-20"`, "20261120"), "fecha is not a day of the form YYYY-MM-DD", false},
		"a fecha that is no day":    {change(price, "2026-11-20", "2026-02-30"), "fecha is not a day", false},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(200, test.body))
			_, err := client.TipoCambio.Consultar(t.Context(), viernes)
			if test.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
				require.ErrorContains(t, err, test.says)
			}
			var resp fiscope.Response
			client = newClient(t, raw(200, test.body), fiscope.WithLenientReading())
			_, err = client.TipoCambio.Consultar(t.Context(), viernes, fiscope.WithResponse(&resp))
			if !test.lenient {
				require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
				return
			}
			require.NoError(t, err)
			if test.says == "" {
				assert.Empty(t, resp.Warnings)
			} else {
				require.Len(t, resp.Warnings, 1)
				assert.Contains(t, resp.Warnings[0], test.says)
			}
		})
	}
}

// A rate can be used without its currency's name and its source.
func TestARateWithoutWhatIsOptional(t *testing.T) {
	for name, test := range map[string]struct{ member, with, says, moneda, origen string }{
		"no moneda":            {`"moneda":"USD",`, ``, "moneda is missing", "", "SBS"},
		"null moneda":          {`"USD"`, `null`, "moneda is missing", "", "SBS"},
		"an empty moneda":      {`"USD"`, `""`, "moneda is missing", "", "SBS"},
		"a number for moneda":  {`"USD"`, `840`, "moneda is a JSON number", "840", "SBS"},
		"an object for moneda": {`"USD"`, `{"codigo":"EUR"}`, "moneda is a JSON object", "", "SBS"},
		"no origen":            {`,"origen":"SBS"`, ``, "origen is missing", "USD", ""},
		"a truth for origen":   {`"SBS"`, `true`, "origen is a JSON bool", "USD", "true"},
		"a list for origen":    {`"SBS"`, `["SBS"]`, "origen is a JSON array", "USD", ""},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := answers(t, raw(200, change(price, test.member, test.with)))
			var resp fiscope.Response
			got, err := client.TipoCambio.Consultar(t.Context(), viernes, fiscope.WithResponse(&resp))
			require.NoError(t, err)
			assert.Equal(t, []string{test.says}, resp.Warnings)
			assert.Equal(t, test.moneda, got.Moneda)
			assert.Equal(t, test.origen, got.Origen)
			assert.Equal(t, "3.76", got.Venta.String())
		})
	}
}

func TestTheRateOfAnotherTodayIsWarnedOf(t *testing.T) {
	for today, warned := range map[string]bool{"1999-12-31": false, "2000-01-01": true} {
		synctest.Test(t, func(t *testing.T) { // midnight UTC of 2000-01-01: still 1999 in Lima
			client, _ := answers(t, raw(200, change(price, "2026-11-20", today)))
			var resp fiscope.Response
			_, err := client.TipoCambio.Hoy(t.Context(), fiscope.WithResponse(&resp))
			require.NoError(t, err)
			assert.Equal(t, warned, len(resp.Warnings) == 1, today)
		})
	}
}

func TestTipoCambioKeepsItsZerosInJSON(t *testing.T) {
	rest := `,"moneda":"USD","fecha":"2021-07-01","origen":"SBS"}`
	for stored, want := range map[string]string{
		`{"compra":3.750,"venta":3.760` + rest:     `{"compra":3.750,"venta":3.760` + rest,
		`{"compra":"3.590","venta":"3.600"` + rest: `{"compra":3.590,"venta":3.600` + rest,
		`{"compra":4,"venta":40e-1` + rest:         `{"compra":4,"venta":4.0` + rest,
	} {
		var tc fiscope.TipoCambio
		require.NoError(t, json.Unmarshal([]byte(stored), &tc))
		for _, v := range []any{tc, &tc} {
			got, err := json.Marshal(v)
			require.NoError(t, err)
			assert.Equal(t, want, string(got))
		}
	}
}
