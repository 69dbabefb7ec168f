package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/internal/filewatch"
)

// followData reads the files of -data again after a change, until ctx ends. It reports an invalid file, and keeps the
// present data.
func (r *running) followData(ctx context.Context, taken filewatch.State, log *slog.Logger) {
	filewatch.Follow(ctx, taken, r.dataState, func(filewatch.State) {
		opts, err := r.options()
		if err == nil {
			err = r.mock.Reload(opts...)
		}
		if err != nil {
			log.Warn("no tomó lo nuevo de -data, y siguen los datos de antes", "error", terminal.InSpanish(err))
			return
		}
		log.Info("tomó los datos de -data otra vez")
	})
}

// dataState returns the state of the files of -data, except the one that the program itself writes.
func (r *running) dataState() filewatch.State {
	return filewatch.Of(slices.DeleteFunc(slices.Clone(r.data), func(name string) bool { return filepath.Clean(name) == filepath.Clean(r.record) })...)
}
