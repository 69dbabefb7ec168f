package fiscope

import (
	"context"
	"log/slog"

	"github.com/fiscope/fiscope/internal/background"
)

// core is what the services of a client share. A question goes down one of its lists of layers, its answer comes up.
type core struct {
	lookups  ask // Consultar
	searches ask // Buscar
	rates    ask // exchange rates
	receipts ask // validations

	background background.Group
	baseURL    string
	defaults   settings // of a call without options
	hooks      []Hook
	clock      clock
	hours      *serviceClock
	report     *reporter
	sol        *solGuard
	send       *sender
}

// notMade is the core of a zero Client or service. Each of its calls fails.
var notMade = newNotMade()

var errNotMade = misuse("this client or service is empty: make a client with NewClient")

func newNotMade() *core {
	r := &reporter{observer: new(observer)}
	none := through(func(context.Context, *question) (*answer, error) { return nil, errNotMade }, report(r))
	return &core{lookups: none, searches: none, rates: none, receipts: none, baseURL: "not made by NewClient", report: r, send: new(sender), hours: new(serviceClock)}
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
	if ctx == nil {
		ctx = context.Background()
	}
	e := k.ended(ctx, op, err)
	k.report.observer.call(ctx, Event{Op: op, Avoided: avoidedBy(e), Err: e})
	return e
}

// ended returns the error of a compound operation.
func (k *core) ended(ctx context.Context, op Operation, err error) *Error {
	return k.report.failure(ctx, &question{key: cacheKey{op: op}, set: &k.defaults}, new(answer), err)
}
