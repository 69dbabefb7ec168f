package fiscope_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// notes is a Progress in memory that can fail.
type notes struct {
	recorded []string
	fails    error // of Record
	blind    error // of Done
}

func (n *notes) Done(_ context.Context, input string) (bool, error) {
	return slices.Contains(n.recorded, input), n.blind
}

func (n *notes) Record(ctx context.Context, input string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if n.fails == nil {
		n.recorded = append(n.recorded, input)
	}
	return n.fails
}

func TestAProgressThatFailsStopsItsBatch(t *testing.T) {
	full := errors.New("the disk is full, and the key is " + apiKey)
	for name, test := range map[string]struct {
		notes notes
		lines int
	}{
		"to record":  {notes{fails: full}, 1},
		"to be read": {notes{blind: full}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPadron()
			lines, stopped := all(newClient(t, p).Contribuyentes.ConsultarLote(t.Context(), rucs(9), fiscope.LotePolicy{Progress: &test.notes}))
			assert.Len(t, lines, test.lines)
			assert.Equal(t, test.lines, p.sent())
			require.ErrorIs(t, stopped, full)
			require.ErrorContains(t, stopped, "the batch stopped before position")
			assert.NotContains(t, stopped.Error(), apiKey)
			assert.Equal(t, test.lines, stopped.Siguiente)
		})
	}
	t.Run("but not as the context ends", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		n, why := &notes{}, errors.New("the operator pressed Ctrl-C, and the key is "+apiKey)
		_, stopped := all(func(yield func(fiscope.LineaLote[string, fiscope.Contribuyente], error) bool) {
			for l, err := range newClient(t, newPadron()).Contribuyentes.ConsultarLote(ctx, rucs(9), fiscope.LotePolicy{Concurrency: 1, Progress: n}) {
				if cancel(why); !yield(l, err) {
					return
				}
			}
		})
		require.ErrorIs(t, stopped, context.Canceled)
		require.ErrorIs(t, stopped, why)
		assert.NotContains(t, stopped.Error(), apiKey)
		assert.Equal(t, []string{ruc(0)}, n.recorded)
	})
}

// A ProgressFile keeps an answered input from the next run, and a second process out.
func TestAProgressFile(t *testing.T) {
	p, path := newPadron(), filepath.Join(t.TempDir(), "progress")
	client := newClient(t, p)
	for _, left := range []int{3, 0} {
		f, err := fiscope.NewProgressFile(path)
		require.NoError(t, err)
		lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), rucs(3), fiscope.LotePolicy{Progress: f}))
		require.Nil(t, stopped)
		assert.Len(t, lines, left)
		_, err = fiscope.NewResultsFile(path)
		require.EqualError(t, err, "fiscope: the Progress "+path+": another process works with it")
		require.NoError(t, f.Close())
	}
	assert.Equal(t, 3, p.sent())
}

// result is a line of a results file as its reader has it.
type result struct {
	Input   string
	Answer  map[string]any
	Error   string
	Pending bool
	Source  string
}

func readResults(t *testing.T, path string) (all []result) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var r result
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		all = append(all, r)
	}
	return all
}

// Each line is an input with its answer or error; what is not final is asked again, and its last line holds.
func TestAResultsFile(t *testing.T) {
	p, down := newPadron(), true
	p.answer = func(r string, _ int) (*http.Response, error) {
		switch {
		case r == ruc(1):
			return raw(404, contract(t, "consultar_404.json"))(nil)
		case r == ruc(2) && down:
			return raw(501, "")(nil)
		}
		return nil, nil
	}
	client, path := newClient(t, p), filepath.Join(t.TempDir(), "results")
	inputs := []string{ruc(0), ruc(1), ruc(2), ruc(0), "x"}
	run := func() []result {
		f, err := fiscope.NewResultsFile(path)
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Close()) }()
		embedded := struct{ *fiscope.ResultsFile }{f}
		for l, err := range client.Contribuyentes.ConsultarLote(t.Context(), slices.Values(inputs), fiscope.LotePolicy{Concurrency: 1, Progress: embedded}) {
			if err == nil {
				l.Resultado.RazonSocial = "changed by the consumer"
			}
		}
		return readResults(t, path)
	}
	results := run()
	require.Len(t, results, 3)
	assert.Equal(t, ruc(0), results[0].Input)
	assert.Equal(t, "SUNAT", results[0].Answer["razonSocial"])
	assert.Equal(t, ruc(1), results[1].Input)
	assert.Contains(t, results[1].Error, "not found")
	assert.Nil(t, results[1].Answer)
	assert.Equal(t, result{Input: ruc(2), Error: results[2].Error, Pending: true, Source: "service"}, results[2])
	assert.Contains(t, results[2].Error, "unavailable")

	down = false
	results = run()
	require.Len(t, results, 4)
	assert.Equal(t, ruc(2), results[3].Answer["ruc"])
	assert.False(t, results[3].Pending)
	assert.Len(t, run(), 4)
	assert.Equal(t, map[string]int{ruc(0): 1, ruc(1): 1, ruc(2): 2}, p.asked)
}

