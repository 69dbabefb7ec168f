// Command fiscope-mock serves the fiscal data service's mock on a local address, for tests in any
// language. Its first line on stdout is the base URL, its second the command that runs the quickstart
// against it. SIGINT, SIGTERM and SIGHUP stop it with status 0, once what is in flight is finished.
//
//	fiscope-mock -addr 127.0.0.1:8080 -now 2026-11-20T16:59:00-05:00 -frozen
//	fiscope-mock exec -- npm test
//	fiscope-mock health http://127.0.0.1:8080
//	fiscope-mock padron import padron_reducido_ruc.zip
//	fiscope-mock version
//
// Beside the service, on the same address, GET /_mock/ lists its admin API: data, clock, faults, journal,
// quotas, SOL users, assumptions and reset, for tests in any language. README.md shows it, help lists the
// flags and their environment variables.
//
// It exits with 2 for a wrong flag, environment variable, certificate or data file and with 1 when it
// cannot listen or tell its URL; exec exits with the command's status, with 124 when -timeout ended it, or
// with 125 for either of these. padron exits with 1 when it fails, and as a signal has it that ended it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/fiscope/fiscope/internal/build"
)

// gcPercent is how much garbage may be made beside what is in use: that is a few megabytes, and most of a request is soon
// garbage. To collect it at 100 costs a tenth of the throughput.
const gcPercent = 400

func main() {
	command, args := "", os.Args[1:]
	if len(args) > 0 {
		command = args[0]
	}
	if os.Getenv("GOGC") == "" && command != "padron" {
		debug.SetGCPercent(gcPercent)
	}
	// Who reads the output may be gone: that is an error of writing then, and no reason to leave files behind.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if command == "exec" {
		leave(execute(args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	ctx, end := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		by := <-signals
		signal.Stop(signals) // before anything else: a second signal ends the process at once
		end(stopped{by})
	}()
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		hangup := make(chan os.Signal, 1) // the terminal and the shell may send one each: it cuts nothing
		signal.Notify(hangup, syscall.SIGHUP)
		go func() { end(stopped{<-hangup}) }()
	}
	switch command {
	case "health":
		os.Exit(health(ctx, args[1:], os.Getenv, os.Stdout, os.Stderr))
	case "padron":
		leave(padronCommand(ctx, args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(run(ctx, args, os.Getenv, os.Stdout, os.Stderr))
}

// unexpected is the error of an argument that is no flag: a command comes first.
func unexpected(arg string) error {
	switch arg {
	case "exec", "health", "padron", "help", "version":
		return fmt.Errorf("the command %s comes first, and its flags after it", arg)
	}
	return fmt.Errorf("unexpected argument %q: the commands are exec, health, padron, help and version", arg)
}

// run is the program without exec, health and padron: it serves until ctx ends and returns the exit status.
func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		switch args[0] {
		case "help":
			_, _ = io.WriteString(stdout, usage)
			return 0
		case "version", "-version", "--version":
			_, _ = fmt.Fprintln(stdout, version(build.Read()))
			return 0
		}
	}
	s, err := readSettings(defaultSettings(), args, env)
	if err == nil && len(s.rest) > 0 {
		err = unexpected(s.rest[0])
	}
	if err == nil && s.timeout > 0 {
		err = errors.New("-timeout is of use with exec only")
	}
	if err != nil {
		return usageError(err, stdout, stderr)
	}
	r, err := start(s, newLogger(s.log, stderr))
	if err != nil {
		return startError(s, err, stderr)
	}
	status := 0
	if _, err := fmt.Fprintf(stdout, "%s\n%s\n", r.url, r.quickstart()); err == nil {
		<-ctx.Done()
	} else {
		_, _ = fmt.Fprintf(stderr, "fiscope-mock: nobody reads the URL: %v\n", err)
		status = 1
	}
	if err := r.close(); err != nil {
		_, _ = fmt.Fprintf(stderr, "fiscope-mock: close: %v\n", err)
		return 1
	}
	return status
}

// quickstart is the command that runs the quickstart against the server.
func (r *running) quickstart() string {
	command := fmt.Sprintf("FISCOPE_BASE_URL=%s FISCOPE_API_KEY=%s go run ./examples/quickstart", r.url, shellWord(r.mock.APIKey))
	if r.caFile != "" {
		command = "SSL_CERT_FILE=" + shellWord(r.caFile) + " " + command // go and curl read it
	}
	return command
}
