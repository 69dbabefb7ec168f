// Package exchange sends a request and reads its answer: one attempt within its time, and the loop that
// tries again what may pass by itself.
package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Answer is what came of one attempt: a status with what could be read, or an error.
type Answer struct {
	Status  int           // 0 where no answer came
	Header  http.Header   // nil where no answer came, or its headers are too long
	Body    []byte        // what was read of it
	Broken  error         // why Body is not whole; nil where it is
	Err     error         // why no answer came; nil where one did
	Refused bool          // the status was 401, which says enough also where the body does not come
	Unsent  bool          // it provably reached nobody
	Written int           // how often it was written: what can have been charged
	Began   time.Time     // when the attempt was made
	At      time.Time     // when its headers came; zero where no answer came
	Took    time.Duration // with the reading of the body
}

var (
	// ErrHeaderTooLong is why nothing is read of an answer whose headers have more bytes than are read.
	ErrHeaderTooLong = errors.New("its headers are longer than the client reads")
	// errMisuse is a transport that does not keep to the rules of http.RoundTripper.
	errMisuse = errors.New("the transport is at fault")
)

// Once sends r once, within the context whole, and reads the answer whole, both within timeout, but no more than maxBytes of its
// headers, and of its body after decompression.
//
// That transport returns when the context of its request ends is its own duty, as it is with http.Client:
// a goroutine for each attempt, which could be left behind, would nearly double the time of a lookup. The
// reading of a body ends in any case.
//
// leaving, unless nil, is told that r leaves, and then, where the transport tells of its connections, whether it
// may have reached anybody: not while it waits for the first.
func Once(whole context.Context, transport http.RoundTripper, r *http.Request, timeout time.Duration, maxBytes int64, leaving func(mayBeSent bool)) Answer {
	start := time.Now()
	ctx, cancel := context.WithTimeout(whole, timeout)
	defer cancel()
	trace := &trace{leaving: leaving}
	trace.tell(true)
	resp, err := transport.RoundTrip(r.WithContext(trace.watch(ctx))) //nolint:bodyclose // receive closes it
	err = problem(transport, resp, err)
	trace.over.Store(true)
	a := Answer{Err: err, Unsent: trace.unsent(ctx, err), Began: start}
	if !a.Unsent {
		a.Written = trace.written()
	}
	if err == nil {
		a.receive(ctx, resp, maxBytes)
		a.Refused = resp.StatusCode == http.StatusUnauthorized
		if a.Refused && whole.Err() == nil {
			a.Status, a.Err = resp.StatusCode, nil
		}
	}
	a.Took = time.Since(start)
	return a
}

// problem returns why there is no answer to be read. A response that comes with an error is none.
func problem(transport http.RoundTripper, resp *http.Response, err error) error {
	switch {
	case err != nil && abortedHeaders(err):
		return ErrHeaderTooLong
	case err != nil:
		return err
	case resp == nil:
		return fmt.Errorf("%w: %T returned neither a response nor an error", errMisuse, transport)
	case resp.StatusCode < 100:
		return fmt.Errorf("%w: %T returned a response with the status %d", errMisuse, transport, resp.StatusCode)
	case resp.Body == nil && resp.ContentLength > 0:
		return fmt.Errorf("%w: %T returned a response of %d bytes without a body", errMisuse, transport, resp.ContentLength)
	}
	return nil
}

// abortedHeaders reports whether net/http stopped reading an answer within its headers, for which it has
// no error of its own (http.Transport.MaxResponseHeaderBytes; the second is that of HTTP/2).
func abortedHeaders(err error) bool {
	text := err.Error()
	return strings.Contains(text, "server response headers exceeded") || strings.Contains(text, "response header list larger than advertised limit")
}

// receive takes the answer. A time that ran out while the body trickled in says nothing about the
// answer: then none came.
func (a *Answer) receive(ctx context.Context, resp *http.Response, maxBytes int64) {
	a.Status, a.Header, a.At = resp.StatusCode, resp.Header, time.Now()
	if headerBytes(resp.Header) > maxBytes {
		a.Header = nil
		_, _ = receiveBody(ctx, resp, nothing)
		a.Broken = ErrHeaderTooLong
		return
	}
	a.Body, a.Broken = receiveBody(ctx, resp, maxBytes)
	if errors.Is(a.Broken, context.Canceled) || errors.Is(a.Broken, context.DeadlineExceeded) {
		a.Status, a.Err = 0, a.Broken
	}
}

func headerBytes(h http.Header) (n int64) {
	for name, values := range h {
		for _, value := range values {
			n += int64(len(name) + len(": ") + len(value) + len("\r\n"))
		}
	}
	return n
}
