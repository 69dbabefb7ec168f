package mockserver_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Test processes that run at once share a server without seeing each other.
func TestTenantsDoNotSeeEachOther(t *testing.T) {
	srv := mockserver.New(t, mockserver.WithJournal(20))
	var wg sync.WaitGroup
	for i := range 8 {
		key := fmt.Sprint("proceso-", i)
		require.NoError(t, srv.PutKey(key, 100+i))
		wg.Go(func() {
			tenant := srv.Tenant(key)
			fault := tenant.Fault(mockserver.Match{Op: mockserver.OpConsultar, Nth: 2}, mockserver.Status(404))
			client := tenant.Client()
			for n := range 10 {
				_, err := client.Contribuyentes.Consultar(t.Context(), "20131312955")
				if n == 1 {
					assert.ErrorIs(t, err, fiscope.ErrMalformedResponse)
				} else {
					assert.NoError(t, err)
				}
			}
			assert.Equal(t, 1, fault.Hits())
			assert.Equal(t, 2, fault.Status().Seen, "until it ended")
			assert.Len(t, tenant.Faults(), 1)
			assert.Len(t, tenant.Requests(), 10)
			assert.Len(t, tenant.Requests(mockserver.Filter{Status: 404}, mockserver.Filter{Status: 500}), 1)
			q, _ := srv.Quota(key)
			assert.Equal(t, 10, q.Used)
			assert.Equal(t, 90+i, q.Remaining)
			srv.AssertCalls(t, mockserver.Filter{Key: key}, 10)
		})
	}
	wg.Wait()
	one, other := srv.Tenant("proceso-1"), srv.Tenant("proceso-2")
	require.NoError(t, one.Reset())
	assert.Empty(t, one.Faults())
	assert.Empty(t, one.Requests())
	q, _ := srv.Quota("proceso-1")
	assert.Zero(t, q.Used)
	assert.Len(t, other.Faults(), 1)
	assert.Len(t, other.Requests(), 10)
	assert.NotNil(t, other.FindFault(other.Faults()[0].Name))
	assert.Nil(t, one.FindFault(other.Faults()[0].Name))

	require.NoError(t, srv.DeleteKey("proceso-2"))
	assert.Empty(t, other.Faults())
	assert.Empty(t, other.Requests(), "a key leaves with all that is its own")
	assert.NotContains(t, fmt.Sprintf("%v %+v %s", one, one, one), "proceso-1")
}

func TestTenantsNameTheirFaultsThemselves(t *testing.T) {
	srv, api := start(t, mockserver.WithKey("a", 10), mockserver.WithKey("b", 10))
	for key, status := range map[string]int{"a": 500, "b": 503} {
		_, err := srv.AddFault(mockserver.Fault{Name: "caída", Match: mockserver.Match{Key: key}, Steps: []mockserver.Effect{mockserver.Status(status)}})
		require.NoError(t, err)
	}
	assert.Equal(t, 500, api.withKey("a").get(lookup).status)
	assert.Equal(t, 503, api.withKey("b").get(lookup).status)
	assert.Equal(t, 200, api.get(lookup).status)
	srv.Tenant("a").ClearFaults()
	assert.Equal(t, 200, api.withKey("a").get(lookup).status)
	assert.Equal(t, 503, api.withKey("b").get(lookup).status)
	srv.Fault(mockserver.Match{}, mockserver.Status(418))
	assert.Equal(t, 418, api.withKey("a").get(lookup).status, "a fault of the server is everybody's")
}

func TestTenantResetRefusesWhatIsTheServers(t *testing.T) {
	var f fakeT
	srv := mockserver.New(&f, mockserver.WithoutSocket())
	assert.Error(t, srv.Tenant(srv.APIKey).Reset(mockserver.PartClock))
	assert.Error(t, srv.Tenant("nadie").Reset())
	assert.Len(t, f.errors, 2)
}
