package mockserver_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Test processes that run at once share a server without seeing each other.
func TestKeysDoNotSeeEachOther(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithJournal(20))
	var wg sync.WaitGroup
	for i := range 8 {
		key := fmt.Sprint("proceso-", i)
		require.NoError(t, srv.PutKey(key, 100+i))
		wg.Go(func() {
			fault := srv.Fault(mockserver.Match{Op: mockserver.OpConsultar, Nth: 2, Key: key}, mockserver.Status(404))
			api := plain(t, srv).withKey(key)
			for n := range 10 {
				assert.Equal(t, map[bool]int{true: 404, false: 200}[n == 1], api.get(lookup).status)
			}
			assert.Equal(t, 1, fault.Status().Hits)
			assert.Equal(t, 2, fault.Status().Seen, "until it ended")
			assert.Len(t, srv.Control().Faults(key), 1)
			assert.Len(t, srv.Requests(mockserver.Filter{Key: key}), 10)
			q, _ := srv.Quota(key)
			assert.Equal(t, 10, q.Used)
			assert.Equal(t, 90+i, q.Remaining)
			srv.AssertCalls(t, mockserver.Filter{Key: key}, 10)
		})
	}
	wg.Wait()
	const one, other = "proceso-1", "proceso-2"
	c := srv.Control()
	require.NoError(t, c.ResetKey(one))
	assert.Empty(t, c.Faults(one))
	assert.Empty(t, srv.Requests(mockserver.Filter{Key: one}))
	q, _ := srv.Quota(one)
	assert.Zero(t, q.Used)
	assert.Len(t, c.Faults(other), 1)
	assert.Len(t, srv.Requests(mockserver.Filter{Key: other}), 10)
	assert.NotNil(t, c.FindFault(other, c.Faults(other)[0].Name))
	assert.Nil(t, c.FindFault(one, c.Faults(other)[0].Name))

	require.NoError(t, srv.DeleteKey(other))
	assert.Empty(t, c.Faults(other))
	assert.Empty(t, srv.Requests(mockserver.Filter{Key: other}), "a key leaves with all that is its own")
}
