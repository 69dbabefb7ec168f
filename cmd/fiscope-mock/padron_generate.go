package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/cmd/internal/wholefile"
	"github.com/fiscope/fiscope/internal/padrongen"
)

// padronGenerate writes an invented registry.
func padronGenerate(ctx context.Context, cmd *cli.Command, file string) error {
	rows := cmd.Int("rows")
	if rows < 1 {
		return terminal.Wrong(errors.New("-rows: se espera un número desde 1"), "padron generate")
	}
	if err := generateFile(ctx, file, rows); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	_, _ = fmt.Fprintf(cmd.Root().Writer, "%s tiene %d filas: haga su índice con fiscope-mock padron import %s\n", file, rows, shellWord(file))
	return nil
}

func generateFile(ctx context.Context, file string, rows int) error {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() { // a rename would also replace a device
		return errors.New("ya está y no es un archivo: dé otro nombre")
	}
	return wholefile.Write(file, forAll, func(w io.Writer) error {
		if !strings.EqualFold(filepath.Ext(file), ".zip") {
			_, err := padrongen.Generate(generated{ctx, w}, rows, 1)
			return err
		}
		archive := zip.NewWriter(w)
		member, err := archive.CreateHeader(&zip.FileHeader{Name: memberName, Method: zip.Deflate, Modified: time.Now().In(fiscope.Lima)})
		if err != nil {
			return err
		}
		if _, err := padrongen.Generate(generated{ctx, member}, rows, 1); err != nil {
			return err
		}
		return archive.Close()
	})
}

// memberName is the name of the file in SUNAT's zip.
const memberName = "padron_reducido_ruc.txt"

// generated writes a generated text until ctx ends.
type generated struct {
	ctx context.Context // of this text only
	out io.Writer
}

func (g generated) Write(text []byte) (int, error) {
	if g.ctx.Err() != nil {
		return 0, context.Cause(g.ctx)
	}
	return g.out.Write(text)
}
