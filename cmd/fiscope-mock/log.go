package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// The formats of -log. Without one, only warnings are logged, as text.
const (
	logText = "text"
	logJSON = "json"
	logOff  = "off"
)

func newLogger(format string, w io.Writer) *slog.Logger {
	switch format {
	case logText:
		return slog.New(&console{out: w, least: slog.LevelInfo, coloured: terminal.Colours(w)})
	case logJSON:
		return slog.New(slog.NewJSONHandler(w, nil))
	case logOff:
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(&console{out: w, least: slog.LevelWarn, coloured: terminal.Colours(w)})
}

// console logs for people, one line per record.
type console struct {
	out      io.Writer
	least    slog.Level
	coloured bool
	mu       sync.Mutex
}

// Enabled implements [slog.Handler].
func (c *console) Enabled(_ context.Context, level slog.Level) bool { return level >= c.least }

// Handle implements [slog.Handler].
func (c *console) Handle(_ context.Context, r slog.Record) error {
	line := terminal.Printable(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		line += terminal.Printable(fmt.Sprintf(" %s=%v", a.Key, a.Value))
		return true
	})
	if r.Level >= slog.LevelWarn {
		line = c.colour(terminal.Yellow, "aviso:") + " " + line
	}
	return c.write(line)
}

// WithAttrs implements [slog.Handler]; it is not used here.
func (c *console) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup implements [slog.Handler]; it is not used here.
func (c *console) WithGroup(string) slog.Handler { return c }

func (c *console) write(line string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := io.WriteString(c.out, line+"\n")
	return err
}

func (c *console) colour(code, text string) string {
	if !c.coloured {
		return text
	}
	return terminal.Colour(code, text)
}
