package fiscope

import "context"

// hook calls the client's hooks around an operation.
func hook(hooks []Hook) layer {
	if len(hooks) == 0 {
		return clearResponse
	}
	return func(next ask) ask {
		return func(ctx context.Context, q *question) (*answer, error) {
			return hooked(ctx, hooks, q.key.op, q.set, func(ctx context.Context, set *settings) (*answer, error) {
				own := *q
				own.set = set
				return next(ctx, &own)
			})
		}
	}
}

// clearResponse empties the caller's Response, which an earlier call may have filled.
func clearResponse(next ask) ask {
	return func(ctx context.Context, q *question) (*answer, error) {
		if q.set.response != nil {
			*q.set.response = Response{}
		}
		return next(ctx, q)
	}
}

// hooked makes a call within hooks, the first outermost. Each gets the Response that call fills.
func hooked[R any](ctx context.Context, hooks []Hook, op Operation, set *settings, call func(context.Context, *settings) (R, error)) (result R, err error) {
	if set.response != nil {
		*set.response = Response{}
	}
	if len(hooks) == 0 {
		return call(ctx, set)
	}
	within, end := hooks[0].begin(ctx, op)
	if end == nil {
		return hooked(within, hooks[1:], op, set, call)
	}
	own := *set
	if own.response == nil {
		own.response = new(Response)
	}
	err = panickedError(op) // unless the call returns
	defer func() {
		var failure error
		if err != nil {
			failure = copyError(err)
		}
		end(own.response.copy(), failure)
	}()
	return hooked(within, hooks[1:], op, &own, call)
}

// begin calls the hook. It returns the context of the operation and the function to call at its end. A nil context
// stays nil: the operation refuses it.
func (h Hook) begin(ctx context.Context, op Operation) (context.Context, func(Response, error)) {
	if ctx == nil {
		_, end := h(context.Background(), op)
		return nil, end
	}
	within, end := h(ctx, op)
	if within == nil {
		within = ctx
	}
	return within, end
}
