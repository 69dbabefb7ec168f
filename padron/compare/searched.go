package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/fiscope/fiscope/padron"
)

// searched is a registry in each of the forms that are compared.
type searched struct {
	*names
	*padron.Index
	*sqlite
}

// openSearched opens the forms of a registry, and has their files in memory as far as there is room.
func openSearched(ctx context.Context, r registry, n *names) (*searched, error) {
	for _, name := range []string{r.database, r.index} {
		file, err := os.Open(name) //nolint:gosec // in the folder that the caller names
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, file)
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
	}
	x, err := padron.Open(r.index)
	if err != nil {
		return nil, err
	}
	db, err := openSQLite(ctx, r.database)
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	if got, want := x.Info().Contribuyentes, len(n.rucs); got != want {
		return nil, errors.Join(fmt.Errorf("the index has %d taxpayers, and the scan %d", got, want), x.Close(), db.Close())
	}
	return &searched{n, x, db}, nil
}

// Close closes the files.
func (s *searched) Close() error { return errors.Join(s.Index.Close(), s.sqlite.Close()) }

// describe prints what is measured, and on what.
func (s *searched) describe(ctx context.Context) error {
	var version string
	if err := s.sqlite.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version); err != nil {
		return err
	}
	fmt.Printf("%d taxpayers; SQLite %s (modernc.org/sqlite); %s, %s/%s, %d processors; %s; load %s\n", len(s.rucs), version,
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processorName(), load())
	return nil
}
