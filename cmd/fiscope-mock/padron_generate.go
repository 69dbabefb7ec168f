package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/padron"
)

// padronGenerate writes a registry in which nobody is.
func padronGenerate(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := padronFlags()
	rows := fs.Int("rows", 200_000, "")
	seed := fs.Uint64("seed", 1, "")
	file, err := parseFile(fs, "generate", "FILE", args)
	if err == nil && *rows < 1 {
		err = fmt.Errorf("generate: -rows %d: want 1 or more", *rows)
	}
	if err != nil {
		return padronUsageError(err, stdout, stderr)
	}
	p := showProgress(stderr)
	err = generateFile(ctx, file, *rows, *seed, p)
	p.stop()
	if err != nil {
		return padronFailed(ctx, fmt.Errorf("%s: %w", file, err), stderr)
	}
	_, _ = fmt.Fprintf(stdout, "%s has %d rows: make its index with fiscope-mock padron import %s\n", file, *rows, shellWord(file))
	return 0
}

func generateFile(ctx context.Context, file string, rows int, seed uint64, p *progress) error {
	info, err := os.Stat(file)                  //nolint:gosec // the files of who runs the program
	if err == nil && !info.Mode().IsRegular() { // a rename would replace also a device
		return errors.New("it is there and no file: name another one")
	}
	return writeWhole(file, func(w io.Writer) error {
		if !strings.EqualFold(filepath.Ext(file), ".zip") {
			return padron.Generate(&generated{ctx: ctx, out: w, rows: rows, progress: p}, rows, seed)
		}
		archive := zip.NewWriter(w)
		member, err := archive.CreateHeader(&zip.FileHeader{Name: memberName, Method: zip.Deflate, Modified: time.Now().In(fiscope.Lima)})
		if err != nil {
			return err
		}
		if err := padron.Generate(&generated{ctx: ctx, out: member, rows: rows, progress: p}, rows, seed); err != nil {
			return err
		}
		return archive.Close()
	})
}

// memberName is what SUNAT's zip holds.
const memberName = "padron_reducido_ruc.txt"

// generated writes a generated text, counts its rows, and ends with ctx.
type generated struct {
	ctx      context.Context // of the one text that it is
	out      io.Writer
	rows     int // that there will be
	progress *progress

	lines, bytes int64
}

func (g *generated) Write(text []byte) (int, error) {
	if g.ctx.Err() != nil {
		return 0, context.Cause(g.ctx)
	}
	n, err := g.out.Write(text)
	g.bytes += int64(n)
	g.lines += int64(bytes.Count(text[:n], []byte{'\n'}))
	g.progress.tell(step{what: "writing", to: 1, done: min(1, float64(g.lines)/float64(g.rows)), rows: g.lines, bytes: g.bytes})
	return n, err
}
