package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
)

func TestTheEndOfTheQuotaIsSurvived(t *testing.T) {
	const total, cuota = 5000, 2000
	b := nuevoBanco(t, "ruc\n"+strings.Join(inventados(total), "\n")+"\n",
		mockserver.WithQuota(cuota), mockserver.WithRegistro(padronInventado{}))
	gastado := func() int { q, _ := b.srv.Quota(b.srv.APIKey); return q.Spent }
	renueva := func() string { q, _ := b.srv.Quota(b.srv.APIKey); return enLima(q.Reset) }

	out, err := b.correr(t.Context())
	require.ErrorIs(t, err, errIncompleto, out)
	assert.Contains(t, out, "Se acabó la cuota del día. Se renueva el "+renueva()+".")
	assert.Contains(t, out, "las 00:00, hora de Lima")
	assert.Contains(t, out, "Van 2 000 de 5 000 RUC y faltan 3 000.")
	assert.Contains(t, out, "repita el mismo comando: lo ya consultado no se vuelve a pagar. A 2 000 por día, son 2 días más.")
	filas := b.filas()
	assert.Len(t, filas, total, "the output has the pending rows too")
	assert.Equal(t, "pendiente", filas[total-1]["consulta"])

	out, err = b.correr(t.Context())
	require.ErrorIs(t, err, errIncompleto, "the same day nothing goes on")
	assert.Contains(t, out, "Se renueva el "+renueva())
	assert.Equal(t, cuota, gastado())

	b.srv.Advance(24 * time.Hour)
	out, err = b.correr(t.Context())
	require.ErrorIs(t, err, errIncompleto, out)
	assert.Contains(t, out, "Hechos 2 000, consultados desde el")
	assert.Contains(t, out, "Con la cuota de un día alcanza.")
	assert.Equal(t, 2*cuota, gastado())

	b.srv.Advance(24 * time.Hour)
	out, err = b.correr(t.Context())
	require.NoError(t, err, out)
	assert.Contains(t, out, "Listo: los 5 000 RUC tienen respuesta.")
	assert.Equal(t, total, gastado(), "no RUC was paid twice")
	filas = b.filas()
	assert.Equal(t, inventados(total), columna(filas, "ruc_consultado"))
	assert.NotContains(t, columna(filas, "consulta"), "pendiente")
}

func TestAQuotaWithoutAResetIsSurvivedToo(t *testing.T) {
	b := nuevoBanco(t, "ruc\n"+strings.Join(inventados(5), "\n"), mockserver.WithQuota(2))
	b.srv.Fault(mockserver.Match{}, mockserver.NoRateLimit)
	out, err := b.correr(t.Context())
	require.ErrorIs(t, err, errIncompleto)
	assert.Contains(t, out, "no dice cuándo se renueva")
}

func TestTheReserveIsLeftToOthers(t *testing.T) {
	b := nuevoBanco(t, strings.Join(inventados(20), "\n"), mockserver.WithQuota(10))
	out, err := b.correr(t.Context(), "-reserva", "4")
	require.ErrorIs(t, err, errIncompleto)
	assert.Contains(t, out, "Se llegó a la reserva: las últimas 4 consultas del día son de otros. Se renueva")
	assert.Contains(t, out, "A 6 por día, son 3 días más.")
	q, _ := b.srv.Quota(b.srv.APIKey)
	assert.Equal(t, 4, q.Remaining)
}

func TestCtrlCLosesNothingThatWasPaid(t *testing.T) {
	b := nuevoBanco(t, strings.Join(inventados(50), "\n"), mockserver.WithRegistro(padronInventado{}))
	retenido := b.srv.Fault(mockserver.Match{Op: mockserver.OpConsultar, Nth: 11}, mockserver.Hold())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, err := b.srv.WaitRequests(t.Context(), mockserver.Filter{Fault: retenido.Name()}, 1)
		assert.NoError(t, err)
		cancel()
		retenido.Release()
	}()
	out, err := b.correr(ctx, "-paralelo", "1")
	require.ErrorIs(t, err, errIncompleto, out)
	assert.Contains(t, out, "Deteniendo: espero lo que ya se pidió")
	assert.Contains(t, out, "Detenido a pedido. Van 11 de 50 RUC y faltan 39.")
	assert.Equal(t, "ok", b.filas()[10]["consulta"], "the answer that was on its way is kept")

	_, err = b.correr(t.Context())
	require.NoError(t, err)
	b.srv.AssertSpent(t, mockserver.Filter{}, 50)
}

func TestAServiceThatNeverAnswersDoesNotHoldCtrlC(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dicho := false
	seguir, soltar := conGracia(ctx, time.Nanosecond, func() { dicho = true })
	require.NoError(t, seguir.Err())
	cancel()
	<-seguir.Done()
	require.ErrorIs(t, context.Cause(seguir), context.Canceled)
	soltar()
	assert.True(t, dicho)
}

func TestTheResetIsShownAsInLima(t *testing.T) {
	assert.Equal(t, "miércoles 3 de febrero de 2027 a las 00:00, hora de Lima", enLima(time.Date(2027, 2, 3, 5, 0, 0, 0, time.UTC)))
	assert.Equal(t, "martes 29 de setiembre de 2026 a las 19:30, hora de Lima", enLima(time.Date(2026, 9, 30, 0, 30, 0, 0, time.UTC)))
	assert.Equal(t, "Se renueva el "+enLima(time.Now().Add(time.Hour))+".",
		cuandoSeguir(&fiscope.Client{}, &fiscope.Error{RetryAfter: time.Hour}))
}
