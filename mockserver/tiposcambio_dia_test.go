package mockserver_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A month's days are what the operation answers at the same time, and in its words.
func TestTiposCambioAreWhatIsAnswered(t *testing.T) {
	for _, now := range []string{"2026-11-20T16:59:59-05:00", "2026-11-20T17:00:00-05:00", "2020-01-31T23:00:00-05:00"} {
		t.Run(now, func(t *testing.T) {
			srv, api := start(t, frozen(t, now))
			require.NoError(t, srv.PutTipoCambio("2026-11-17", "3.7500", "4"))
			require.NoError(t, srv.PutTipoCambio("2026-11-30", "3.9", "3.91"))
			require.NoError(t, srv.DeleteTipoCambio("2026-11-18"))
			at := srv.Now().In(fiscope.Lima)
			for day := fiscope.NewFecha(at.Year(), at.Month(), 1); day.Month() == at.Month(); day = day.SumarDias(1) {
				d := srv.Control().TipoCambio(day)
				require.Equal(t, day.String(), d.Fecha)
				answer := api.get("/api/tipocambio?fecha=" + d.Fecha)
				if d.Why == "" {
					assert.Equal(t, 200, answer.status, answer.body)
					assert.Contains(t, answer.body, `"compra":`+d.Compra.String()+`,"venta":`+d.Venta.String()+`,`)
				} else {
					answer.isError(t, 404, "NOT_FOUND")
					assert.Equal(t, "no hay tipo de cambio del "+d.Fecha+": "+d.Why+" (docs/contract.md, 4.4)", answer.object(t)["error"])
					assert.Empty(t, d.Compra+d.Venta, d.Fecha)
				}
				assert.Equal(t, slices.Contains([]string{"2026-11-17", "2026-11-18", "2026-11-30"}, d.Fecha), d.Put, d.Fecha)
			}
		})
	}
}

func TestWhyADayHasNoRate(t *testing.T) {
	srv, _ := start(t, frozen(t, "2026-11-20T16:59:00-05:00"))
	require.NoError(t, srv.DeleteTipoCambio("2026-11-18"))
	for fecha, why := range map[string]string{
		"2026-11-01": "es feriado nacional, Todos los Santos; use el último día hábil anterior",
		"2026-11-07": "es sábado; use el último día hábil anterior",
		"2026-11-08": "es domingo; use el último día hábil anterior",
		"2026-11-18": "este servidor de pruebas no tiene ese día: se le quitó; use otro día hábil",
		"2026-11-19": "",
		"2026-11-20": "todavía no se publica; consulte desde el 2026-11-20 17:00:00 (hora de Lima)",
		"2026-11-23": "es una fecha futura; hoy en Lima es 2026-11-20",
		"2019-12-31": "este servidor de pruebas no tiene ese día: los suyos empiezan el 2020-01-02; use otro día hábil",
	} {
		day, err := fiscope.ParseFecha(fecha)
		require.NoError(t, err)
		assert.Equal(t, why, srv.Control().TipoCambio(day).Why, fecha)
	}
	srv, _ = start(t, frozen(t, "2026-11-20T16:59:00-05:00"), mockserver.WithoutDefaultData())
	assert.Equal(t, "este servidor de pruebas no tiene ese día; use otro día hábil", srv.Control().TipoCambio(fiscope.NewFecha(2026, time.November, 19)).Why)
}
