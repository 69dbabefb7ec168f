package exchange

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// trace is what the transport tells about the bytes of one attempt. Its hooks may be called late and by
// other goroutines.
type trace struct {
	hooks             httptrace.ClientTrace
	asked, connected  atomic.Bool
	headers, requests atomic.Int64 // how often they were written
}

// watch returns a context under which the transport tells t.
func (t *trace) watch(ctx context.Context) context.Context {
	t.hooks.GetConn = func(string) { t.asked.Store(true) }
	t.hooks.GotConn = func(httptrace.GotConnInfo) { t.connected.Store(true) }
	t.hooks.WroteHeaders = func() { t.headers.Add(1) }
	t.hooks.WroteRequest = func(httptrace.WroteRequestInfo) { t.requests.Add(1) }
	return httptrace.WithClientTrace(ctx, &t.hooks)
}

// unsent reports whether the attempt provably reached nobody: it failed, and it asked for a connection
// and got none, or the connection broke before the headers were written (one that had been kept open and
// was closed by the other side). An attempt that ran out of time may still be writing. A transport that
// does not tell of its connections proves nothing.
func (t *trace) unsent(ctx context.Context, err error) bool {
	return err != nil && t.asked.Load() && (!t.connected.Load() || ctx.Err() == nil && t.headers.Load() == 0)
}

// written returns how often the request was written: net/http replays a GET by itself when a connection
// that was kept open dies before the answer (golang/go#48438), and when an HTTP/2 server refuses its
// stream. A request whose answer or end came first may have been told of by its headers alone.
func (t *trace) written() int { return int(max(1, t.headers.Load(), t.requests.Load())) }
