package main

import (
	"context"
	"time"

	"github.com/fiscope/fiscope"
)

// grace is how long an interrupted batch waits for queries in flight: they are paid.
const grace = 15 * time.Second

// hook lets queries in flight finish after an interruption.
func (b *batch) hook(ctx context.Context, _ fiscope.Operation) (context.Context, func(fiscope.Response, error)) {
	if ctx.Err() != nil {
		return ctx, nil
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	say := func() { b.progress.Say("Espero lo que está en camino; otra vez Ctrl-C corta.") }
	stop := context.AfterFunc(ctx, func() {
		b.waits.Do(say)
		time.AfterFunc(grace, cancel)
	})
	return own, func(fiscope.Response, error) {
		if !stop() {
			b.waits.Do(say) // before any other output
		}
		cancel()
	}
}
