package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"syscall"
	"text/tabwriter"

	"github.com/fiscope/fiscope"
	"github.com/fiscope/fiscope/padron"
)

const padronUsage = `Usage: fiscope-mock padron import [-o INDEX] [-max-odd SHARE] FILE
       fiscope-mock padron info INDEX
       fiscope-mock padron generate [-rows N] [-seed S] FILE

The registry of all taxpayers, for fiscope-mock -padron INDEX.

import makes an index of FILE: SUNAT's padron_reducido_ruc.zip, or its text.
What was INDEX stays until the new one is whole, and a server that has it open
goes over to the new one by itself. It says what it found, and fails where more
rows are odd than may be: with too few fields or too many, a RUC that is not 11
digits, no name, or the RUC of a later row. The whole registry takes about a
minute, 1.5 GB of memory, and on the disk 4 GB while it runs and 2.5 GB then.

  -o INDEX        the index (default: FILE with .idx for its .zip or .txt)
  -max-odd SHARE  the share of odd rows that may be, 0 to 1 (default 0.01)

info says of what INDEX was made: taxpayers, date, SHA-256 of the file. It reads
all of it, and fails where a byte is not as import wrote it.

generate writes a registry with the shapes of the real one, and nobody in it:
as a zip where the name of FILE ends with .zip, else as text. What was FILE is
replaced.

  -rows N         how many rows (default 200000; the real one has 18.3 million)
  -seed S         other rows for another number (default 1)

On a terminal they show a bar, and elsewhere a line every 5 seconds, on stderr.
The exit status is 1 when they fail, 2 for wrong flags; stopped by a signal
they leave nothing behind.
`

// padronCommand is the program with padron: it makes and shows the index that -padron serves. It returns the exit
// status, below 0 where a signal has ended it.
func padronCommand(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		return padronUsageError(errors.New("wants import, info or generate"), stdout, stderr)
	}
	switch args[0] {
	case "import":
		return padronImport(ctx, args[1:], stdout, stderr)
	case "info":
		return padronInfo(ctx, args[1:], stdout, stderr)
	case "generate":
		return padronGenerate(ctx, args[1:], stdout, stderr)
	case "help", "-h", "-help", "--help":
		return padronUsageError(flag.ErrHelp, stdout, stderr)
	}
	return padronUsageError(fmt.Errorf("has no %q: there are import, info and generate", args[0]), stdout, stderr)
}

// padronUsageError prints the help that was asked for, or what is wrong with the flags.
func padronUsageError(err error, stdout, stderr io.Writer) int {
	if errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(stdout, padronUsage)
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "fiscope-mock: padron %v\nrun fiscope-mock padron -h for its flags\n", err)
	return 2
}

func padronFlags() *flag.FlagSet {
	fs := flag.NewFlagSet("fiscope-mock padron", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// parseFile reads the flags, and the one file that follows them.
func parseFile(fs *flag.FlagSet, command, file string, args []string) (string, error) {
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return "", err
	case err != nil:
		return "", fmt.Errorf("%s: %w", command, err)
	case fs.NArg() != 1 || fs.Arg(0) == "":
		return "", fmt.Errorf("%s wants one %s, after the flags", command, file)
	}
	return fs.Arg(0), nil
}

// stopped is why the program's context ended: a signal.
type stopped struct{ by os.Signal }

func (s stopped) Error() string { return "stopped by a signal: " + s.by.String() }

// padronFailed prints why a command has failed, or the signal that ended it, and returns the exit status.
func padronFailed(ctx context.Context, err error, stderr io.Writer) int {
	if signal := (stopped{}); errors.As(context.Cause(ctx), &signal) {
		_, _ = fmt.Fprintf(stderr, "fiscope-mock: %v: nothing was changed\n", signal)
		if number, ok := signal.by.(syscall.Signal); ok {
			return -int(number)
		}
	}
	_, _ = fmt.Fprintf(stderr, "fiscope-mock: %v\n", err)
	return 1
}

func padronInfo(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	name, err := parseFile(padronFlags(), "info", "INDEX", args)
	if err != nil {
		return padronUsageError(err, stdout, stderr)
	}
	index, err := padron.Open(name)
	if err != nil {
		return padronFailed(ctx, err, stderr)
	}
	defer func() { _ = index.Close() }() // which was only read
	if err := index.Verify(ctx); err != nil {
		return padronFailed(ctx, err, stderr)
	}
	info := index.Info()
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "taxpayers\t%d\ndate\t%s\nSHA-256\t%s\nindex\twhole, as import wrote it\n",
		info.Contribuyentes, day(info.Fecha), info.SHA256)
	if err := table.Flush(); err != nil {
		return padronFailed(ctx, err, stderr)
	}
	return 0
}

// day shows the date of the data.
func day(f fiscope.Fecha) string {
	if f.IsZero() {
		return "unknown"
	}
	return f.String()
}
