package fiscope_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

func TestTipoCambioReadsTheContractsRate(t *testing.T) {
	want := &fiscope.TipoCambio{
		Compra: decimal.RequireFromString("3.750"),
		Venta:  decimal.RequireFromString("3.760"),
		Moneda: "USD",
		Fecha:  viernes,
		Origen: "SBS",
	}
	t.Run("of a date", func(t *testing.T) {
		client, s := answers(t, raw(200, contract(t, "tipocambio_200.json")))
		got, err := client.TipoCambio.Consultar(t.Context(), viernes)
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(want, got))
		assert.Equal(t, "3.750", got.Compra.StringFixed(3))
		require.Len(t, s.seen(), 1)
		assert.Equal(t, baseURL+"/api/tipocambio?fecha=2026-11-20", s.seen()[0].url)
	})
	t.Run("of today", func(t *testing.T) {
		client, s := answers(t, raw(200, contract(t, "tipocambio_200.json")))
		got, err := client.TipoCambio.Hoy(t.Context())
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(want, got))
		require.Len(t, s.seen(), 1)
		assert.Equal(t, baseURL+"/api/tipocambio", s.seen()[0].url)
	})
}

func TestTipoCambioRefusesLocallyADateThatIsNone(t *testing.T) {
	for name, fecha := range map[string]fiscope.Fecha{
		"zero":        {},
		"30 February": fiscope.NewFecha(2026, time.February, 30),
		"month 13":    fiscope.NewFecha(2026, 13, 1),
		"year 10000":  fiscope.NewFecha(10000, time.January, 1),
	} {
		t.Run(name, func(t *testing.T) {
			client, s := answers(t, raw(200, contract(t, "tipocambio_200.json")))
			got, err := client.TipoCambio.Consultar(t.Context(), fecha)
			assert.Nil(t, got)
			require.ErrorIs(t, err, fiscope.ErrInvalidRequest)
			assert.ErrorContains(t, err, "fecha must be a day of the calendar")
			assert.Empty(t, s.seen(), "nothing may be sent")
		})
	}
}

func TestTipoCambioKeepsItsZerosInJSON(t *testing.T) {
	for name, test := range map[string]struct{ stored, want string }{
		"of the contract": {contract(t, "tipocambio_200.json"), `{"compra":3.750,"venta":3.760,"moneda":"USD","fecha":"2026-11-20","origen":"SBS"}`},
		"as strings":      {`{"compra":"3.590","venta":"3.600","moneda":"USD","fecha":"2021-07-01","origen":"SBS"}`, `{"compra":3.590,"venta":3.600,"moneda":"USD","fecha":"2021-07-01","origen":"SBS"}`},
		"whole numbers":   {`{"compra":4,"venta":40e-1,"moneda":"USD","fecha":"2021-07-01","origen":"SBS"}`, `{"compra":4,"venta":4.0,"moneda":"USD","fecha":"2021-07-01","origen":"SBS"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var tc fiscope.TipoCambio
			require.NoError(t, json.Unmarshal([]byte(test.stored), &tc))
			for _, v := range []any{tc, &tc} {
				got, err := json.Marshal(v)
				require.NoError(t, err)
				assert.Equal(t, test.want, string(got))
			}
		})
	}
}

func TestTipoCambioDoesNotWriteADecimalThatFillsTheMemory(t *testing.T) {
	tc := fiscope.TipoCambio{Compra: decimal.New(1, 1<<30), Venta: decimal.New(1, -1<<30)}
	_, err := json.Marshal(tc)
	require.Error(t, err)
}

// A decimal of a megabyte of digits takes seconds to make.
func TestALongRateIsRefusedAtOnce(t *testing.T) {
	digits := strings.Repeat("7", 1<<20-200)
	for name, rate := range map[string]string{
		"a whole number": digits,
		"a fraction":     "3." + digits,
		"a string":       `"` + digits + `"`,
		"an exponent":    "3e" + digits,
		"a tiny one":     "0." + strings.Repeat("0", len(digits)) + "7",
	} {
		for _, of := range []string{"3.750", "3.760"} {
			t.Run(name+" for "+of, func(t *testing.T) {
				client, _ := answers(t, raw(200, change(price, of, rate)))
				started := time.Now()
				_, err := client.TipoCambio.Consultar(t.Context(), viernes)
				assert.Less(t, time.Since(started), time.Second)
				require.ErrorIs(t, err, fiscope.ErrMalformedResponse)
				assert.ErrorContains(t, err, "too many digits")
			})
		}
	}
}
