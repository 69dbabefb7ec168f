package fiscope_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fiscope/fiscope"
)

// frames is an HTTP/2 server of raw frames (RFC 9113): net/http's own cannot be made to refuse a stream.
type frames struct {
	t        *testing.T
	requests atomic.Int64
	claves   atomic.Int64 // how often the clave was received
	// answer is called at the end of each request, by its number from 1 on. It returns frames, and whether
	// the connection is closed after them.
	answer func(stream uint32, number int64) (frames [][]byte, hangUp bool)
}

const (
	frameData, frameHeaders, frameReset, frameSettings, framePing, frameGoAway = 0, 1, 3, 4, 6, 7

	flagEndStream, flagAck, flagEndHeaders = 1, 1, 4

	codeProtocolError, codeRefusedStream = 1, 7
)

func frame(kind, flags byte, stream uint32, payload ...byte) []byte {
	head := []byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(head, stream), payload...)
}

func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// serve returns the URL of the server and an HTTP client that trusts it.
func (f *frames) serve() (string, *http.Client) {
	certified := httptest.NewUnstartedServer(http.NotFoundHandler())
	certified.EnableHTTP2 = true
	certified.StartTLS()
	f.t.Cleanup(certified.Close)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	})
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go f.connection(conn)
		}
	}()
	hc := certified.Client()
	f.t.Cleanup(hc.CloseIdleConnections)
	return "https://" + l.Addr().String(), hc
}

func (f *frames) connection(conn net.Conn) {
	defer conn.Close()
	preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return
	}
	_, _ = conn.Write(frame(frameSettings, 0, 0))
	head := make([]byte, 9)
	for {
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			return
		}
		kind, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		switch {
		case kind == frameSettings && flags&flagAck == 0:
			_, _ = conn.Write(frame(frameSettings, flagAck, 0))
		case kind == framePing && flags&flagAck == 0:
			_, _ = conn.Write(frame(framePing, flagAck, 0, payload...))
		case kind == frameData && bytes.Contains(payload, []byte(clave)):
			f.claves.Add(1)
		}
		if (kind == frameData || kind == frameHeaders) && flags&flagEndStream != 0 {
			answer, hangUp := f.answer(stream, f.requests.Add(1))
			for _, a := range answer {
				_, _ = conn.Write(a)
			}
			if hangUp {
				return
			}
		}
	}
}

func reset(stream uint32, code uint32) [][]byte {
	return [][]byte{frame(frameReset, 0, stream, number(code)...)}
}

// found is a 200 with that body.
func found(stream uint32, body string) [][]byte {
	const status200 = 0x88 // of HPACK's static table
	return [][]byte{
		frame(frameHeaders, flagEndHeaders, stream, status200),
		frame(frameData, flagEndStream, stream, []byte(body)...),
	}
}

func TestNoHTTP2ServerGetsAValidationTwice(t *testing.T) {
	unsent := fiscope.DefaultRetryPolicy()
	unsent.RetryUnsentPOST = true
	for name, answer := range map[string]func(stream uint32, n int64) ([][]byte, bool){
		"a refused stream": func(stream uint32, _ int64) ([][]byte, bool) { return reset(stream, codeRefusedStream), false },
		"a protocol error": func(stream uint32, _ int64) ([][]byte, bool) { return reset(stream, codeProtocolError), false },
		"a GOAWAY before it": func(uint32, int64) ([][]byte, bool) {
			return [][]byte{frame(frameGoAway, 0, 0, append(number(0), number(0)...)...)}, true
		},
		"a connection that dies": func(uint32, int64) ([][]byte, bool) { return nil, true },
		"one that was in use before": func(stream uint32, n int64) ([][]byte, bool) {
			if n == 1 {
				return found(stream, record), false
			}
			return nil, true
		},
	} {
		for retries, p := range map[string]fiscope.RetryPolicy{"by default": fiscope.DefaultRetryPolicy(), "with RetryUnsentPOST": unsent} {
			t.Run(name+"/"+retries, func(t *testing.T) {
				f := &frames{t: t, answer: answer}
				url, hc := f.serve()
				client, err := fiscope.NewClient(url, apiKey, fiscope.WithHTTPClient(hc), fiscope.WithRetry(p),
					fiscope.WithTimeout(5*time.Second, 5*time.Second)) // net/http waits longer and longer before it replays: it is caught soon
				require.NoError(t, err)
				if name == "one that was in use before" {
					require.NoError(t, operations["consultar"](t.Context(), client))
				}
				err = operations["validar"](t.Context(), client)
				require.ErrorIs(t, err, fiscope.ErrUnavailable)
				var e *fiscope.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, 1, e.Attempts)
				assert.Equal(t, fiscope.DeliveryUnknown, e.Delivery)
				assert.EqualValues(t, 1, f.claves.Load(), "the clave was written")
			})
		}
	}
}

