package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fiscope/fiscope/padron/internal/texts"
)

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
		{"any order", 1, func(ctx context.Context, text string) ([]int64, error) {
			return rucsOf(s.searchAny(ctx, text, limit))
		}},
	}
}

func rucsOf(hits []hit, err error) ([]int64, error) {
	rucs := make([]int64, len(hits))
	for i, h := range hits {
		rucs[i] = h.ruc
	}
	return rucs, err
}

// compareSearches measures each kind of searches for so long, the contenders in turn, and prints a row for each.
func (s *searched) compareSearches(ctx context.Context, limit int, budget time.Duration) error {
	contenders := s.contenders(limit)
	fmt.Printf("\n| the best %d by | hits | texts |", limit)
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