// An answer of 4 May in Lima is done for so many days. What is asked again is one more line, and a failure is none.
func TestTheAgeOfResults(t *testing.T) {
	const dated = `,"source":"service","asOf":"2026-05-05T04:59:59Z"`
	days := func(n int) []fiscope.ResultsOption { return []fiscope.ResultsOption{fiscope.ResultsMaxAge(n)} }
	for name, c := range map[string]struct {
		now  string
		opts []fiscope.ResultsOption
		rest string // of the line
		done bool
	}{
		"the same day":           {"2026-05-04T05:00:00Z", days(0), dated, true},
		"midnight in Lima":       {"2026-05-05T05:00:00Z", days(0), dated, false},
		"a day later":            {"2026-05-06T04:59:59Z", days(1), dated, true},
		"midnight after it":      {"2026-05-06T05:00:00Z", days(1), dated, false},
		"it is of the future":    {"2026-05-04T04:59:59Z", days(7), dated, false},
		"any age":                {"2036-05-05T05:00:00Z", nil, dated, true},
		"without a time":         {"2026-05-04T05:00:00Z", days(1_000_000), "", false},
		"any, without a time":    {"2026-05-04T05:00:00Z", nil, "", true},
		"it may change, and new": {"2026-05-04T05:00:00Z", days(7), `,"pending":true` + dated, false},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, c.now)
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "results")
			before := `{"input":"` + ruc(0) + `","answer":{"ruc":"` + ruc(0) + `","razonSocial":"THE OLD ONE"}` + c.rest + "}\n"
			require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
			p := newPadron()
			client := newClient(t, p, fiscope.WithClock(func() time.Time { return now }), fiscope.WithMaxRetries(0))
			run := func() (saved fiscope.SavedResult) {
				f, err := fiscope.NewResultsFile(path, c.opts...)
				require.NoError(t, err)
				lines, stopped := all(client.Contribuyentes.ConsultarLote(t.Context(), slices.Values([]string{ruc(0), ruc(0)}), fiscope.LotePolicy{Progress: f}))
				require.Nil(t, stopped)
				require.NoError(t, f.Close())
				for r, err := range fiscope.ReadResults(path) {
					require.NoError(t, err)
					saved = r
				}
				for _, l := range lines {
					assert.Equal(t, saved.AsOf.Equal(now), l.err == nil && l.Response.Source == fiscope.SourceService && l.Response.AsOf.Equal(now), "also of the duplicate")
				}
				return saved
			}
			p.answer = func(string, int) (*http.Response, error) { return raw(501, "")(nil) }
			assert.Contains(t, string(run().Answer), "THE OLD ONE")
			assert.Equal(t, c.done, p.sent() == 0)
			p.answer = nil
			saved := run()
			assert.Equal(t, c.done, strings.Contains(string(saved.Answer), "THE OLD ONE"))
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(text), before), "nothing is deleted")
			if !c.done {
				assert.Equal(t, fiscope.SourceService, saved.Source)
				assert.Contains(t, string(text), `,"source":"service","asOf":"`+c.now+`"}`+"\n")
			}
		})
	}
	_, err := fiscope.NewResultsFile(filepath.Join(t.TempDir(), "results"), fiscope.ResultsMaxAge(-1))
	require.EqualError(t, err, "fiscope: ResultsMaxAge wants 0 days or more: it is -1")
	for r, failure := range fiscope.ReadResults("none") {
		assert.Zero(t, r)
		err = failure
	}
	require.ErrorIs(t, err, os.ErrNotExist)
}

// What was recorded by hand is of now.
func TestARecordOfAResultsFileHasATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := fiscope.NewResultsFile(filepath.Join(t.TempDir(), "results"), fiscope.ResultsMaxAge(0))
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Close()) }()
		require.NoError(t, f.Record(t.Context(), "a"))
		for _, want := range []bool{true, false} {
			done, err := f.Done(t.Context(), "a")
			require.NoError(t, err)
			assert.Equal(t, want, done)
			time.Sleep(24 * time.Hour)
		}
	})
}
