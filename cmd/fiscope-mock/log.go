package main

import (
	"io"
	"log/slog"
)

// The formats of -log.
const (
	logText = "text"
	logJSON = "json"
	logOff  = "off"
)

func newLogger(format string, w io.Writer) *slog.Logger {
	switch format {
	case logText:
		return slog.New(slog.NewTextHandler(w, nil))
	case logJSON:
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.DiscardHandler)
}
