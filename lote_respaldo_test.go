package fiscope_test

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// fromRespaldo are the positions whose lines the Respaldo answered.
func fromRespaldo(lines []line) []int {
	var marked []line
	for _, l := range lines {
		if l.Response.FromRespaldo {
			marked = append(marked, l)
		}
	}
	return positions(marked)
}

// An outage, or a spent quota, is noticed although the Respaldo answers.
func TestABatchWithARespaldo(t *testing.T) {
	type answer = func(*http.Request) (*http.Response, error)
	down, spent := raw(501, ""), raw(429, "")
	for name, test := range map[string]struct {
		fails    func(n int) bool // inputs at which the service does
		how      answer
		lacks    int // the RUC that the Respaldo lacks
		most     int // MaxFailures
		lines    int
		marked   []int
		stopped  error // nil for the end of the inputs
		next     int
		recorded int
	}{
		"nothing fails":                         {func(int) bool { return false }, down, -1, 3, 20, nil, nil, 20, 20},
		"failures that others come between":     {func(n int) bool { return n%3 > 0 }, down, -1, 3, 20, []int{1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19}, nil, 20, 7},
		"an outage":                             {func(n int) bool { return n >= 5 }, down, -1, 3, 8, []int{5, 6, 7}, fiscope.ErrUnavailable, 5, 5},
		"an outage from the beginning":          {func(int) bool { return true }, down, -1, 3, 3, []int{0, 1, 2}, fiscope.ErrUnavailable, 0, 0},
		"... with one that the Respaldo lacks":  {func(n int) bool { return n >= 5 }, down, 6, 3, 8, []int{5, 7}, fiscope.ErrUnavailable, 5, 5},
		"an outage to the end of the inputs":    {func(n int) bool { return n >= 5 }, down, -1, -1, 20, upTo(5, 20), nil, 20, 5},
		"a spent quota":                         {func(n int) bool { return n >= 5 }, spent, -1, 3, 8, []int{5, 6, 7}, fiscope.ErrQuotaExceeded, 5, 5},
		"a spent quota to the end":              {func(n int) bool { return n >= 5 }, spent, -1, -1, 20, upTo(5, 20), nil, 20, 5},
		"... until one that the Respaldo lacks": {func(n int) bool { return n >= 5 }, spent, 9, -1, 9, upTo(5, 9), fiscope.ErrQuotaExceeded, 5, 5},
	} {
		for by, shared := range alone {
			t.Run(name+", "+by, func(t *testing.T) {
				p := newPadron(t)
				at := map[string]int{}
				for n := range 20 {
					at[ruc(n)] = n
				}
				p.answer = func(ruc string, _ int) (*http.Response, error) {
					if test.fails(at[ruc]) {
						return test.how(nil)
					}
					return nil, nil
				}
				reserve := registro(func(_ context.Context, r string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
					if r == ruc(test.lacks) {
						return nil, jueves, fiscope.ErrNotFound
					}
					c := archived(r)
					return &c, jueves, nil
				})
				n := &notes{}
				client := newClient(t, p, append(slices.Clone(shared), fiscope.WithRetry(noRetries()), fiscope.WithoutQuotaGate())...)
				policy := fiscope.LotePolicy{Concurrency: 1, MaxFailures: test.most, Progress: n}
				lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(20), policy, fiscope.WithRespaldo(reserve)))
				assert.Len(t, lines, test.lines)
				assert.Equal(t, test.marked, fromRespaldo(lines))
				for _, l := range lines {
					assert.Equal(t, l.err == nil, l.Resultado != nil)
					if l.Response.FromRespaldo {
						want := archived(l.Entrada)
						assert.Empty(t, cmp.Diff(&want, l.Resultado))
						assert.Equal(t, jueves, l.Response.FechaRespaldo)
					}
				}
				if test.stopped == nil {
					assert.Nil(t, stopped)
				} else {
					require.NotNil(t, stopped)
					require.ErrorIs(t, stopped, test.stopped)
					assert.Equal(t, test.next, stopped.Posicion)
				}
				assert.Len(t, n.recorded, test.recorded)
				assert.EqualValues(t, len(test.marked), client.Stats().Respaldo)
			})
		}
	}
}

func TestWhatARespaldoAnsweredIsAskedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = aSecond
		p.answer = func(r string, n int) (*http.Response, error) {
			if r == ruc(1) && n == 1 {
				return raw(501, "")(nil)
			}
			return nil, nil
		}
		var asked atomic.Int64
		client := newClient(t, p, fiscope.WithRespaldo(registro(func(_ context.Context, ruc string) (*fiscope.Contribuyente, fiscope.Fecha, error) {
			asked.Add(1)
			c := archived(ruc)
			c.Condicion = "" // which is warned of
			return &c, jueves, nil
		})))
		inputs := []string{ruc(0), ruc(1), ruc(1), ruc(2), ruc(3), ruc(1)} // the last when the others were answered
		lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), fiscope.LotePolicy{Concurrency: 2}))
		require.Nil(t, stopped)
		require.Len(t, lines, 6)
		assert.Equal(t, []int{1, 2}, fromRespaldo(lines))
		var marked []line
		for _, l := range lines {
			if l.Response.FromRespaldo {
				marked = append(marked, l)
			}
		}
		assert.True(t, marked[1].Repetido)
		assert.Empty(t, cmp.Diff(marked[0].Resultado, marked[1].Resultado))
		assert.NotSame(t, marked[0].Resultado, marked[1].Resultado)
		assert.Equal(t, jueves, marked[1].Response.FechaRespaldo)
		assert.Equal(t, marked[0].Response.Warnings, marked[1].Response.Warnings)
		assert.Len(t, marked[1].Response.Warnings, 1)
		assert.Equal(t, 2, p.asked[ruc(1)])
		assert.EqualValues(t, 1, asked.Load())
	})
}

// One query goes at a time until the service answered one: what the Respaldo has does not count.
func TestAnAnswerOfTheRespaldoDoesNotShowThatTheServiceWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = aSecond
		p.answer = func(string, int) (*http.Response, error) { return raw(501, "")(nil) }
		var asked atomic.Int64
		client := newClient(t, p, fiscope.WithRespaldo(padronDelJueves(&asked)))
		lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(50), fiscope.LotePolicy{}))
		require.ErrorIs(t, stopped, fiscope.ErrUnavailable)
		assert.Len(t, lines, 20)
		assert.Equal(t, 1, p.highest)
	})
}

// A service that asks for a slower pace can be asked: the Respaldo answers once it has not for five times.
func TestARespaldoDoesNotAnswerForAServiceThatAsksForASlowerPace(t *testing.T) {
	for name, test := range map[string]struct {
		throttled int // how often
		marked    []int
		pauses    time.Duration
	}{
		"once":        {1, nil, 20 * time.Second},
		"without end": {100, []int{1}, 4 * 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPadron(t)
				p.answer = func(r string, n int) (*http.Response, error) {
					if r == ruc(1) && n <= test.throttled {
						return raw(429, "", "Retry-After: 20")(nil)
					}
					return nil, nil
				}
				var asked atomic.Int64
				start := time.Now()
				client := newClient(t, p, fiscope.WithRespaldo(padronDelJueves(&asked)))
				lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(3), fiscope.LotePolicy{Concurrency: 1}))
				require.Nil(t, stopped)
				require.Len(t, lines, 3)
				assert.Equal(t, test.marked, fromRespaldo(lines))
				assert.GreaterOrEqual(t, time.Since(start), test.pauses)
			})
		})
	}
}

func TestABatchThatEndsAsksNoRespaldo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPadron(t)
		p.delay = func(r string) time.Duration {
			if r == ruc(0) {
				return 0
			}
			return time.Minute
		}
		var asked atomic.Int64
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		client := newClient(t, p, fiscope.WithRespaldo(padronDelJueves(&asked)))
		lines, stopped := all(client.Contribuyentes.ConsultarLote(ctx, rucs(9), fiscope.LotePolicy{}))
		require.ErrorIs(t, stopped, context.DeadlineExceeded)
		assert.Len(t, lines, 1)
		assert.Zero(t, asked.Load())
	})
}
