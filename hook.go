package fiscope

import "context"

// Hook is called at the start of each operation, before any check, in the goroutine of its caller. The operation runs
// in the context that the Hook returns: a span in it is the parent of the transport's. nil keeps the caller's context.
//
// The function that the Hook returns may be nil. It is called once at the end, in the same goroutine, with copies of
// what the caller gets. If the call panics or ends its goroutine, it gets an error without a class.
//
// SUNAT, UltimoPublicado, MasReciente, Mes and Esperar call the hook for the whole, and then for each query. A batch
// calls it only for each query.
type Hook func(ctx context.Context, op Operation) (context.Context, func(Response, error))

// hook calls the client's hooks around an operation.
func hook(hooks []Hook) layer {
	if len(hooks) == 0 {
		return nil
	}
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			return hooked(ctx, hooks, q.key.op, func(ctx context.Context) (*answer, error) { return next(ctx, q) })
		}
	}
}

// hooked makes a call within hooks, the first outermost.
func hooked(ctx context.Context, hooks []Hook, op Operation, call func(context.Context) (*answer, error)) (a *answer, err error) {
	if len(hooks) == 0 {
		return call(ctx)
	}
	within, end := hooks[0](ctx, op)
	if within == nil {
		within = ctx
	}
	if end == nil {
		return hooked(within, hooks[1:], op, call)
	}
	err = panickedError(op) // unless the call returns
	defer func() {
		var failure error
		if err != nil {
			failure = copyError(err)
		}
		end(a.response(), failure)
	}()
	return hooked(within, hooks[1:], op, call)
}
