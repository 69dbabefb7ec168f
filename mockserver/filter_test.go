package mockserver_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFilters(t *testing.T) {
	srv, api := start(t, mockserver.WithKey("otra", 10))
	api.get(lookup)                                                            // 1
	api.get("/api/contribuyentes/20000000001")                                 // 2
	api.withKey("otra").get(lookup)                                            // 3
	api.validar(cpe(t, "claveSol", `"mala"`))                                  // 4
	srv.Fault(mockserver.Match{Times: 1}, mockserver.Null200)                  // null-200-1
	api.get(lookup)                                                            // 5
	api.get("/api/contribuyentes/search?limit=17&razonSocial=%C3%91and%C3%BA") // 6
	api.get("/api/tipocambio?fecha=2026-11-19")                                // 7
	for name, c := range map[string]struct {
		filter mockserver.Filter
		want   string
	}{
		"all":         {mockserver.Filter{}, "[1 2 3 4 5 6 7]"},
		"operation":   {mockserver.Filter{Op: mockserver.OpConsultar}, "[1 2 3 5]"},
		"key":         {mockserver.Filter{Key: "otra"}, "[3]"},
		"fingerprint": {mockserver.Filter{Key: srv.Requests()[2].Key}, "[3]"},
		"RUC":         {mockserver.Filter{RUC: "20131312955"}, "[1 3 5]"},
		"issuer":      {mockserver.Filter{RUC: "20100070970"}, "[4]"},
		"search":      {mockserver.Filter{Text: "ñAND"}, "[6]"},
		"limit":       {mockserver.Filter{Text: "17"}, "[]"},
		"date":        {mockserver.Filter{Text: "2026-11-1"}, "[7]"},
		"receipt":     {mockserver.Filter{Text: "f001-123"}, "[4]"},
		"path":        {mockserver.Filter{Path: "/cpe/"}, "[4]"},
		"status":      {mockserver.Filter{Status: 404}, "[2]"},
		"code":        {mockserver.Filter{Code: wrongSOL}, "[4]"},
		"fault":       {mockserver.Filter{Fault: "null-200-1"}, "[5]"},
		"after":       {mockserver.Filter{After: 3}, "[4 5 6 7]"},
		"two of them": {mockserver.Filter{Op: mockserver.OpConsultar, Status: 200}, "[1 3 5]"},
		"unmatched":   {mockserver.Filter{Unmatched: true}, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := []int64{}
			for _, r := range srv.Requests(c.filter) {
				ns = append(ns, r.N)
			}
			assert.Equal(t, c.want, fmt.Sprint(ns))
		})
	}
	assert.Len(t, srv.Requests(mockserver.Filter{Status: 404}, mockserver.Filter{Key: "otra"}), 2, "any of them")
}

// What the server knows as a key is a key, also one that looks like a fingerprint.
func TestAKeyThatLooksLikeAFingerprint(t *testing.T) {
	for _, key := range []string{"k_", "k_produccion", "k_0123abcd", "k_0123ABCD"} {
		t.Run(key, func(t *testing.T) {
			srv, api := start(t, mockserver.WithAPIKey(key), mockserver.WithKey("otra", 10), mockserver.WithJournal(2))
			api.get(lookup)
			api.withKey("otra").get(lookup)
			f := mockserver.Filter{Key: key}
			found := srv.Requests(f)
			require.Len(t, found, 1)
			id := found[0].Key
			assert.NotEqual(t, key, id)
			assert.Len(t, srv.Requests(mockserver.Filter{Key: id}), 1)
			got, err := srv.WaitRequests(t.Context(), f, 1)
			require.NoError(t, err)
			assert.Len(t, got, 1)
			assert.True(t, srv.AssertCalls(t, f, 1))
			assert.True(t, srv.AssertSpent(t, f, 1))

			var said fakeTB
			assert.False(t, srv.AssertCalls(&said, f, 0), "it was called")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = srv.WaitRequests(ctx, f, 2)
			require.Error(t, err)
			shown := said.String() + err.Error() + fmt.Sprint(f, &f) + fmt.Sprintf("%+v %#v %s", f, f, f) + srv.JournalTable(f)
			if key != "k_" { // with which every fingerprint begins
				assert.NotContains(t, shown, key)
			}
			assert.Contains(t, said.String(), "among requests with key="+id)

			api.get(lookup)
			api.get(lookup)
			assert.Equal(t, 1, srv.Control().Dropped(key))
			assert.Equal(t, 1, srv.Control().Dropped(id), "of a fingerprint too")
			assert.False(t, srv.AssertCalls(&said, mockserver.Filter{Key: id}, 2), "one was dropped")
		})
	}
}
