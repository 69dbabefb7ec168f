package main

import (
	"encoding/json"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func lineaDe(cantidad, valorUnitario string) linea {
	return linea{Cantidad: numero{decimal.RequireFromString(cantidad)}, ValorUnitario: numero{decimal.RequireFromString(valorUnitario)}}
}

func TestTotals(t *testing.T) {
	const venta = "3.716"
	cases := []struct {
		name                   string
		lineas                 []linea
		own, enSoles, enDolars string // valor de venta, IGV and total; then of dollars in soles, and of soles in dollars
	}{
		{"round amounts", []linea{lineaDe("1", "100")}, "100.00 18.00 118.00", "371.60 66.89 438.49", "26.91 4.84 31.75"},
		{"half a céntimo goes up", []linea{lineaDe("1", "0.125")}, "0.13 0.02 0.15", "0.48 0.07 0.55", "0.03 0.01 0.04"},
		{"each line is rounded first", []linea{lineaDe("1", "0.004"), lineaDe("1", "0.004"), lineaDe("1", "1")}, "1.00 0.18 1.18", "3.72 0.67 4.39", "0.27 0.05 0.32"},
		{"1.005 is not 1.00, as a float has it", []linea{lineaDe("1", "1.005")}, "1.01 0.18 1.19", "3.75 0.67 4.42", "0.27 0.05 0.32"},
		{"0.1 and 0.2", []linea{lineaDe("1", "0.1"), lineaDe("1", "0.2")}, "0.30 0.05 0.35", "1.11 0.19 1.30", "0.08 0.01 0.09"},
		{"the largest", []linea{lineaDe("999999999999", "999999999999.9999999999")},
			"999999999998999999999900.00 179999999999819999999982.00 1179999999998819999999882.00",
			"3715999999996283999999628.40 668879999999331119999933.11 4384879999995615119999561.51",
			"269106566199946178686733.05 48439181915990312163611.95 317545748115936490850345.00"},
	}
	text := func(i importes) string {
		return i.valorVenta.StringFixed(2) + " " + i.igv.StringFixed(2) + " " + i.total().StringFixed(2)
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			valores, total, err := totalizar(tc.lineas)
			require.NoError(t, err)
			assert.Len(t, valores, len(tc.lineas))
			assert.Equal(t, tc.own, text(total))
			rate := decimal.RequireFromString(venta)
			assert.Equal(t, tc.enSoles, text(total.aSoles(rate)))
			assert.Equal(t, tc.enDolars, text(total.aDolares(rate)))
		})
	}
	assert.Equal(t, "0.18", tasaIGV.String())
}

func TestNumbersAreReadAsTheyAreWritten(t *testing.T) {
	for _, good := range []string{`1`, `"1.10"`, `0.1`, `333.335`, `999999999999.9999999999`} {
		var n numero
		require.NoError(t, json.Unmarshal([]byte(good), &n), good)
	}
	for _, bad := range []string{`-1`, `1e9`, `"1e999999999"`, `"1,5"`, `""`, `null`, `true`, `[]`, `"1.12345678901"`, `1234567890123`} {
		var n numero
		require.Error(t, json.Unmarshal([]byte(bad), &n), bad)
	}
}
