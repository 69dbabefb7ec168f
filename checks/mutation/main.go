// Command mutation changes the program in one place at a time, and sees whether a test fails: a change that no test
// notices is a promise that nothing keeps. It mutates the internal packages of the root, the mock and redisstore.
//
//	go run ./checks/mutation                       # the sample of .ci/run: one mutant of so many
//	go run ./checks/mutation -of 20 -slice 3       # another, larger one
//	go run ./checks/mutation -only 'quota/day.go'  # all whose name matches
//
// A mutant is judged by the tests of its package and then, if they all pass, by those of the packages that import it,
// each run with -short, without the race detector and without a redis-server. It ends with status 1 where one survives
// that equivalents.txt does not explain.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"time"
)

// mutated are the packages whose mutants are made, judges those whose tests are asked.
var (
	mutated = []string{"./internal/...", "./mockserver/...", "./redisstore"}
	judges  = []string{".", "./internal/...", "./mockserver/...", "./conformance", "./padron", "./redisstore"}
)

// testArgs are those of the tests of a package.
var testArgs = map[string][]string{
	"github.com/fiscope/fiscope/redisstore": {"-redis-server=none"}, // one that a panic leaves behind would go on
}

func main() {
	of := flag.Int("of", 80, "take one mutant of so many")
	slice := flag.Int("slice", 0, "which of the samples of that size, from 0 on")
	only := flag.String("only", "", "take all mutants whose name matches this regular expression, in the place of a sample")
	workers := flag.Int("workers", 2, "how many are judged at once")
	verbose := flag.Bool("v", false, "say of each mutant what came of it")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		err = run(ctx, func(m *mutant) bool {
			if *only != "" {
				return pattern.MatchString(m.id())
			}
			return m.in(*slice, *of)
		}, *workers, *verbose)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // what stop undoes ends with the process
	}
}

func run(ctx context.Context, taken func(*mutant) bool, workers int, verbose bool) error {
	p, err := load(".", os.Environ(), mutated...)
	if err != nil {
		return err
	}
	j, err := newJudge(".", os.Environ(), testArgs, 20*time.Second, judges...)
	if err != nil {
		return err
	}
	equivalents, err := readEquivalents("checks/mutation/equivalents.txt")
	if err != nil {
		return err
	}
	r := report{out: os.Stdout, verbose: verbose, equivalents: equivalents}
	return r.run(ctx, p, j, taken, workers)
}
