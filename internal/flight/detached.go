package flight

import "context"

// Detached runs work in a goroutine of its own, with ctx, and waits for it until ctx ends. It returns what the work
// returns, a *Panic, or ctx.Err(). In the last case late, which may be nil, gets the value of work that succeeds later.
func Detached[V any](ctx context.Context, r *Runner, work func(context.Context) (V, error), late func(V)) (V, error) {
	var value, none V
	var err error
	done := make(chan struct{}) // unbuffered: either the caller gets the value, or late does
	r.run(func() { value, err = work(ctx) }, func(panicked error) {
		if panicked != nil {
			err = panicked
		}
		select {
		case done <- struct{}{}:
		case <-ctx.Done():
			if err == nil && late != nil {
				late(value)
			}
		}
	})
	select {
	case <-done:
		return value, err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
