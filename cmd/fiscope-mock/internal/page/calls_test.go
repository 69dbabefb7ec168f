package page_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// A day of tests can make more calls than a page should keep: the newest stay, whatever the order they came in.
func TestCallsAreBounded(t *testing.T) {
	var got struct{ Kept, Newest, Calls, Spent, After int }
	modules(t, mockserver.New(t), `const { Calls } = await import(files + 'calls.js')
		const kept = new Calls()
		const put = (n) => kept.put({ n, op: 'consultar', path: '', matched: true, status: 200, cost: 1 })
		for (let n = 2; n <= 30000; n += 2) { put(n); put(n - 1) }
		put(29999) // again, as its answer comes
		const { shown, sum } = kept.newest({ text: '', op: '', kind: '' }, 200, 0)
		say({ Kept: kept.size, Newest: shown[0].n, Calls: sum.calls, Spent: sum.spent,
			After: kept.newest({ text: '', op: '', kind: '' }, 200, 29990).sum.calls })`, &got)
	assert.LessOrEqual(t, got.Kept, 11_000)
	assert.GreaterOrEqual(t, got.Kept, 10_000)
	assert.Equal(t, 30_000, got.Newest)
	assert.Equal(t, got.Kept, got.Calls)
	assert.Equal(t, got.Kept, got.Spent)
	assert.Equal(t, 10, got.After)
}

// A success that a fault has made false, or cut off, is an error; one that it has only delayed is not.
func TestSpoiltAnswers(t *testing.T) {
	srv := mockserver.New(t)
	receipt := `{"rucEmisor": "20100070970", "tipoComprobante": "01", "serie": "F001", "numero": 123,
		"rucSolicitante": "` + mockserver.RUCSolicitante + `", "usuarioSol": "` + mockserver.UsuarioSOL + `", "claveSol": "` + mockserver.ClaveSOL + `"}`
	asked := map[mockserver.Operation][3]string{
		mockserver.OpConsultar:  {"GET", "contribuyentes/20131312955"},
		mockserver.OpBuscar:     {"GET", "contribuyentes/search?razonSocial=luz"},
		mockserver.OpValidar:    {"POST", "cpe/validar", receipt},
		mockserver.OpTipoCambio: {"GET", "tipocambio?fecha=2026-10-20"},
	}
	type test struct {
		op   mockserver.Operation
		step mockserver.Step
		want bool
	}
	tests := []test{
		{mockserver.OpConsultar, mockserver.HTML200, true},
		{mockserver.OpConsultar, mockserver.Truncated, true},
		{mockserver.OpConsultar, mockserver.EpochReset, false},
		{mockserver.OpConsultar, mockserver.OK, false},
		{mockserver.OpBuscar, mockserver.TrailingData, true},
		{mockserver.OpBuscar, mockserver.OK, false},
		{mockserver.OpValidar, mockserver.ContradictoryCPE, true},
		{mockserver.OpValidar, mockserver.OK, false},
		{mockserver.OpTipoCambio, mockserver.OtherDate, true},
		{mockserver.OpTipoCambio, mockserver.OK, false},
	}
	for _, c := range tests {
		srv.Fault(mockserver.Match{Times: 1}, c.step)
		call(t, srv, asked[c.op][0], asked[c.op][1], asked[c.op][2])
	}
	var got []bool
	modules(t, srv, `const { failed } = await import(files + 'calls.js')
		say(calls.map(failed))`, &got)
	require.Len(t, got, len(tests))
	for i, c := range tests {
		assert.Equal(t, c.want, got[i], "%s: %v", c.op, c.step)
	}
}

// The attempts of a question stand together, at the place of the last one; another call between them waits.
func TestAttemptsStandTogether(t *testing.T) {
	var got struct{ Order, All []int }
	modules(t, mockserver.New(t), `const { Calls } = await import(files + 'calls.js')
		const kept = new Calls()
		const put = (n, more) => kept.put({ n, op: 'consultar', path: '', matched: true, status: 200, cost: 1, ...more })
		put(1); put(2); put(3, { retryOf: 1, attempt: 2 }); put(4); put(5, { retryOf: 1, attempt: 3 })
		say({ Order: kept.newest({ text: '', op: '', kind: '' }, 9, 0).shown.map(({ n }) => n),
			All: [kept.before(kept.of(5)).n, kept.before(kept.of(3)).n, kept.before(kept.of(4))?.n ?? 0] })`, &got)
	assert.Equal(t, []int{5, 3, 1, 4, 2}, got.Order)
	assert.Equal(t, []int{3, 1, 0}, got.All, "the attempt before")
}

// A duration has its unit, and from a second on is in seconds.
func TestDurations(t *testing.T) {
	var got []string
	modules(t, mockserver.New(t), `const { lastedText } = await import(files + 'text.js')
		say([0.04, 9.94, 46.2, 999.4, 999.6, 2900, 61000].map(lastedText))`, &got)
	assert.Equal(t, []string{"0.0 ms", "9.9 ms", "46 ms", "999 ms", "1.0 s", "2.9 s", "61.0 s"}, got)
}
