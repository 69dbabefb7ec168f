package exchange_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/broken"
	"github.com/fiscope/fiscope/internal/exchange"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answers is a transport that answers everything with that response.
func answers(resp http.Response) roundTripper {
	return func(*http.Request) (*http.Response, error) { return &resp, nil }
}

func get(t *testing.T) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example.com/", nil)
	require.NoError(t, err)
	return r
}

func TestOnce(t *testing.T) {
	memory := func(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }
	foreign := func(s string) io.ReadCloser { return io.NopCloser(io.MultiReader(strings.NewReader(s))) }
	long := http.Header{"X-Long": {strings.Repeat("x", 20)}}
	for name, test := range map[string]struct {
		resp   http.Response
		body   string
		broken error
	}{
		"a body in memory":             {http.Response{Body: memory("0123456789"), ContentLength: 10}, "0123456789", nil},
		"of a length that it has not":  {http.Response{Body: memory("0123456789"), ContentLength: 3}, "0123456789", nil},
		"of unknown length":            {http.Response{Body: memory("0123456789"), ContentLength: -1}, "0123456789", nil},
		"of another kind":              {http.Response{Body: foreign("0123456789"), ContentLength: -1}, "0123456789", nil},
		"one byte more than are read":  {http.Response{Body: memory("0123456789x"), ContentLength: 11}, "0123456789", exchange.ErrTooLong},
		"more, of another kind":        {http.Response{Body: foreign("0123456789xyz"), ContentLength: -1}, "0123456789", exchange.ErrTooLong},
		"no bytes":                     {http.Response{Body: memory("")}, "", nil},
		"http.NoBody":                  {http.Response{Body: http.NoBody}, "", nil},
		"no body":                      {http.Response{}, "", nil},
		"headers that are too long":    {http.Response{Header: long, Body: memory("0")}, "", exchange.ErrHeaderTooLong},
		"too long, and another's body": {http.Response{Header: long, Body: foreign("0")}, "", exchange.ErrHeaderTooLong},
		"too long, and no body":        {http.Response{Header: long}, "", exchange.ErrHeaderTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			test.resp.StatusCode = http.StatusOK
			a := exchange.Once(t.Context(), answers(test.resp), get(t), time.Second, 10, nil)
			require.NoError(t, a.Err)
			assert.Equal(t, http.StatusOK, a.Status)
			assert.Equal(t, test.body, string(a.Body))
			assert.Equal(t, test.broken, a.Broken)
			assert.Equal(t, 1, a.Written)
			assert.False(t, a.Unsent)
			if errors.Is(test.broken, exchange.ErrHeaderTooLong) {
				assert.Nil(t, a.Header)
			}
		})
	}
}

// stubborn is a body that ends with neither its context nor its Close.
type stubborn struct{ until chan struct{} }

func (b stubborn) Read([]byte) (int, error) { <-b.until; return 0, io.EOF }
func (b stubborn) Close() error             { <-b.until; return nil }

func TestOnceEndsWithItsTimeAndItsContext(t *testing.T) {
	for name, test := range map[string]struct {
		cancelled time.Duration
		took      time.Duration
		err       error
	}{
		"its time":    {time.Hour, time.Minute, context.DeadlineExceeded},
		"its context": {time.Second, time.Second, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				defer time.AfterFunc(test.cancelled, cancel).Stop()
				until := make(chan struct{})
				defer close(until)
				header := http.Header{"X-Ratelimit-Remaining": {"0"}}
				a := exchange.Once(ctx, answers(http.Response{StatusCode: http.StatusOK, Header: header, Body: stubborn{until}}), get(t), time.Minute, 100, nil)
				assert.Equal(t, test.took, a.Took)
				require.ErrorIs(t, a.Err, test.err)
				assert.Zero(t, a.Status, "it says nothing")
				assert.Equal(t, header, a.Header, "but for its headers")
				assert.Equal(t, 1, a.Written)
			})
		})
	}
}

// What is told of an attempt that leaves, by what its transport tells.
func TestWhetherAnAttemptMayBeSent(t *testing.T) {
	dial, got := func(c *httptrace.ClientTrace) { c.GetConn("h:443") }, func(c *httptrace.ClientTrace) { c.GotConn(httptrace.GotConnInfo{}) }
	for name, test := range map[string]struct {
		tells []func(*httptrace.ClientTrace)
		want  []bool
	}{
		"nothing is known":                   {nil, []bool{true}},
		"it waits for a connection":          {[]func(*httptrace.ClientTrace){dial}, []bool{true, false}},
		"it has one":                         {[]func(*httptrace.ClientTrace){dial, got}, []bool{true, false, true}},
		"another, since the first one broke": {[]func(*httptrace.ClientTrace){dial, got, dial}, []bool{true, false, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var told []bool
			var late *httptrace.ClientTrace
			exchange.Once(t.Context(), roundTripper(func(r *http.Request) (*http.Response, error) {
				late = httptrace.ContextClientTrace(r.Context())
				for _, tell := range test.tells {
					tell(late)
				}
				return nil, io.ErrUnexpectedEOF
			}), get(t), time.Minute, 100, func(mayBeSent bool) { told = append(told, mayBeSent) })
			dial(late)
			assert.Equal(t, test.want, told, "and nothing when it is over")
		})
	}
}

func TestAnAttemptSaysWhenItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		a := exchange.Once(t.Context(), roundTripper(func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return &http.Response{StatusCode: http.StatusOK}, nil
		}), get(t), time.Minute, 100, nil)
		assert.Equal(t, start, a.Began)
		assert.Equal(t, time.Second, a.At.Sub(start))
	})
}

// breaking is a body whose reading does what it says.
type breaking func()

func (b breaking) Read([]byte) (int, error) { b(); return 0, io.EOF }
func (breaking) Close() error               { return nil }

func TestABodyThatBreaksOffItsReading(t *testing.T) {
	for name, test := range map[string]struct {
		body   breaking
		panics bool
	}{
		"by a panic":  {func() { panic("boom") }, true},
		"by a Goexit": {runtime.Goexit, false},
	} {
		t.Run(name, func(t *testing.T) {
			over, r := make(chan any), get(t)
			go func() {
				defer func() { over <- recover() }()
				exchange.Once(t.Context(), answers(http.Response{StatusCode: http.StatusOK, Body: test.body}), r, time.Minute, 100, nil)
				t.Error("it returned")
			}()
			recovered := <-over
			if !test.panics {
				assert.Nil(t, recovered)
				return
			}
			p, ok := recovered.(*broken.Panic)
			require.True(t, ok, "%T", recovered)
			assert.Equal(t, "boom", p.Value)
			assert.Contains(t, string(p.Stack), "breaking.Read")
		})
	}
}

func TestReadingBytesInMemoryTakesNoGoroutine(t *testing.T) {
	r := get(t)
	allocs := func(body func() io.ReadCloser) float64 {
		return testing.AllocsPerRun(100, func() {
			exchange.Once(t.Context(), answers(http.Response{StatusCode: http.StatusOK, Body: body()}), r, time.Minute, 100, nil)
		})
	}
	memory := allocs(func() io.ReadCloser { return io.NopCloser(strings.NewReader("{}")) })
	foreign := allocs(func() io.ReadCloser { return io.NopCloser(io.MultiReader(strings.NewReader("{}"))) })
	assert.Greater(t, foreign, memory+3)
}
