package fiscope

import (
	"context"
	"log/slog"

	"github.com/fiscope/fiscope/internal/flight"
)

// core is what the services of a client share. A question goes down one of its lists of layers, its answer comes up.
type core struct {
	lookups  ask // Consultar
	searches ask // Buscar
	rates    ask // exchange rates
	receipts ask // validations

	runner       flight.Runner // runs what outlives its call
	baseURL      string
	defaults     *settings // of a call without options; a printed Client shows the pointer alone
	hooks        []Hook
	clock        calendar
	serviceClock *serviceClock
	report       *reporter
	sol          *solGuard
	send         *sender
}

// logPanic logs a panic in the background.
func (k *core) logPanic(text string, stack []byte) {
	if k.report.observer.logger == nil {
		return
	}
	defer func() { _ = recover() }() // the logger itself may panic
	k.report.observer.logger.Error("fiscope: a call panicked in the background", slog.String("panic", k.report.secrets.Line(text)), slog.String("stack", string(stack)))
}

// refuse returns the error of a compound operation that made no query, and reports it.
func (k *core) refuse(ctx context.Context, op Operation, err error) *Error {
	e := k.ended(ctx, op, err)
	k.report.observer.call(ctx, Event{Op: op, Avoided: outcomes[e.outcome].avoided, Err: e}, e)
	return e
}

// ended returns the error of a compound operation.
func (k *core) ended(ctx context.Context, op Operation, err error) *Error {
	return k.report.failure(ctx, &question{key: cacheKey{op: op}, secrets: k.defaults.secrets}, new(answer), err)
}

// get makes a call with its options. own copies a result that other calls have too.
func get[T any](ctx context.Context, k *core, list ask, in subject, opts []CallOption, own func(T) T) (T, error) {
	set := k.defaults
	if len(opts) > 0 || ctx == nil {
		ctx, set = set.of(ctx, opts)
	}
	result, a, err := put(ctx, list, in, set, own)
	set.fill(a)
	return result, err
}

// put puts a question to a list. It returns the answer too, which is never nil.
func put[T any](ctx context.Context, list ask, in subject, set *settings, own func(T) T) (none T, _ *answer, _ error) {
	a, err := list(ctx, &question{input: in, key: in.key(), set: set, secrets: set.secrets})
	switch {
	case err != nil:
		return none, a, err
	case a.shared:
		return own(a.result.(T)), a, nil
	}
	return a.result.(T), a, nil
}

func copyOf[T any](v *T) *T {
	own := *v
	return &own
}
