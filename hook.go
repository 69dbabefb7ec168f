package fiscope

import "context"

// hooked makes a call as the client's hook sees it, or as it is where there is none. It is apart from withHook so
// that such a call, a hit above all, does not pay for what tells a hook.
func hooked[R any](ctx context.Context, hook Hook, op Operation, set *settings, call func(context.Context, *settings) (R, error)) (result R, err error) {
	if set.response != nil { // what it held is of another call
		*set.response = Response{}
	}
	if hook == nil {
		return call(ctx, set)
	}
	return withHook(ctx, hook, op, set, call)
}

// withHook makes a call as a hook sees it, which gets the Response that call fills.
func withHook[R any](ctx context.Context, hook Hook, op Operation, set *settings, call func(context.Context, *settings) (R, error)) (result R, err error) {
	ctx, end := hook.begin(ctx, op)
	if end == nil {
		return call(ctx, set)
	}
	if set.response == nil {
		own := &struct { // in one allocation
			settings
			of Response
		}{settings: *set}
		own.response = &own.of
		set = &own.settings
	}
	err = brokenOff(op) // until it returns
	defer func() {
		var told error
		if err != nil {
			told = copyError(err)
		}
		end(set.response.copy(), told)
	}()
	return call(ctx, set)
}

// begin calls the hook, and returns the context of the operation and whom to tell its end. A nil context is
// none to hand out, and stays nil, since the operation is to refuse it.
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
