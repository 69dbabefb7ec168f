package page_test

import (
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
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
