// Command fiscope-mock serves a mock of the fiscal data service on a local address, for tests in any language. Its first
// line on stdout is the base URL. SIGINT, SIGTERM and SIGHUP stop it with status 0, after the requests in flight. README.md
// shows how to use it; each command's -h describes its flags and their environment variables.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
	"github.com/fiscope/fiscope/internal/build"
)

// gcPercent allows more garbage before a collection. The default of 100 costs a tenth of the throughput.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" && (len(os.Args) < 2 || os.Args[1] != "padron") {
		debug.SetGCPercent(gcPercent)
	}
	// If the output's reader is gone, writing fails; the program still removes its files.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, end := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		by := <-signals
		signal.Stop(signals) // first: a second signal ends the process at once
		end(stopped{by})
	}()
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		hangup := make(chan os.Signal, 1) // the terminal and the shell may each send one: the second must not cut anything off
		signal.Notify(hangup, syscall.SIGHUP)
		go func() { end(stopped{<-hangup}) }()
	}
	exitWith(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// exitWith ends the program. For SIGINT it kills itself with that signal, so that a shell ends its loop.
func exitWith(exit int) {
	if exit == -int(syscall.SIGINT) {
		if signal.Reset(os.Interrupt); !signal.Ignored(os.Interrupt) {
			self, _ := os.FindProcess(os.Getpid()) // it exists
			_ = self.Signal(os.Interrupt)
			<-time.After(time.Second) // until the signal arrives
		}
	}
	if exit < 0 {
		exit = 128 - exit
	}
	os.Exit(exit)
}

// stopped is the signal that ended the program's context.
type stopped struct{ by os.Signal }

func (s stopped) Error() string { return "lo detuvo una señal (" + signalNames[s.by] + ")" }

var signalNames = map[os.Signal]string{os.Interrupt: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}

// status is the exit status of a command that has printed its error; below 0 it is the signal that ended it.
type status int

func (s status) Error() string { return fmt.Sprintf("status %d", int(s)) }

// failed prints why a command failed.
func failed(stderr io.Writer, exit status, err error) error {
	_, _ = fmt.Fprintf(stderr, "fiscope-mock: %s\n", terminal.InSpanish(err))
	return exit
}

// run runs the program until ctx ends. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	terminal.SpeakSpanish()
	root := &cli.Command{
		Name:                            "fiscope-mock",
		Usage:                           "fiscope-mock: el servicio de datos fiscales, simulado para sus pruebas",
		Version:                         version(build.Read()),
		DefaultCommand:                  "serve",
		HideHelpCommand:                 true,
		EnableShellCompletion:           true,
		ConfigureShellCompletionCommand: terminal.Completion("fiscope-mock"),
		CustomRootCommandHelpTemplate:   rootHelp,
		Writer:                          stdout,
		ErrWriter:                       stderr,
		ExitErrHandler:                  func(context.Context, *cli.Command, error) {},
		Commands: []*cli.Command{
			{Name: "serve", Usage: "atiende hasta Ctrl-C; es lo que corre sin COMANDO",
				UsageText: "fiscope-mock [serve] [OPCIONES]", Flags: flagsOf(serveSettings), Action: serveCommand,
				Description: "La primera línea de stdout es la URL base. SIGTERM y Ctrl-C lo terminan cuando\nacaba lo que está atendiendo; la segunda señal, al instante."},
			{Name: "exec", Usage: "corre su comando de pruebas con un mock propio",
				UsageText: "fiscope-mock exec [OPCIONES] -- COMANDO [ARGUMENTO...]", StopOnNthArg: new(1), Action: execCommand(args),
				Flags: flagsOf(serveSettings), Description: execDescription},
			{Name: "health", Usage: "dice si un mock está bien: el HEALTHCHECK de una imagen",
				UsageText: "fiscope-mock health [OPCIONES] URL", Flags: []cli.Flag{healthFlag()}, Action: healthCommand,
				Description: "Sale con 0 si el mock de esa URL está bien, y si no con 1."},
			padronCommands(),
			{Name: "version", Usage: "la versión y el commit", UsageText: "fiscope-mock version",
				Action: func(_ context.Context, cmd *cli.Command) error { cli.ShowVersion(cmd); return nil }},
			{Name: "help", Usage: "la ayuda de un comando, como fiscope-mock help exec", UsageText: "fiscope-mock help [COMANDO]", Action: terminal.ShowHelp},
		},
	}
	_ = root.Walk(func(c *cli.Command) error {
		c.OnUsageError, c.ShellComplete = terminal.UsageError, complete(args)
		return nil
	})
	err := root.Run(ctx, append([]string{root.Name}, args...))
	var exit status
	var wrong terminal.WrongUsage
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &wrong): // otherwise it belongs to no command
	}
	_, _ = fmt.Fprintf(stderr, "fiscope-mock: %s\nvea %s\n", terminal.InSpanish(err), strings.TrimSpace("fiscope-mock help "+wrong.Of))
	if wrong.Of == "exec" {
		return execFailed
	}
	return 2
}

// serveCommand serves until ctx ends.
func serveCommand(ctx context.Context, cmd *cli.Command) error {
	stdout, stderr := cmd.Root().Writer, cmd.Root().ErrWriter
	s, err := readSettings(defaultSettings(), cmd)
	switch {
	case err != nil:
		return terminal.Wrong(err, cmd.Name)
	case len(s.rest) > 0:
		return terminal.UnknownCommand(cmd.Root(), s.rest[0])
	}
	if s.log == "" && terminal.Is(stderr) {
		s.log = logText
	}
	r, err := start(s, newLogger(s.log, stderr))
	if err != nil {
		return startError(s, err, stderr)
	}
	said := r.url + "\n"
	if terminal.Is(stdout) {
		said += r.greeting()
	}
	var ended error
	if _, err := io.WriteString(stdout, said); err == nil {
		<-ctx.Done()
	} else {
		ended = failed(stderr, 1, fmt.Errorf("nadie lee la URL: %w", err))
	}
	if err := r.close(); err != nil {
		return failed(stderr, 1, fmt.Errorf("al cerrar: %w", err))
	}
	return ended
}

// version returns one line with the version, the commit and the system.
func version(b build.Info) string {
	of := b.Version
	if b.Commit != "" {
		of += fmt.Sprintf(" (commit %.12s of %s", b.Commit, b.Date)
		if b.Modified {
			of += ", modified"
		}
		of += ")"
	}
	return fmt.Sprintf("fiscope-mock %s %s %s/%s", of, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
