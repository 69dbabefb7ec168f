package mockserver_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDaysWithoutARate(t *testing.T) {
	srv, api := start(t, frozen(t, "2026-11-20T18:00:00-05:00"))
	require.NoError(t, srv.DeleteTipoCambio("2026-11-16"))
	for name, c := range map[string]struct{ fecha, says string }{
		"saturday":            {"2026-11-14", "sábado"},
		"sunday":              {"2026-11-15", "domingo"},
		"new year":            {"2026-01-01", "Año Nuevo"},
		"good friday":         {"2026-04-03", "Viernes Santo"},
		"holiday since 2022":  {"2024-12-09", "Ayacucho"},
		"tomorrow":            {"2026-11-21", "sábado"},
		"next monday":         {"2026-11-23", "fecha futura"},
		"far future":          {"9999-12-01", "fecha futura"},
		"before the series":   {"2019-12-31", "no tiene ese día"},
		"a deleted day":       {"2026-11-16", "no tiene ese día"},
		"first day of series": {"2020-01-01", "Año Nuevo"},
	} {
		t.Run(name, func(t *testing.T) {
			r := api.get("/api/tipocambio?fecha=" + c.fecha)
			r.isError(t, 404, "NOT_FOUND")
			assert.Contains(t, r.body, c.says)
			assert.Contains(t, r.body, c.fecha)
		})
	}
	assert.Equal(t, 200, api.get("/api/tipocambio?fecha=2021-12-09").status, "a business day before Ley 31381")
	assert.Equal(t, 200, api.get("/api/tipocambio?fecha=2026-11-20").status)
}

func TestRateRefusesOtherForms(t *testing.T) {
	_, api := start(t)
	for name, query := range map[string]string{
		"30 february": "2026-02-30", "29 february of 2026": "2026-02-29", "month 13": "2026-13-01", "day 0": "2026-01-00",
		"slashes": "20/11/2026", "no dashes": "20261120", "short": "2026-1-5", "time": "2026-11-20T00:00:00Z",
		"blank": "+2026-11-20", "empty": "", "word": "hoy", "other digits": "２０２６-11-20", "year 0": "0000-01-01",
	} {
		t.Run(name, func(t *testing.T) {
			r := api.get("/api/tipocambio?fecha=" + query)
			r.isError(t, 400, "INVALID_DATE")
			assert.Contains(t, r.body, "AAAA-MM-DD")
		})
	}
	api.get("/api/tipocambio?fecha=2024-02-29&fecha=2024-03-01").isError(t, 400, "MOCK_REPEATED_PARAM")
	api.get("/api/tipocambio?fecha=%zz").isError(t, 400, "MOCK_INVALID_QUERY")
	long := api.get("/api/tipocambio?fecha=" + strings.Repeat("9", 5000))
	long.isError(t, 400, "INVALID_DATE")
	assert.Less(t, len(long.body), 400)
}

func TestTodayIsPublishedAtFiveInLima(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t)
		waitUntil(t, "2026-11-20T16:59:59-05:00")
		require.NoError(t, srv.PutTipoCambio("2026-11-20", "3.7", "3.80")) // putting it does not publish it
		for _, path := range []string{"/api/tipocambio", "/api/tipocambio?fecha=2026-11-20"} {
			r := api.get(path)
			r.isError(t, 404, "NOT_FOUND")
			assert.Contains(t, r.body, "desde el 2026-11-20 17:00:00 (hora de Lima)")
		}
		assert.Equal(t, 200, api.get("/api/tipocambio?fecha=2026-11-19").status)
		waitUntil(t, "2026-11-20T17:00:00-05:00")
		for _, path := range []string{"/api/tipocambio", "/api/tipocambio?fecha=2026-11-20"} {
			assert.Contains(t, api.get(path).body, `{"compra":3.7,"venta":3.80,`)
		}
	})
}

// Today is Lima's, not the machine's: in UTC it is the next day from 19:00 on.
func TestTodayIsLimas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, api := start(t)
		waitUntil(t, "2026-11-20T01:00:00Z")
		assert.Contains(t, api.get("/api/tipocambio").body, `"fecha":"2026-11-19"`)
		waitUntil(t, "2026-11-20T23:59:59-05:00")
		assert.Contains(t, api.get("/api/tipocambio").body, `"fecha":"2026-11-20"`)
		waitUntil(t, "2026-11-21T00:00:00-05:00")
		r := api.get("/api/tipocambio")
		r.isError(t, 404, "NOT_FOUND")
		assert.Contains(t, r.body, "2026-11-21: es sábado")
	})
}
