package exchange

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// trace is what the transport tells about the bytes of one attempt. Its hooks may be called late and by
// other goroutines.
type trace struct {
	hooks                          httptrace.ClientTrace
	leaving                        func(mayBeSent bool) // nil for nobody to tell
	over                           atomic.Bool          // it has failed, or its answer is there: what is told now comes late
	asked                          atomic.Bool
	connections, headers, requests atomic.Int64 // how often one was got, and they were written
}

// watch returns a context under which the transport tells t.
func (t *trace) watch(ctx context.Context) context.Context {
	t.hooks.GetConn = func(string) {
		t.asked.Store(true)
		t.tell(t.connections.Load() > 0)
	}
	t.hooks.GotConn = func(httptrace.GotConnInfo) {
		t.connections.Add(1)
		t.tell(true)
	}
	t.hooks.WroteHeaders = func() { t.headers.Add(1) }
	t.hooks.WroteRequest = func(httptrace.WroteRequestInfo) { t.requests.Add(1) }
	return httptrace.WithClientTrace(ctx, &t.hooks)
}

// tell tells whether the request may have been sent, while it is under way.
func (t *trace) tell(mayBeSent bool) {
	if t.leaving != nil && !t.over.Load() {
		t.leaving(mayBeSent)
	}
}

// unsent reports whether the attempt provably reached nobody: it failed, and it asked for a connection
// and got none, or the connection broke before the headers were written (one that had been kept open and
// was closed by the other side). An attempt that ran out of time may still be writing. A transport that
// does not tell of its connections proves nothing.
func (t *trace) unsent(ctx context.Context, err error) bool {
	return err != nil && t.asked.Load() && (t.connections.Load() == 0 || ctx.Err() == nil && t.headers.Load() == 0)
}

// written returns how often the request was written, or may have been: net/http replays a GET by itself
// when a connection that was kept open dies before the answer (golang/go#48438), and when an HTTP/2 server
// refuses its stream. What was written may be told of only after the answer, the connection is before.
func (t *trace) written() int {
	return int(max(1, t.connections.Load(), t.headers.Load(), t.requests.Load()))
}
