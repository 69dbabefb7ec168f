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
}

func (w *wire) watch(ctx context.Context) context.Context {
	w.trace.GetConn = func(string) { w.asked.Store(true) }
	w.trace.GotConn = func(httptrace.GotConnInfo) { w.connected.Store(true) }
	w.trace.WroteHeaders = func() { w.wroteHeaders.Store(true) }
	return httptrace.WithClientTrace(ctx, &w.trace)
}

// unsent reports whether the attempt, which failed, provably reached nobody: it asked for a connection
// and got none, or the connection broke before the headers were written (one that had been kept open
// and was closed by the other side). An attempt that ran out of time may still be writing. A transport
// that does not tell of its connections proves nothing.
func (w *wire) unsent(ctx context.Context) bool {
	return w.asked.Load() && (!w.connected.Load() || ctx.Err() == nil && !w.wroteHeaders.Load())
}
