package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fiscope/fiscope/padron"
)

// registry is a generated registry in a folder, and what was made of it.
type registry struct {
	zip, index, database string
}

func registryIn(folder string) registry {
	return registry{filepath.Join(folder, "padron.zip"), filepath.Join(folder, "padron.index"), filepath.Join(folder, "padron.sqlite")}
}

func (r registry) generate(ctx context.Context, rows int) error {
	return once(ctx, r.zip, fmt.Sprintf("generating %d rows", rows), func(name string) error {
		file, err := os.Create(name) //nolint:gosec // in the folder that the caller names
		if err != nil {
			return err
		}
		archive := zip.NewWriter(file)
		text, err := archive.Create("padron_reducido_ruc.txt")
		if err == nil {
			err = padron.Generate(text, rows, 1)
		}
		return errors.Join(err, archive.Close(), file.Close())
	})
}

func (r registry) importIndex(ctx context.Context) error {
	return once(ctx, r.index, "importing into the index", func(name string) error {
		_, err := padron.Import(ctx, r.zip, name, padron.ImportOptions{})
		return err
	})
}

func (r registry) importDatabase(ctx context.Context, n *names) error {
	return once(ctx, r.database, "importing into SQLite", func(name string) error {
		return importSQLite(ctx, r.zip, n, name)
	})
}

// once makes a file unless it is there, and tells in another one beside it what that cost. Under its name it is whole.
func once(ctx context.Context, name, what string, make func(name string) error) error {
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	progress(what)
	unfinished := name + ".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	began, used := time.Now(), processorTime()
	err := make(unfinished)
	took, worked := time.Since(began), processorTime()-used
	if err = errors.Join(err, ctx.Err()); err != nil {
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	told := short(took) + " | " + short(worked)
	if err := os.WriteFile(name+".cost", []byte(told), 0o600); err != nil {
		return err
	}
	return os.Rename(unfinished, name)
}

// printImports prints what the imports cost when they were made.
func (r registry) printImports() error {
	fmt.Print("\n| import | time | time of processors | file |\n|---|---|---|---|\n")
	for _, made := range []struct{ what, name string }{{"index", r.index}, {"SQLite", r.database}} {
		cost, err := os.ReadFile(made.name + ".cost")
		if err != nil {
			return err
		}
		info, err := os.Stat(made.name)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %s | %d MB |\n", made.what, cost, info.Size()/1e6)
	}
	return nil
}
