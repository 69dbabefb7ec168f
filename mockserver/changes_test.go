package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiscope/fiscope/mockserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// follower reads the changes of a journal, as often as it is asked to.
type follower struct {
	t      *testing.T
	srv    *mockserver.Server
	filter mockserver.Filter
	since  int64
}

// next returns what has changed, in words: "n3 200" for a request, "-" or "- key" for requests that were forgotten.
func (f *follower) next() (words []string) {
	f.t.Helper()
	ended, end := context.WithCancel(f.t.Context())
	end() // what is there is there; it waits for nothing
	for {
		changes, rev, err := f.srv.Control().Changes(ended, f.since, f.filter)
		if err != nil {
			assert.ErrorIs(f.t, err, context.Canceled)
			assert.Empty(f.t, changes)
			f.since = rev
			return words
		}
		for _, c := range changes {
			if c.Request == nil {
				words = append(words, "-"+c.Key)
				f.since = c.Rev
				continue
			}
			assert.Equal(f.t, c.Rev, c.Request.Rev)
			assert.Greater(f.t, c.Rev, f.since, "in order, and nothing twice")
			f.since = c.Rev
			words = append(words, fmt.Sprint("n", c.Request.N, " ", c.Request.Status))
		}
		f.since = rev
	}
}

// serve sends one lookup without a network.
func serve(srv *mockserver.Server, key string) {
	req := httptest.NewRequest(http.MethodGet, lookup, nil)
	req.Header.Set("X-API-KEY", key)
	srv.ServeHTTP(discard{http.Header{}}, req)
}

func TestChangesTellWhatBecameOfEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t, mockserver.WithKey("otra-clave", 10))
		all := &follower{t: t, srv: srv}
		assert.Empty(t, all.next())
		api.get(lookup)
		gate := srv.Fault(mockserver.Match{Times: 1}, mockserver.Hold())
		go api.get("/api/contribuyentes/1")
		synctest.Wait()
		api.withKey("otra-clave").get(lookup)
		late := &follower{t: t, srv: srv}
		assert.Equal(t, []string{"n1 200", "n2 0", "n3 200"}, all.next())
		gate.Release()
		synctest.Wait()
		assert.Equal(t, []string{"n2 400"}, all.next(), "again, with what became of it")
		assert.Equal(t, []string{"n1 200", "n3 200", "n2 400"}, late.next(), "once, in the order of the revisions")
		assert.Empty(t, all.next())
		assert.EqualValues(t, 4, srv.Control().Revision())

		other := srv.Requests(mockserver.Filter{Key: "otra-clave"})[0].Key
		for name, c := range map[string]struct {
			filter mockserver.Filter
			want   []string
		}{
			"status":           {mockserver.Filter{Status: 400}, []string{"n2 400"}},
			"key":              {mockserver.Filter{Key: "otra-clave"}, []string{"n3 200"}},
			"its fingerprint":  {mockserver.Filter{Key: other}, []string{"n3 200"}},
			"after":            {mockserver.Filter{After: 1}, []string{"n3 200", "n2 400"}},
			"several":          {mockserver.Filter{After: 1, Key: srv.APIKey}, []string{"n2 400"}},
			"nothing of these": {mockserver.Filter{Op: mockserver.OpValidar}, nil},
		} {
			one := &follower{t: t, srv: srv, filter: c.filter}
			assert.Equal(t, c.want, one.next(), name)
			assert.EqualValues(t, 4, one.since, "it has looked at all, whatever it took")
		}
	})
}

// A wait ends with the first change that the filter takes, and says where to go on when there was none.
func TestChangesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, api := start(t)
		go func() {
			for range 3 {
				time.Sleep(time.Second)
				api.get("/api/nada")
			}
			api.get(lookup)
		}()
		began := time.Now()
		changes, rev, err := srv.Control().Changes(t.Context(), 0, mockserver.Filter{Op: mockserver.OpConsultar})
		require.NoError(t, err)
		require.Len(t, changes, 1)
		assert.EqualValues(t, 4, rev)
		assert.Equal(t, 3*time.Second, time.Since(began))

		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		time.AfterFunc(time.Minute, func() { cancel(why) })
		go api.get("/api/nada")
		changes, rev, err = srv.Control().Changes(ctx, 4, mockserver.Filter{Op: mockserver.OpConsultar})
		assert.ErrorIs(t, err, why)
		assert.Empty(t, changes)
		assert.EqualValues(t, 5, rev, "what it did not take is behind it all the same")
	})
}

func TestChangesTellWhatIsForgotten(t *testing.T) {
	const key = "otra-clave"
	srv, api := start(t, mockserver.WithKey(key, 50))
	api.withKey(key).get(lookup)
	id := srv.Requests()[0].Key
	own, other, all := &follower{t: t, srv: srv, filter: mockserver.Filter{Key: srv.APIKey}}, &follower{t: t, srv: srv, filter: mockserver.Filter{Key: key}}, &follower{t: t, srv: srv}
	everybody := func() []string {
		return append(append(append(own.next(), "|"), append(other.next(), "|")...), all.next()...)
	}
	assert.Equal(t, []string{"|", "n1 200", "|", "n1 200"}, everybody())

	api.get(lookup)
	require.NoError(t, srv.Control().ResetKey(key, mockserver.PartJournal))
	api.withKey(key).get(lookup)
	assert.Equal(t, []string{"n2 200", "|", "-" + id, "n3 200", "|", "n2 200", "-" + id, "n3 200"}, everybody())

	require.NoError(t, srv.Reset(mockserver.PartJournal))
	api.get(lookup)
	assert.Equal(t, []string{"-", "n4 200", "|", "-", "|", "-", "n4 200"}, everybody())

	api.withKey(key).get(lookup)
	require.NoError(t, srv.DeleteKey(key))
	api.withKey(key).get(lookup)
	assert.Equal(t, []string{"|", "-" + id, "n6 401", "|", "-" + id, "n6 401"}, everybody())
	assert.Equal(t, []string{"n4 200", "n6 401"}, (&follower{t: t, srv: srv}).next(), "a new follower has nothing to forget")
}

