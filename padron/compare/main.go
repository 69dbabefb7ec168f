// Command compare measures searches of package padron's index beside those of a linear scan and of SQLite with FTS5
// and its trigram tokenizer, on a generated registry. It prints the tables of docs/padron.md.
//
//	go run ./padron/compare -rows 18300000 -dir /var/tmp/padron
//
// The files that it makes stay in the folder, and what is there is not made again. At full size they take 7 GB, and
// the run takes 5 GB of memory and most of an hour.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	folder := flag.String("dir", "", "the folder of what is made; of none, a temporary one that is removed")
	rows := flag.Int("rows", 200_000, "how many rows are generated, where no registry is in the folder")
	limit := flag.Int("limit", 10, "the most taxpayers that a search returns")
	budget := flag.Duration("budget", 45*time.Second, "how long each kind of searches is measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := withFolder(*folder, func(folder string) error {
		return compare(ctx, registryIn(folder), *rows, *limit, *budget)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // what stop undoes ends with the process
	}
}

// withFolder calls do with a folder.
func withFolder(folder string, do func(string) error) error {
	if folder != "" {
		return errors.Join(os.MkdirAll(folder, 0o750), do(folder))
	}
	folder, err := os.MkdirTemp("", "padron-compare-")
	if err != nil {
		return err
	}
	return errors.Join(do(folder), os.RemoveAll(folder))
}

// compare makes what is not there, and prints what was measured.
func compare(ctx context.Context, r registry, rows, limit int, budget time.Duration) (err error) {
	if err := r.generate(ctx, rows); err != nil {
		return err
	}
	if err := r.importIndex(ctx); err != nil {
		return err
	}
	progress("reading the names")
	n, err := readNames(r.zip)
	if err != nil {
		return err
	}
	if err := r.importDatabase(ctx, n); err != nil {
		return err
	}
	s, err := openSearched(ctx, r, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.describe(ctx); err != nil {
		return err
	}
	if err := r.printImports(); err != nil {
		return err
	}
	if err := s.compareLookups(ctx, budget); err != nil {
		return err
	}
	return s.compareSearches(ctx, limit, budget)
}
