package flight

import "context"

// Detached runs work in a goroutine of its own, with ctx, and waits for it until ctx ends. It returns what the work
// returns, a *Panic, or ctx.Err(). In the last case late, which may be nil, gets the value of work that succeeds later.
func Detached[V any](ctx context.Context, r *Runner, work func(context.Context) (V, error), late func(V)) (V, error) {
	type outcome struct {
		value V
		err   error
	}
	done := make(chan outcome) // unbuffered: either the caller gets the outcome, or late does
	var o outcome
	r.run(func() { o.value, o.err = work(ctx) }, func(panicked error) {
		if panicked != nil {
			o.err = panicked
		}
		select {
		case done <- o:
		case <-ctx.Done():
			if o.err == nil && late != nil {
				late(o.value)
			}
		}
	})
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}
