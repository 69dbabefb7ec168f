package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope/padron"
	"github.com/fiscope/fiscope/padron/internal/texts"
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

// bound is how long a search of SQLite may take.
const bound = 10 * time.Second

// contender is one of those that are compared by searches.
type contender struct {
	name   string
	texts  int // how many it searches, where the others search one
	search func(ctx context.Context, text string) ([]int64, error)
}

// contenders search for at most limit taxpayers. The first three give the same answers.
func (s *searched) contenders(limit int) []contender {
	return []contender{
		{"index", 20, func(ctx context.Context, text string) ([]int64, error) {
			found, err := s.Buscar(ctx, text, limit)
			rucs := make([]int64, len(found))
			for i, c := range found {
				rucs[i], _ = strconv.ParseInt(c.RUC, 10, 64)
			}
			return rucs, err
		}},
		{"scan", 1, func(_ context.Context, text string) ([]int64, error) { return s.names.search(text, limit), nil }},
		{"SQLite", 1, func(ctx context.Context, text string) ([]int64, error) {
			return rucsOf(s.sqlite.search(ctx, text, limit))
		}},
		{"SQLite, any order", 1, func(ctx context.Context, text string) ([]int64, error) {
			return rucsOf(s.searchAny(ctx, text, limit))
		}},
	}
}

func rucsOf(rows []row, err error) ([]int64, error) {
	rucs := make([]int64, len(rows))
	for i, r := range rows {
		rucs[i] = r.ruc
	}
	return rucs, err
}

// compareSearches measures each kind of searches for so long, the contenders in turn, and prints a row for each.
func (s *searched) compareSearches(ctx context.Context, limit int, budget time.Duration) error {
	contenders := s.contenders(limit)
	fmt.Printf("\n| the best %d by | hits | searches |", limit)
	for _, c := range contenders {
		fmt.Printf(" %s |", c.name)
	}
	fmt.Print("\n|---|---|---|", strings.Repeat("---|", len(contenders)), "\n")
	for _, kind := range texts.New(s.all(), len(s.rucs)).Kinds() {
		progress(kind.Name)
		times := make([][]time.Duration, len(contenders))
		hits, rounds := 0, 0
		for began := time.Now(); time.Since(began) < budget || rounds < 3; rounds++ {
			found, err := s.round(ctx, kind, contenders, times)
			if err != nil {
				return fmt.Errorf("%s: %w", kind.Name, err)
			}
			hits += found
		}
		fmt.Printf("| %s | %.1f | %d |", kind.Name, float64(hits)/float64(rounds), rounds)
		for _, t := range times {
			fmt.Printf(" %s |", percentiles(t))
		}
		fmt.Println()
	}
	fmt.Printf("\nLoad at the end: %s\n", load())
	return nil
}

// round has all contenders search a text, and some of them more. It returns how many taxpayers were found by it.
func (s *searched) round(ctx context.Context, kind texts.Kind, contenders []contender, times [][]time.Duration) (int, error) {
	text := kind.Text()
	var want []int64
	for i, c := range contenders {
		for n := range c.texts {
			searched := text
			if n > 0 {
				searched = kind.Text()
			}
			bounded, cancel := context.WithTimeout(ctx, bound)
			began := time.Now()
			got, err := c.search(bounded, searched)
			times[i] = append(times[i], time.Since(began))
			late := bounded.Err() != nil
			cancel()
			switch {
			case ctx.Err() != nil:
				return 0, ctx.Err()
			case late:
				times[i][len(times[i])-1] = bound
				continue
			case err != nil:
				return 0, fmt.Errorf("%s: %q: %w", c.name, searched, err)
			case n > 0:
				continue
			case i == 0:
				want = got
			case len(got) != len(want) || i < 3 && !slices.Equal(got, want):
				return 0, fmt.Errorf("%s: %q: found %v, and the index %v", c.name, searched, got, want)
			}
		}
	}
	return len(want), nil
}

// compareLookups measures lookups by RUCs all over the registry, and prints them.
func (s *searched) compareLookups(ctx context.Context, budget time.Duration) error {
	random := rand.New(rand.NewPCG(1, 1))
	var index, database []time.Duration
	for began := time.Now(); time.Since(began) < budget; {
		for range 100 {
			ruc := s.rucs[random.IntN(len(s.rucs))]
			written := fmt.Sprintf("%011d", ruc)
			asked := time.Now()
			_, _, err := s.Contribuyente(ctx, written)
			index = append(index, time.Since(asked))
			if err != nil {
				return err
			}
		}
		for range 100 {
			ruc := s.rucs[random.IntN(len(s.rucs))]
			asked := time.Now()
			rows, err := s.lookup(ctx, ruc)
			database = append(database, time.Since(asked))
			if err != nil || len(rows) != 1 {
				return errors.Join(fmt.Errorf("SQLite has %d rows of %d", len(rows), ruc), err)
			}
		}
	}
	fmt.Printf("\n| lookups | index | SQLite |\n|---|---|---|\n| %d | %s | %s |\n", len(index), percentiles(index), percentiles(database))
	return nil
}

// percentiles returns how long calls took: the middle one, and the one that 99 of 100 are below.
func percentiles(took []time.Duration) string {
	slices.Sort(took)
	tell := func(at int) string {
		if took[at] >= bound {
			return "> " + short(bound)
		}
		return short(took[at])
	}
	return tell(len(took)/2) + ", " + tell(len(took)*99/100)
}

// short returns a duration in two digits or three.
func short(d time.Duration) string {
	unit, n := "s", d.Seconds()
	for _, smaller := range []string{"ms", "µs"} {
		if n < 1 {
			unit, n = smaller, n*1000
		}
	}
	if n < 9.95 {
		return fmt.Sprintf("%.1f %s", n, unit)
	}
	return fmt.Sprintf("%.0f %s", n, unit)
}