// A new follower reads calls older than the remembered deletions, and comes to an end.
func TestChangesFromTheBeginningOfALongJournal(t *testing.T) {
	srv, _ := start(t, mockserver.WithJournal(3000), mockserver.WithQuota(mockserver.Unlimited))
	for range 2500 {
		serve(srv, srv.APIKey)
	}
	changes, rev, err := srv.Control().Changes(t.Context(), 0, mockserver.Filter{})
	require.NoError(t, err)
	assert.Len(t, changes, 1000)
	assert.EqualValues(t, 1000, rev)
	for name, since := range map[string]int64{"the beginning": 0, "elsewhere": 1 << 40} {
		f := &follower{t: t, srv: srv, since: since}
		got := f.next()
		if since > 0 {
			assert.Equal(t, "-", got[0], name)
			got = got[1:]
		}
		assert.Len(t, got[:2500], 2500, name)
		assert.Equal(t, "n2500 200", got[2499], name)
	}
}

// Requests without a known key stand elsewhere once those of one key are gone from between them.
func TestChangesAmongStrays(t *testing.T) {
	srv, api := start(t, mockserver.WithJournal(4))
	all := &follower{t: t, srv: srv}
	for i := range 6 {
		api.withKey([]string{"clave-uno", "clave-dos"}[i%2]).get(lookup)
	}
	assert.Len(t, all.next(), 4)
	require.NoError(t, srv.PutKey("clave-uno", 5))
	require.NoError(t, srv.Control().ResetKey("clave-uno", mockserver.PartJournal))
	assert.Len(t, all.next(), 1)
	late := &follower{t: t, srv: srv}
	assert.Equal(t, []string{"n4 401", "n6 401"}, late.next())
	for range 4 {
		api.withKey("clave-dos").get(lookup)
	}
	assert.Equal(t, []string{"n7 401", "n8 401", "n9 401", "n10 401"}, all.next())
	assert.Equal(t, all.since, late.since+4)
}

// A follower that comes from elsewhere, or was away for too long, is sent all from the beginning, and a note that it is so.
func TestChangesFromElsewhere(t *testing.T) {
	srv, api := start(t)
	assert.Equal(t, []string{"-"}, (&follower{t: t, srv: srv, since: 7}).next(), "of an earlier start of the program")
	api.get(lookup)
	assert.Equal(t, []string{"-", "n1 200"}, (&follower{t: t, srv: srv, since: 7}).next())
	assert.Empty(t, (&follower{t: t, srv: srv, since: 1}).next(), "the newest")
}

// A journal that drops what is old shows what it has, and what it drops costs no memory.
func TestChangesOfAFullJournal(t *testing.T) {
	srv, _ := start(t, mockserver.WithJournal(10), mockserver.WithQuota(mockserver.Unlimited))
	all := &follower{t: t, srv: srv}
	for range 10_000 {
		serve(srv, srv.APIKey)
	}
	words := all.next()
	require.Len(t, words, 10)
	assert.Equal(t, "n9991 200", words[0])
	assert.EqualValues(t, 10_000, all.since)

	before := heap()
	req := httptest.NewRequest(http.MethodGet, lookup, nil)
	req.Header.Set("X-API-KEY", srv.APIKey)
	for range 50_000 {
		srv.ServeHTTP(discard{http.Header{}}, req)
	}
	assert.Less(t, heap(), before+512<<10)

	off, _ := start(t, mockserver.WithJournal(0))
	serve(off, off.APIKey)
	assert.Empty(t, (&follower{t: t, srv: off}).next())
}

// Whatever happens at the same time, a follower ends with what the journal has.
func TestFollowersSeeTheJournalAsItIs(t *testing.T) {
	srv, _ := start(t, mockserver.WithJournal(500), mockserver.WithQuota(mockserver.Unlimited), mockserver.WithKey("otra-clave", mockserver.Unlimited))
	srv.Fault(mockserver.Match{Times: 10_000}, mockserver.Latency(time.Microsecond), mockserver.OK, mockserver.OK)
	done, stop := context.WithCancel(t.Context())
	var calls, followers sync.WaitGroup
	for i := range 4 {
		calls.Go(func() {
			for n := range 1500 {
				serve(srv, []string{srv.APIKey, "otra-clave", "desconocida"}[(i+n)%3])
				if i == 0 && n%300 == 299 {
					_ = srv.Control().ResetKey("otra-clave", mockserver.PartJournal)
				}
				if i == 1 && n == 700 {
					_ = srv.Reset(mockserver.PartJournal)
				}
			}
		})
	}
	for range 3 {
		followers.Go(func() {
			seen, since := map[int64]mockserver.Request{}, int64(0)
			for {
				changes, rev, err := srv.Control().Changes(done, since, mockserver.Filter{})
				if err != nil {
					break
				}
				for _, c := range changes {
					if !assert.Greater(t, c.Rev, since, "in order") {
						return
					}
					since = c.Rev
					if c.Request != nil {
						seen[c.Request.N] = *c.Request
						continue
					}
					for n, r := range seen {
						if c.Key == "" || c.Key == r.Key {
							delete(seen, n)
						}
					}
				}
				since = rev
			}
			for _, want := range srv.Requests() {
				assert.Equal(t, want, seen[want.N])
			}
		})
	}
	calls.Wait()
	stop()
	followers.Wait()
}