// The loop that tries an unsent validation again is the only one that may.
func TestAnUnsentValidationThatIsTriedAgainIsSentOnce(t *testing.T) {
	p := fiscope.DefaultRetryPolicy()
	p.RetryUnsentPOST, p.Base, p.Cap = true, time.Millisecond, time.Millisecond
	f := &frames{t: t, answer: func(stream uint32, _ int64) ([][]byte, bool) { return reset(stream, codeRefusedStream), false }}
	url, hc := f.serve()
	attempts := 0
	rt := roundTripper(func(r *http.Request) (*http.Response, error) {
		if attempts++; attempts == 1 {
			httptrace.ContextClientTrace(r.Context()).GetConn("x")
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		}
		return hc.Transport.RoundTrip(r)
	})
	client, err := fiscope.NewClient(url, apiKey, fiscope.WithHTTPClient(&http.Client{Transport: rt}), fiscope.WithRetry(p))
	require.NoError(t, err)
	require.ErrorIs(t, operations["validar"](t.Context(), client), fiscope.ErrUnavailable)
	assert.Equal(t, 2, attempts)
	assert.EqualValues(t, 1, f.claves.Load())
}

func TestAReplayOverHTTP2IsCounted(t *testing.T) {
	f := &frames{t: t, answer: func(stream uint32, n int64) ([][]byte, bool) {
		if n == 1 {
			return reset(stream, codeRefusedStream), false
		}
		return found(stream, record), false
	}}
	url, hc := f.serve()
	store := newFleetStore()
	client, err := fiscope.NewClient(url, apiKey, fiscope.WithHTTPClient(hc), fiscope.WithRetry(noRetries()), fiscope.WithStore(store))
	require.NoError(t, err)
	require.NoError(t, operations["consultar"](t.Context(), client), "net/http repeated it")
	assert.EqualValues(t, 2, f.requests.Load())
	assert.EqualValues(t, 1, client.Stats().Attempts)
	assert.EqualValues(t, 2, client.Stats().Sent)
	require.NoError(t, client.Close(t.Context()))
	require.Len(t, store.settled, 1)
	assert.Equal(t, 2, store.settled[0].Written)
}

// What was written counts, whatever came of it: by a transport that tells what it writes.
func TestWhatWasWrittenIsCounted(t *testing.T) {
	for name, test := range map[string]struct {
		events  []string
		written int
	}{
		"once":                          {[]string{"connection", "headers", "request"}, 1},
		"twice":                         {[]string{"connection", "headers", "request", "connection", "headers", "request"}, 2},
		"twice on one connection":       {[]string{"connection", "headers", "request", "headers", "request"}, 2},
		"the second not yet whole":      {[]string{"connection", "headers", "request", "headers"}, 2},
		"not yet told of":               {[]string{"connection", "connection", "headers"}, 2},
		"by one that tells of no bytes": {nil, 1},
	} {
		for outcome, fails := range map[string]error{"answered": nil, "not answered": io.ErrUnexpectedEOF} {
			t.Run(name+"/"+outcome, func(t *testing.T) {
				store := newFleetStore()
				client := newClient(t, roundTripper(func(r *http.Request) (*http.Response, error) {
					trace := httptrace.ContextClientTrace(r.Context())
					trace.GetConn("x")
					for _, e := range test.events {
						switch e {
						case "connection":
							trace.GotConn(httptrace.GotConnInfo{})
						case "headers":
							trace.WroteHeaders()
						case "request":
							trace.WroteRequest(httptrace.WroteRequestInfo{Err: fails})
						}
					}
					if fails != nil && test.events != nil {
						return nil, fails
					}
					return raw(200, record)(r)
				}), fiscope.WithRetry(noRetries()), fiscope.WithStore(store))
				err := operations["consultar"](t.Context(), client)
				assert.Equal(t, fails != nil && test.events != nil, errors.Is(err, fiscope.ErrUnavailable))
				assert.EqualValues(t, test.written, client.Stats().Sent)
				require.NoError(t, client.Close(t.Context()))
				require.Len(t, store.settled, 1)
				assert.Equal(t, test.written, store.settled[0].Written)
			})
		}
	}
}
