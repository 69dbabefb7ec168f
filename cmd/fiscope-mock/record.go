package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// checkRecord returns why the file of -record cannot be written.
func checkRecord(name string) error {
	if _, err := readPlain(name); err != nil {
		return err
	}
	tried, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_ = tried.Close()
	return os.Remove(tried.Name())
}

// saveTo returns what writes the file of -record; nil without it.
func saveTo(name string, log *slog.Logger) func(func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	return func(write func(io.Writer) error) error {
		err := writeWhole(name, write)
		if err != nil {
			log.Warn("no se pudo escribir -record", "error", terminal.InSpanish(err))
		}
		return err
	}
}
