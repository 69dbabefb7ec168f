package mockserver_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A wait that cannot come true fails when it begins, not with its context.
func TestWaitRequestsForMoreThanTheJournalHolds(t *testing.T) {
	for name, c := range map[string]struct {
		journal, keys, n int
		filter           mockserver.Filter
		stray, small     bool
	}{
		"as many":                 {3, 1, 3, mockserver.Filter{}, false, false},
		"one more":                {3, 1, 4, mockserver.Filter{}, false, true},
		"of an operation":         {3, 1, 4, mockserver.Filter{Op: mockserver.OpConsultar}, false, true},
		"of two keys":             {3, 2, 6, mockserver.Filter{}, false, false},
		"one more than of two":    {3, 2, 7, mockserver.Filter{}, false, true},
		"of one of two keys":      {3, 2, 4, mockserver.Filter{Key: mockserver.DefaultAPIKey}, false, true},
		"of an unknown key":       {3, 2, 4, mockserver.Filter{Key: "nadie"}, true, true},
		"with an unknown one too": {3, 1, 6, mockserver.Filter{}, true, false},
		"no journal":              {0, 1, 1, mockserver.Filter{}, false, true},
		"huge":                    {math.MaxInt/2 + 1, 2, math.MaxInt/2 + 1, mockserver.Filter{}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, api := start(t, mockserver.WithJournal(c.journal))
				if c.keys == 2 {
					require.NoError(t, srv.PutKey("otra", 10))
				}
				if c.stray {
					api.withKey("nadie").get(lookup)
				}
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := srv.WaitRequests(ctx, c.filter, c.n)
				if c.small {
					require.ErrorIs(t, err, mockserver.ErrJournalTooSmall)
					assert.ErrorContains(t, err, "WithJournal(")
					assert.Zero(t, time.Since(began))
					return
				}
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, time.Minute, time.Since(began))
			})
		})
	}
}

// The totals are those of the server, whatever becomes of its journal.
func TestTotals(t *testing.T) {
	for name, journal := range map[string]int{"a journal": 100, "a small one": 1, "none": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, api := start(t, mockserver.WithJournal(journal), mockserver.WithKey("otra", 2))
				for range 3 {
					api.get(lookup)
					api.withKey("otra").get(lookup)
					api.withKey("nadie").get(lookup)
				}
				require.NoError(t, srv.Reset())
				require.NoError(t, srv.Control().ResetKey("otra"))
				require.NoError(t, srv.DeleteKey("otra"))
				for _, step := range []mockserver.Step{mockserver.ResetInside, mockserver.Latency(time.Second), mockserver.Slow, mockserver.Status(500).Uncharged()} {
					fault := srv.Fault(mockserver.Match{}, step)
					_, _ = api.try("GET", lookup, "")
					fault.Remove()
				}
				calls, spent := srv.Totals()
				assert.Equal(t, 13, calls)
				assert.Equal(t, 5+3, spent)
			})
		})
	}
}

func TestDroppedOfEachKey(t *testing.T) {
	srv, api := start(t, mockserver.WithJournal(1), mockserver.WithKey("otra", 10))
	for _, key := range []string{"otra", "otra", srv.APIKey, "nadie", "nadie", "ninguno", "", ""} {
		api.withKey(key).get(lookup)
	}
	id := srv.Requests(mockserver.Filter{Key: "otra"})[0].Key
	for key, want := range map[string]int{"": 5, "otra": 1, id: 1, srv.APIKey: 0, "nadie": 2, "ninguno": 1, "jamás": 0} {
		assert.Equal(t, want, srv.Control().Dropped(key), key)
	}
	require.NoError(t, srv.Control().ResetKey("otra", mockserver.PartJournal))
	assert.Zero(t, srv.Control().Dropped("otra"))
	assert.Equal(t, 4, srv.Control().Dropped(""))
	require.NoError(t, srv.Reset(mockserver.PartJournal))
	assert.Zero(t, srv.Control().Dropped(""))
}

func TestAnEmptyTableSaysWhatItKnows(t *testing.T) {
	srv, api := start(t, mockserver.WithJournal(0))
	assert.Equal(t, "The journal is empty: no request came.\n", srv.JournalTable())
	api.get(lookup)
	assert.Equal(t, "The journal is empty: it has no such request of the 1 that came.\n", srv.JournalTable())
}
