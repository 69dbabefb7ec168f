// Package exchange sends a request and reads its answer: one attempt within its time, and the loop that
// tries again what may pass by itself.
package exchange

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Answer is what came of one attempt: a status with what could be read, or an error.
type Answer struct {
	Status  int           // 0 where no answer came
	Header  http.Header   // nil where no answer came
	Body    []byte        // what was read of it
	Broken  error         // why Body is not whole; nil where it is
	Err     error         // why no answer came; nil where one did
	Refused bool          // the status was 401, which says enough also where the body does not come
	Unsent  bool          // it provably reached nobody
	Written int           // how often it was written: what can have been charged
	Took    time.Duration // with the reading of the body
}

// ErrTooLong is why a body is not whole that has more bytes than are read.
var ErrTooLong = errors.New("it is longer than the client reads")

// Once sends r once and reads the answer whole, both within timeout, but no more than maxBytes of its
// body after decompression.
func Once(transport http.RoundTripper, r *http.Request, timeout time.Duration, maxBytes int64) Answer {
	start := time.Now()
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	trace := new(trace)
	resp, err := transport.RoundTrip(r.WithContext(trace.watch(ctx)))
	a := Answer{Err: err, Unsent: trace.unsent(ctx, err)}
	if !a.Unsent {
		a.Written = trace.written()
	}
	if err == nil {
		a.receive(resp, maxBytes)
		a.Refused = resp.StatusCode == http.StatusUnauthorized
		if a.Refused && r.Context().Err() == nil {
			a.Status, a.Err = resp.StatusCode, nil
		}
	}
	a.Took = time.Since(start)
	return a
}

// receive reads the body. A time that ran out while it trickled in says nothing about the answer: then
// none came.
func (a *Answer) receive(resp *http.Response, maxBytes int64) {
	a.Status, a.Header = resp.StatusCode, resp.Header
	var b bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= maxBytes {
		b.Grow(int(n) + bytes.MinRead)
	}
	_, a.Broken = b.ReadFrom(io.LimitReader(resp.Body, maxBytes+1))
	_ = resp.Body.Close()
	if a.Body = b.Bytes(); int64(len(a.Body)) > maxBytes {
		a.Broken = ErrTooLong
	}
	if errors.Is(a.Broken, context.Canceled) || errors.Is(a.Broken, context.DeadlineExceeded) {
		a.Status, a.Err = 0, a.Broken
	}
}
