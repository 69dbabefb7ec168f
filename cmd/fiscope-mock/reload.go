package main

import (
	"context"
	"log/slog"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/internal/filewatch"
)

// followData reads the files of -data again after a change, until ctx ends. It reports an invalid file, and keeps the
// present data.
func (r *running) followData(ctx context.Context, taken filewatch.State, log *slog.Logger) {
	filewatch.Follow(ctx, taken, func() filewatch.State { return filewatch.Of(r.data...) }, func(filewatch.State) {
		opts, err := r.options()
		if err == nil {
			err = r.mock.Control().Reload(opts...)
		}
		if err != nil {
			log.Warn("no tomó lo nuevo de -data, y siguen los datos de antes", "error", terminal.InSpanish(err))
			return
		}
		log.Info("tomó los datos de -data otra vez")
	})
}
