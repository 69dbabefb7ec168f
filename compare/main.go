// Command compare puts the SDK beside six other ways to call an API: hand-written net/http, three libraries for any
// API, and the clients of two APIs that many people know, which call a stub of their own. All do the same work, and
// the table says what came of it: that of docs/comparison.md.
//
//	go run ./compare
//	go run ./compare -markdown
//
// It takes about a minute, and nothing leaves this machine. Times are only as good as the machine is quiet.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

func main() {
	flags := flag.NewFlagSet("compare", flag.ExitOnError) // flag.CommandLine has one of net/http/httptest
	markdown := flags.Bool("markdown", false, "print Markdown")
	_ = flags.Parse(os.Args[1:]) // which ends the program
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := compare(ctx, os.Stdout, atFullSize, *markdown); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // what stop undoes ends with the process
	}
}

// works are what is compared, in the order of the table.
var works = []struct {
	name string
	do   func(context.Context, size) ([]row, error)
}{
	{"cost", compareCost},
	{"outage", compareOutages},
	{"wrong answers", compareWrongAnswers},
	{"redirects", compareRedirects},
	{"Retry-After", compareRetryAfter},
	{"a wrong clave", compareWrongClave},
	{"the end of the quota", compareQuota},
	{"secrets", compareSecrets},
	{"programs", comparePrograms},
}

// compare does all works and prints their table.
func compare(ctx context.Context, out io.Writer, s size, markdown bool) error {
	var t table
	for _, work := range works {
		fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), work.name)
		rows, err := work.do(ctx, s)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return fmt.Errorf("%s: %w", work.name, err)
		}
		t = append(t, rows...)
	}
	if markdown {
		return t.markdown(out)
	}
	return t.text(out)
}
