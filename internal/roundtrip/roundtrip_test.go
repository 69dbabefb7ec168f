package roundtrip_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope/internal/roundtrip"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// body counts how often it is closed. Without a Reader it brings nothing until then.
type body struct {
	io.Reader
	closing chan struct{}
	closed  int
}

func (b *body) Read(p []byte) (int, error) {
	if b.Reader != nil {
		return b.Reader.Read(p)
	}
	<-b.closing
	return 0, http.ErrBodyReadAfterClose
}

func (b *body) Close() error {
	if b.closed++; b.closed == 1 {
		close(b.closing)
	}
	return nil
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, "                "), nil }

type fails struct{ err error }

func (f fails) Read([]byte) (int, error) { return 0, f.err }

var request = new(http.Request)

var limits = roundtrip.Limits{Timeout: time.Minute, MaxBytes: 10}

func TestABodyIsReadWithinItsLimitsAndClosedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		body   io.Reader // nil for one that brings nothing until it is closed
		length int64
		text   string
		broken error
		took   time.Duration
	}{
		"whole":              {strings.NewReader("{}"), 2, "{}", nil, 0},
		"of unknown length":  {strings.NewReader("{}"), -1, "{}", nil, 0},
		"of a wrong length":  {strings.NewReader("{}"), 1 << 60, "{}", nil, 0},
		"the longest":        {strings.NewReader("0123456789"), 10, "0123456789", nil, 0},
		"a longer one":       {strings.NewReader("0123456789a"), 11, "0123456789", roundtrip.ErrTooLong, 0},
		"one without an end": {endless{}, -1, "          ", roundtrip.ErrTooLong, 0},
		"one that breaks":    {io.MultiReader(strings.NewReader("{"), fails{io.ErrUnexpectedEOF}), -1, "{", io.ErrUnexpectedEOF, 0},
		"one that hangs":     {nil, -1, "", context.DeadlineExceeded, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &body{Reader: test.body, closing: make(chan struct{})}
				a := roundtrip.Send(t.Context(), roundTripper(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"X": {"y"}}, Body: b, ContentLength: test.length}, nil
				}), request, limits)
				synctest.Wait()
				assert.Equal(t, 1, b.closed)
				assert.Equal(t, test.text, string(a.Body))
				assert.Equal(t, test.broken, a.Broken)
				assert.Equal(t, 200, a.Status)
				assert.Equal(t, "y", a.Header.Get("X"), "the headers count in any case")
				assert.Equal(t, test.took, a.Took)
				assert.Zero(t, a.At.Sub(a.Began), "the headers came at once")
			})
		})
	}
}

func TestWhatATestDoubleLeavesOut(t *testing.T) {
	for name, resp := range map[string]*http.Response{"a response": nil, "a body": {StatusCode: 204, ContentLength: 7}} {
		a := roundtrip.Send(t.Context(), roundTripper(func(*http.Request) (*http.Response, error) { return resp, nil }), request, limits)
		assert.Equal(t, resp == nil, a.Err != nil, name)
		assert.False(t, a.Transient() || a.Unsent || a.Broken != nil, name)
	}
}

func TestADialThatNobodyWaitsForEnds(t *testing.T) {
	for name, test := range map[string]struct {
		finish, connected bool
		took              time.Duration
	}{
		"a dial":                     {true, false, time.Second},
		"a connection":               {true, true, time.Minute},
		"a dial of a caller":         {false, false, time.Second},
		"a connection of a caller's": {false, true, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				a := roundtrip.Send(ctx, roundTripper(func(r *http.Request) (*http.Response, error) {
					trace := httptrace.ContextClientTrace(r.Context())
					if trace.GetConn("x"); test.connected {
						trace.GotConn(httptrace.GotConnInfo{})
					}
					<-r.Context().Done()
					return nil, r.Context().Err()
				}), request, roundtrip.Limits{Timeout: time.Minute, MaxBytes: 10, Finish: test.finish})
				require.Error(t, a.Err)
				assert.Equal(t, test.took, a.Took)
				assert.Equal(t, !test.connected, a.Unsent)
			})
		})
	}
}

func TestUnsentIsWhatProvablyReachedNobody(t *testing.T) {
	for name, test := range map[string]struct {
		asked, connected, wrote, unsent bool
	}{
		"a transport that reports nothing":   {},
		"no connection":                      {asked: true, unsent: true},
		"a kept connection that was dead":    {asked: true, connected: true, unsent: true},
		"headers that were written":          {asked: true, connected: true, wrote: true},
		"a transport that reports a part":    {connected: true},
		"a transport that reports otherwise": {wrote: true},
	} {
		a := roundtrip.Send(t.Context(), roundTripper(func(r *http.Request) (*http.Response, error) {
			trace := httptrace.ContextClientTrace(r.Context())
			if test.asked {
				trace.GetConn("x")
			}
			if test.connected {
				trace.GotConn(httptrace.GotConnInfo{})
			}
			if test.wrote {
				trace.WroteHeaders()
			}
			return nil, errors.New("reset")
		}), request, limits)
		assert.Equal(t, test.unsent, a.Unsent, name)
	}
}
