package admin

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

func TestPoll(t *testing.T) {
	for name, c := range map[string]struct {
		query  string
		want   []int64
		last   int64
		clears bool
		takes  time.Duration
	}{
		"from the beginning":  {"", []int64{1, 2}, 2, false, 0},
		"what is new":         {"?since=1", []int64{2}, 2, false, 0},
		"what comes":          {"?since=2", []int64{3}, 3, false, time.Second},
		"what comes, of some": {"?since=2&status=404", []int64{4}, 4, false, 2 * time.Second},
		"nothing":             {"?since=2&op=buscar", []int64{}, 4, false, 25 * time.Second},
		"nothing for so long": {"?since=2&timeout=500ms", []int64{}, 2, false, 500 * time.Millisecond},
		"no time at all":      {"?since=2&timeout=0s", []int64{}, 2, false, 0},
		"of an earlier start": {"?since=77", []int64{1, 2}, 2, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t)
				r.call(lookup, "s3creta")
				r.call(lookup, "s3creta")
				go func() {
					time.Sleep(time.Second)
					r.call(lookup, "s3creta")
					time.Sleep(time.Second)
					r.call("/api/contribuyentes/20999999999", "s3creta")
				}()
				began := time.Now()
				var got journalAfter
				r.ok(&got, "GET", "requests/poll"+c.query, "")
				assert.Equal(t, c.takes, time.Since(began))
				revs := []int64{}
				for _, request := range got.Requests {
					revs = append(revs, request.Rev)
				}
				assert.Equal(t, c.want, revs)
				assert.Equal(t, journalAfter{got.Requests, c.last, c.clears, r.api.(*api).instance, 0}, got)
				time.Sleep(3 * time.Second)
			})
		})
	}
}

func TestPollWhatIsGone(t *testing.T) {
	r := start(t)
	poll := func(query string, extra ...string) (got journalAfter) {
		t.Helper()
		r.ok(&got, "GET", "requests/poll"+query, "", extra...)
		return got
	}
	r.call(lookup, "s3creta")
	r.call(lookup, r.mock.APIKey)
	require.NoError(t, r.mock.Tenant("s3creta").Reset(mockserver.PartJournal))
	r.call(lookup, "s3creta")

	got := poll("?since=2")
	assert.True(t, got.Cleared)
	assert.Empty(t, got.Requests)
	assert.Zero(t, got.Last, "begin anew")
	assert.Len(t, poll("?since=0").Requests, 2)
	for _, query := range []string{"?since=2&key=" + fingerprint("s3creta"), "?since=2"} {
		got = poll(query, "X-API-KEY", "s3creta")
		assert.True(t, got.Cleared)
		assert.Len(t, got.Requests, 1)
		assert.EqualValues(t, 4, got.Last)
	}
	assert.False(t, poll("?since=1", "X-API-KEY", r.mock.APIKey).Cleared, "another one's")

	require.NoError(t, r.mock.Reset(mockserver.PartJournal))
	got = poll("?since=4")
	assert.True(t, got.Cleared)
	assert.Empty(t, got.Requests)
	assert.EqualValues(t, 5, got.Last)
}

func TestPollEndsWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		got := make(chan reply)
		go func() { got <- r.do("GET", "requests/poll?timeout=5m", "") }()
		synctest.Wait()
		began := time.Now()
		r.end()
		(<-got).isProblem(t, 503, codeEnding, "cerrando")
		assert.Zero(t, time.Since(began))
	})
}

func TestPollRefuses(t *testing.T) {
	r := start(t)
	for query, says := range map[string]string{"?since=x": "since", "?limit=1": "limit", "?timeout=6m": "5m", "?key=s3creta": "huella"} {
		r.do("GET", "requests/poll"+query, "").isProblem(t, 400, codeInvalid, says)
	}
	assert.Equal(t, 200, r.do("HEAD", "requests/poll?timeout=0s", "").status)
}

// The requests of a key are asked for by its fingerprint too: a key has no place in an address.
func TestRequestsOfAFingerprint(t *testing.T) {
	r := start(t, mockserver.WithJournal(1))
	r.call(lookup, "s3creta")
	r.call(lookup, "s3creta")
	r.call(lookup, r.mock.APIKey)
	for _, path := range []string{"requests", "requests/wait"} {
		var j journal
		r.ok(&j, "GET", path+"?key="+fingerprint("s3creta"), "")
		require.Len(t, j.Requests, 1)
		assert.EqualValues(t, 2, j.Requests[0].N)
		assert.Equal(t, 1, j.Dropped)
		r.do("GET", path+"?key=s3creta", "").isProblem(t, 400, codeInvalid, "k_ y 8 dígitos")
	}
}
