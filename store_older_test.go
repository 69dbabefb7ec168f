package fiscope_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// named returns a client that shares a store, and that gets, after a while, a record with this name, or
// NOT_FOUND for "".
func named(t *testing.T, store fiscope.Store, name string, takes time.Duration) *fiscope.Client {
	answer := raw(200, change(record, "SUNAT", name))
	if name == "" {
		answer = raw(404, contract(t, "consultar_404.json"))
	}
	return newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
		time.Sleep(takes)
		return answer(r)
	}), fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store))
}

func nameOf(t *testing.T, client *fiscope.Client) string {
	c, err := client.Contribuyentes.Consultar(t.Context(), rucSUNAT)
	if errors.Is(err, fiscope.ErrNotFound) {
		return ""
	}
	require.NoError(t, err)
	return c.RazonSocial
}

func TestAnOlderAnswerOverwritesNoNewerOneInTheStore(t *testing.T) {
	for name, test := range map[string]struct{ older, newer string }{
		"a record":     {"OLD", "NEW"},
		"there is one": {"", "NEW"},
		"it is gone":   {"OLD", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFleetStore()
				first := named(t, store, test.older, 5*time.Second)
				var wg sync.WaitGroup
				wg.Go(func() { _ = nameOf(t, first) })
				time.Sleep(time.Second)
				assert.Equal(t, test.newer, nameOf(t, named(t, store, test.newer, time.Second)))
				wg.Wait()
				synctest.Wait() // both are saved
				assert.Equal(t, test.newer, nameOf(t, named(t, store, "THIRD", time.Second)), "for another client")
				assert.Equal(t, test.newer, nameOf(t, first), "for the one that asked earlier")
			})
		})
	}
}

// forgetful is a store that finds nothing, and counts what it is given.
type forgetful struct {
	*fleetStore
	slow  time.Duration
	saves int
}

func (s *forgetful) Load(context.Context, string) ([]byte, error) {
	time.Sleep(s.slow)
	return nil, errors.New("away")
}

func (s *forgetful) Save(ctx context.Context, _ string, _ []byte, _ time.Duration) error {
	time.Sleep(s.slow)
	if ctx.Err() == nil {
		s.saves++
	}
	return ctx.Err()
}

func TestAnOlderAnswerThanTheClientsOwnIsNotSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &forgetful{fleetStore: newFleetStore()}
		s := &service{answers: []func(*http.Request) (*http.Response, error){after(5*time.Second, raw(200, record)), raw(200, record)}}
		client := newClient(t, s, fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store))
		var wg sync.WaitGroup
		wg.Go(func() { assert.NoError(t, operations["consultar"](t.Context(), client)) })
		time.Sleep(time.Second)
		require.NoError(t, operations["consultar"](t.Context(), client, fiscope.WithoutCache()))
		wg.Wait()
		require.NoError(t, client.Close(t.Context()))
		assert.Equal(t, 1, store.saves)
	})
}

// To look for a newer answer takes nothing of the time to save one.
func TestASlowStoreIsGivenTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &forgetful{fleetStore: newFleetStore(), slow: 900 * time.Millisecond}
		client := newClient(t, roundTripper(raw(200, record)), fiscope.WithCache(fiscope.CachePolicy{}), fiscope.WithStore(store))
		require.NoError(t, operations["consultar"](t.Context(), client))
		require.NoError(t, client.Close(t.Context()))
		assert.Equal(t, 1, store.saves)
	})
}
