package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/mockserver"
)

// viewer reads a stream as a browser does.
type viewer struct {
	t      *testing.T
	status int
	header http.Header
	lines  *bufio.Reader
	leave  context.CancelFunc
}

// event is a block of a stream as it came; a heartbeat has a comment only.
type event struct{ id, name, data, comment string }

// piped is an http.ResponseWriter whose body is read while it is written.
type piped struct {
	*io.PipeWriter
	header http.Header
	begun  chan int // gets the status
}

func (p *piped) Header() http.Header              { return p.header }
func (p *piped) SetWriteDeadline(time.Time) error { return nil }
func (p *piped) FlushError() error                { return nil }
func (p *piped) WriteHeader(status int)           { p.begun <- status }
func (p *piped) Write(b []byte) (int, error) {
	select {
	case p.begun <- http.StatusOK:
	default:
	}
	return p.PipeWriter.Write(b)
}

// watch opens a stream; each pair of extra is a header. In a synctest bubble its times are exact.
func (r remote) watch(query string, extra ...string) *viewer {
	r.t.Helper()
	ctx, leave := context.WithCancel(r.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://mock/_mock/requests/stream"+query, http.NoBody)
	require.NoError(r.t, err)
	for i := 0; i < len(extra); i += 2 {
		req.Header.Set(extra[i], extra[i+1])
	}
	from, to := io.Pipe()
	w := &piped{to, http.Header{}, make(chan int, 1)}
	go func() {
		r.api.ServeHTTP(w, req)
		_ = to.Close()
	}()
	v := &viewer{r.t, <-w.begun, w.header, bufio.NewReader(from), func() { leave(); _ = from.Close() }}
	r.t.Cleanup(v.leave)
	return v
}

// next returns the next event, or false at the end of the stream.
func (v *viewer) next() (e event, more bool) {
	v.t.Helper()
	for {
		line, err := v.lines.ReadString('\n')
		if err != nil {
			assert.ErrorIs(v.t, err, io.EOF)
			return e, false
		}
		assert.NotContains(v.t, line, "s3creta", "a key")
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "retry":
		case "", ":":
			if line == "\n" {
				return e, true
			}
			e.comment = "heartbeat"
		default:
			require.Fail(v.t, "no field of a stream", line)
		}
	}
}

// hello reads the first event.
func (v *viewer) hello() hello {
	v.t.Helper()
	require.Equal(v.t, 200, v.status)
	e, more := v.next()
	require.True(v.t, more)
	require.Equal(v.t, "hello", e.name)
	require.Empty(v.t, e.id)
	var h hello
	require.NoError(v.t, json.Unmarshal([]byte(e.data), &h))
	return h
}

// words reads so many events: "n3 200 id 4" for a request, "cleared {} id 5" for what is gone.
func (v *viewer) words(n int) (words []string) {
	v.t.Helper()
	for range n {
		e, more := v.next()
		require.True(v.t, more)
		var r struct{ N, Rev, Status int }
		if e.name == "request" {
			require.NoError(v.t, json.Unmarshal([]byte(e.data), &r))
			require.Equal(v.t, fmt.Sprint(r.Rev), e.id)
			words = append(words, fmt.Sprintf("n%d %d id %s", r.N, r.Status, e.id))
		} else {
			words = append(words, fmt.Sprintf("%s %s id %s", e.name, e.data, e.id))
		}
	}
	return words
}

func TestAStreamTellsTheCallsAsTheyCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.call(lookup, "s3creta")
		v := r.watch("")
		assert.Equal(t, "text/event-stream; charset=utf-8", v.header.Get("Content-Type"))
		assert.Equal(t, "no-store", v.header.Get("Cache-Control"))
		first := v.hello()
		assert.NotEmpty(t, first.Instance)
		assert.EqualValues(t, 1, first.Last)
		assert.Equal(t, first.Instance, r.watch("").hello().Instance)
		assert.Equal(t, []string{"n1 200 id 1"}, v.words(1))
		began := time.Now()
		go func() {
			time.Sleep(time.Second)
			for range 3 {
				r.call(lookup, "s3creta")
				time.Sleep(time.Millisecond)
			}
		}()
		assert.Equal(t, []string{"n2 200 id 2"}, v.words(1))
		assert.Equal(t, time.Second, time.Since(began), "at once")
		assert.Equal(t, []string{"n3 200 id 3", "n4 200 id 4"}, v.words(2))
		assert.Equal(t, 1100*time.Millisecond, time.Since(began), "and what follows in one piece")
		for i := range 3 {
			e, _ := v.next()
			assert.Equal(t, event{comment: "heartbeat"}, e)
			assert.Equal(t, time.Duration(i+1)*15*time.Second+1200*time.Millisecond, time.Since(began))
		}
	})
}

