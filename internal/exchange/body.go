package exchange

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/fiscope/fiscope/internal/broken"
)

// ErrTooLong is why a body is not whole that has more bytes than are read.
var ErrTooLong = errors.New("it is longer than the client reads")

// nothing is the limit of a body that is only closed.
const nothing = -1

// receiveBody reads a body, but no more than limit bytes of it and one, and closes it. It returns when ctx
// ends, whatever the body does.
func receiveBody(ctx context.Context, resp *http.Response, limit int64) ([]byte, error) {
	switch {
	case resp.Body == nil: // test doubles leave it away, and http.Client takes it for an empty one
		return nil, nil
	case endsItself(resp.Body):
		defer resp.Body.Close()
		return readUpTo(ctx, resp.Body, resp.ContentLength, limit)
	}
	return readApart(ctx, resp.Body, resp.ContentLength, limit)
}

// endsItself reports whether reading a body cannot outlast the context of its request. Those of net/http
// end with it, but for a connection that was handed over (status 101); bytes in memory, which test doubles
// answer with, end at once.
func endsItself(body io.ReadCloser) bool {
	value := reflect.ValueOf(body)
	if value.Type() == typeOfNopCloser {
		switch value.Field(0).Interface().(type) {
		case *bytes.Reader, *strings.Reader, *bytes.Buffer:
			return true
		}
		return false
	}
	of := value.Type()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	_, handedOver := body.(io.Writer)
	return of.PkgPath() == "net/http" && !handedOver
}

// typeOfNopCloser is what io.NopCloser makes of bytes in memory: a struct whose one field is the reader.
var typeOfNopCloser = reflect.TypeOf(io.NopCloser(new(bytes.Reader)))

// readUpTo reads to the end, but no more than limit bytes and one, of about length bytes, where that is
// above 0.
func readUpTo(ctx context.Context, body io.Reader, length, limit int64) ([]byte, error) {
	capacity := int64(bytes.MinRead)
	if length > 0 {
		capacity = length + 1 // with room for a last read, which brings the end
	}
	b := make([]byte, 0, min(capacity, limit+1))
	for empty := 0; empty < 100; empty++ {
		if int64(len(b)) > limit {
			return b[:max(0, limit)], ErrTooLong
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := body.Read(b[len(b):min(int64(cap(b)), limit+1)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF && int64(len(b)) > limit: // which came with the last bytes
			return b[:max(0, limit)], ErrTooLong
		case err == io.EOF:
			return b, nil
		case err != nil:
			return b, cmp.Or(ctx.Err(), err) // net/http's error is the cause, which can be anything
		case n > 0:
			empty = -1
		}
	}
	return b, io.ErrNoProgress
}

// readApart reads a body that may go on after the end of ctx, until it is closed or for longer. It is read
// in a goroutine of its own, which is left behind then, and ends when the body lets go.
func readApart(ctx context.Context, body io.ReadCloser, length, limit int64) ([]byte, error) {
	type result struct {
		bytes []byte
		err   error
	}
	read, over := make(chan result, 1), make(chan *broken.Off, 1)
	var left, closed atomic.Bool
	closeBody := func() {
		if closed.CompareAndSwap(false, true) {
			_ = body.Close()
		}
	}
	go broken.Run(func() {
		b, err := readUpTo(ctx, leaving{body, &left}, length, limit)
		read <- result{b, err}
		closeBody()
	}, func(off *broken.Off) { over <- off })
	select {
	case off := <-over:
		off.Raise()
		r := <-read
		return r.bytes, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-read: // all of it, in time: only its Close takes longer
		return r.bytes, r.err
	default:
	}
	if ends(over) {
		(<-over).Raise()
		return nil, ctx.Err()
	}
	left.Store(true)
	go broken.Run(closeBody, func(*broken.Off) {}) // nobody waits for it any more
	return nil, ctx.Err()                          // what a Read brings from now on, also an end, comes of the Close
}

// leaving is a reader that is not read on once it was left behind.
type leaving struct {
	io.Reader
	left *atomic.Bool
}

func (r leaving) Read(p []byte) (int, error) {
	if r.left.Load() {
		return 0, io.ErrClosedPipe
	}
	return r.Reader.Read(p)
}

// ends reports whether a reading is over whose context just ended. It gives way to the goroutine that has
// to see to it, so that a body which heeds its context is closed when its call returns; to wait for a time
// would hold the call for those which do not.
func ends(over <-chan *broken.Off) bool {
	for range 1000 {
		if len(over) > 0 {
			return true
		}
		runtime.Gosched()
	}
	return false
}
