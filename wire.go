package fiscope

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// wire is what the transport told about the bytes of one attempt. Its hooks may be called late and by
// other goroutines.
type wire struct {
	trace                          httptrace.ClientTrace
	asked, connected, wroteHeaders atomic.Bool
	requests                       atomic.Int64
	unsent                         bool // decided when the attempt ends
}

func (w *wire) watch(ctx context.Context) context.Context {
	w.trace.GetConn = func(string) { w.asked.Store(true) }
	w.trace.GotConn = func(httptrace.GotConnInfo) { w.connected.Store(true) }
	w.trace.WroteHeaders = func() { w.wroteHeaders.Store(true) }
	w.trace.WroteRequest = func(httptrace.WroteRequestInfo) { w.requests.Add(1) }
	return httptrace.WithClientTrace(ctx, &w.trace)
}

// end decides whether the attempt provably reached nobody: it failed, and it asked for a connection and
// got none, or the connection broke before the headers were written (one that had been kept open and
// was closed by the other side). An attempt that ran out of time may still be writing. A transport that
// does not tell of its connections proves nothing.
func (w *wire) end(ctx context.Context, err error) {
	w.unsent = err != nil && w.asked.Load() && (!w.connected.Load() || ctx.Err() == nil && !w.wroteHeaders.Load())
}

// written returns how many queries the attempt can have cost: net/http replays a GET by itself when a
// connection that was kept open dies before the answer (golang/go#48438).
func (w *wire) written() int {
	if w.unsent {
		return 0
	}
	return int(max(1, w.requests.Load()))
}
