// Package roundtrip sends one request and reads its answer.
package roundtrip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"
)

// Answer is the outcome of one attempt: a status with what could be read, or an error.
type Answer struct {
	Status   int            // 0 if no answer came
	Header   http.Header    // nil if no answer came
	Body     []byte         // what was read of it
	Broken   error          // why Body is incomplete; nil if it is complete
	Err      error          // why no answer came; nil if one did
	Unsent   bool           // it provably reached no server
	TimedOut bool           // its own timeout ended it
	Began    time.Time      // when the attempt was made
	At       time.Time      // when the headers came; zero if no answer came
	Date     time.Time      // their Date; zero if no answer came, or without one
	Took     time.Duration  // including the reading of the body
	Response *http.Response // as it came, its body already read; nil if no answer came
}

// ErrTooLong is the Broken of a body that has more bytes than are read.
var ErrTooLong = errors.New("it is longer than the client reads")

// Limits bound an attempt.
type Limits struct {
	Timeout  time.Duration // of the whole attempt
	MaxBytes int64         // of the body, after decompression
	Finish   bool          // once connected, the attempt goes on even if ctx ends
}

// Send sends a request and reads the answer, within ctx and l.
func Send(ctx context.Context, transport http.RoundTripper, request *http.Request, l Limits) Answer {
	a := Answer{Began: time.Now()}
	t := new(trace)
	life, cancel := t.life(ctx, l)
	defer cancel()
	resp, err := transport.RoundTrip(request.WithContext(life))
	switch {
	case err == nil && resp == nil:
		a.Err = errMisuse
	case err != nil:
		a.Err, a.Unsent = err, t.unsent(life)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			a.Err = fmt.Errorf("no answer within %s: %w", l.Timeout, err)
		case strings.Contains(err.Error(), "GetBody"): // advice of net/http, for another program
			a.Err = errClosed
		}
	default:
		a.receive(life, resp, l.MaxBytes)
	}
	a.TimedOut = (a.Err != nil || a.Broken != nil) && life.Err() != nil && ctx.Err() == nil
	a.Took = time.Since(a.Began)
	return a
}

// errClosed is the error if an HTTP/2 server ends a connection (GOAWAY) or refuses a stream after the body was written.
var errClosed = errors.New("the service closed the connection, or refused the request, without an answer")

var errMisuse = errors.New("the transport returned neither a response nor an error")

// receive reads the answer, and closes its body when the attempt ends.
func (a *Answer) receive(ctx context.Context, resp *http.Response, limit int64) {
	a.Status, a.Header, a.At, a.Response = resp.StatusCode, resp.Header, time.Now(), resp
	a.Date = date(resp.Header)
	if resp.Body == nil { // test doubles may leave it out
		resp.Body = http.NoBody
	}
	body := resp.Body
	resp.Body = http.NoBody
	stop := context.AfterFunc(ctx, func() { _ = body.Close() })
	read := bytes.NewBuffer(make([]byte, 0, max(0, min(resp.ContentLength, limit))+bytes.MinRead))
	_, a.Broken = read.ReadFrom(io.LimitReader(body, limit+1))
	if stop() { // otherwise the end of the attempt closed it
		_ = body.Close()
	}
	a.Body = read.Bytes()
	switch {
	case a.Broken != nil && ctx.Err() != nil:
		a.Broken = ctx.Err()
	case int64(len(a.Body)) > limit:
		a.Body, a.Broken = a.Body[:limit], ErrTooLong
	}
}

// trace is what the transport reports about its connections. A transport that reports nothing proves nothing.
type trace struct {
	asked, connected, wrote atomic.Bool
	hooks                   httptrace.ClientTrace
}

// life returns the context of the request, which the transport reports to. When ctx ends, a dial always ends with it.
func (t *trace) life(ctx context.Context, l Limits) (context.Context, context.CancelFunc) {
	t.hooks.GetConn = func(string) { t.asked.Store(true) }
	t.hooks.GotConn = func(httptrace.GotConnInfo) { t.connected.Store(true) }
	t.hooks.WroteHeaders = func() { t.wrote.Store(true) }
	ctx = httptrace.WithClientTrace(ctx, &t.hooks)
	if !l.Finish {
		return context.WithTimeout(ctx, l.Timeout)
	}
	life, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.Timeout)
	stop := context.AfterFunc(ctx, func() {
		if t.asked.Load() && !t.connected.Load() {
			cancel()
		}
	})
	return life, func() {
		stop()
		cancel()
	}
}

// unsent reports whether a failed request provably reached no server: there was no connection, or a reused one broke
// before the headers were written. A request that timed out may still be writing.
func (t *trace) unsent(ctx context.Context) bool {
	return t.asked.Load() && (!t.connected.Load() || ctx.Err() == nil && !t.wrote.Load())
}
