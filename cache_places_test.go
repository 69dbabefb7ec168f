package fiscope_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// With as many chains as entries many chains have several places, and what is replaced stands among others.
func TestEveryPlaceOfAFullCacheIsFound(t *testing.T) {
	for entries := 1; entries <= 40; entries++ {
		client, s := cached(t, fiscope.CachePolicy{Entries: entries}, raw(200, "[]"))
		ask := func(n int, opts ...fiscope.CallOption) {
			_, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: fmt.Sprint("texto ", n)}, opts...)
			require.NoError(t, err)
		}
		for n := range 2 * entries {
			ask(n)
		}
		paid := 2 * entries
		for n := entries; n < 2*entries; n += 2 {
			ask(n, fiscope.WithoutCache())
			paid++
		}
		for n := entries; n < 2*entries; n++ {
			ask(n)
		}
		assert.Len(t, s.seen(), paid, "the last %d are kept", entries)
		for n := range entries {
			ask(n)
		}
		assert.Len(t, s.seen(), paid+entries, "and no other")
		assert.EqualValues(t, entries, client.Stats().Avoided[fiscope.AvoidedCached], "what left the cache stays counted")
	}
}

// An entry that is replaced is there at every moment, and so are its neighbours.
func TestNobodyPaysWhileAnEntryIsReplaced(t *testing.T) {
	client, s := cached(t, fiscope.CachePolicy{Entries: 3}, raw(200, "[]"))
	ask := func(text string, opts ...fiscope.CallOption) {
		_, err := client.Contribuyentes.Buscar(t.Context(), fiscope.Busqueda{RazonSocial: "texto " + text}, opts...)
		assert.NoError(t, err)
	}
	texts := []string{"a", "b", "c"}
	for _, text := range texts {
		ask(text)
	}
	const replaced = 4000
	done := make(chan struct{})
	var readers sync.WaitGroup
	for _, text := range texts {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					ask(text)
				}
			}
		})
	}
	for n := range replaced {
		ask(texts[n%len(texts)], fiscope.WithoutCache())
	}
	close(done)
	readers.Wait()
	assert.Len(t, s.seen(), len(texts)+replaced)
}