// An event of the stream is what GET requests shows.
func TestAStreamShowsWhatTheJournalShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, mockserver.WithClock(func() time.Time { return time.Date(2026, 11, 21, 3, 30, 0, 0, time.UTC) }))
		r.validate("s3creta", mockserver.ClaveSOL)
		r.call("/api/contribuyentes/llave-de-otro", "s3creta")
		early := r.watch("")
		early.hello()
		early.words(2) // which nobody knew to hold a key
		require.NoError(t, r.mock.PutKey("llave-de-otro", 5))
		var j struct{ Requests []json.RawMessage }
		r.ok(&j, "GET", "requests", "")
		require.Len(t, j.Requests, 2)
		v := r.watch("")
		v.hello()
		for i := range j.Requests {
			e, _ := v.next()
			assert.JSONEq(t, string(j.Requests[i]), e.data)
			assert.NotContains(t, e.data, mockserver.ClaveSOL)
			assert.NotContains(t, e.data, "llave-de-otro")
			assert.Contains(t, e.data, `"time":"2026-11-20T22:30:00-05:00"`)
		}
	})
}

func TestAStreamGoesOnWhereItWas(t *testing.T) {
	for name, c := range map[string]struct {
		query, id string
		want      []string
	}{
		"from the beginning":      {"", "", []string{"n1 200 id 1", "n2 200 id 2", "n3 404 id 3"}},
		"after an id":             {"", "1", []string{"n2 200 id 2", "n3 404 id 3"}},
		"after since":             {"?since=2", "", []string{"n3 404 id 3"}},
		"the id, and since":       {"?since=1", "2", []string{"n3 404 id 3"}},
		"of an earlier start":     {"", "4", []string{"cleared {} id 0", "n1 200 id 1", "n2 200 id 2", "n3 404 id 3"}},
		"of a long earlier start": {"", "99999999999999999999", []string{"cleared {} id 0", "n1 200 id 1", "n2 200 id 2", "n3 404 id 3"}},
		"a filter":                {"?status=404", "", []string{"n3 404 id 3"}},
		"another filter":          {"?op=consultar&status=200", "1", []string{"n2 200 id 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t)
				r.call(lookup, "s3creta")
				r.call(lookup, r.mock.APIKey)
				r.call("/api/contribuyentes/20999999999", "s3creta")
				v := r.watch(c.query, "Last-Event-ID", c.id)
				assert.EqualValues(t, 3, v.hello().Last)
				assert.Equal(t, c.want, v.words(len(c.want)))
				e, _ := v.next()
				assert.Equal(t, "heartbeat", e.comment, "and no more")
			})
		})
	}
}

func TestAStreamOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		own := fingerprint("s3creta")
		tenant, byKey, all := r.watch("", "X-API-KEY", "s3creta"), r.watch("?key="+own), r.watch("")
		for _, v := range []*viewer{tenant, byKey, all} {
			v.hello()
		}
		r.call(lookup, "s3creta")
		r.call(lookup, r.mock.APIKey)
		assert.Equal(t, []string{"n1 200 id 1", "n2 200 id 2"}, all.words(2))
		r.ok(nil, "DELETE", "requests", "", "X-API-KEY", "s3creta")
		r.call(lookup, "s3creta")
		require.NoError(t, r.mock.DeleteKey("s3creta"))
		r.call(lookup, "s3creta")
		for _, v := range []*viewer{tenant, byKey} {
			assert.Equal(t, []string{"n1 200 id 1", "cleared {} id 5", "n4 401 id 6"}, v.words(3), "its own part; what was gone before it was sent is not sent")
		}
		assert.Equal(t, []string{`cleared {"key":"` + own + `"} id 5`, "n4 401 id 6"}, all.words(2))
		r.ok(nil, "POST", "reset", `{"parts": ["journal"]}`)
		for _, v := range []*viewer{tenant, byKey, all} {
			assert.Equal(t, []string{"cleared {} id 7"}, v.words(1))
		}
	})
}

func TestAStreamRefuses(t *testing.T) {
	r := start(t)
	for query, says := range map[string]string{
		"?since=-1": "since no es", "?since=x": "since no es", "?limit=1": "limit", "?timeout=1s": "timeout", "?count=1": "count",
		"?key=s3creta": "X-API-KEY", "?key=k_0": "huella", "?op=nada": "las operaciones son",
	} {
		r.do("GET", "requests/stream"+query, "").isProblem(t, 400, codeInvalid, says)
	}
	for _, id := range []string{"uno", "-1", "1.5"} {
		r.do("GET", "requests/stream", "", "Last-Event-ID", id).isProblem(t, 400, codeInvalid, "Last-Event-ID no es")
	}
	r.do("GET", "requests/stream?key=k_00000000", "", "X-API-KEY", "s3creta").isProblem(t, 400, codeInvalid, "claves de API distintas")
	r.do("GET", "requests/stream", "", "X-API-KEY", "otra").isProblem(t, 404, codeNotFound, "X-API-KEY")
	got := r.do("HEAD", "requests/stream", "")
	assert.Equal(t, 200, got.status)
	assert.Equal(t, "text/event-stream; charset=utf-8", got.header.Get("Content-Type"))
	assert.Empty(t, got.body)
}

func TestAStreamEnds(t *testing.T) {
	for name, end := range map[string]func(remote, *viewer){
		"with the server": func(r remote, _ *viewer) { r.end() },
		"with its viewer": func(_ remote, v *viewer) { v.leave() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which fails where a goroutine is left
				r := start(t)
				v := r.watch("")
				v.hello()
				began := time.Now()
				end(r, v)
				if name == "with the server" {
					_, more := v.next()
					assert.False(t, more)
				}
				synctest.Wait()
				assert.Zero(t, time.Since(began))
			})
		})
	}
}
