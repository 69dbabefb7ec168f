package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

// The exit statuses of exec itself, as in env(1) and timeout(1).
const (
	execFailed   = 125 // the mock server failed
	execNotRun   = 126 // the command exists but cannot be run
	execNotFound = 127
)

const execDescription = `Atiende en un puerto libre mientras corre COMANDO, y le da FISCOPE_BASE_URL y
FISCOPE_API_KEY (con -tls, también la CA, para Node, Python, PHP, Java, curl y
OpenSSL). Las señales que recibe le llegan. Al final cuenta en stderr lo que se
llamó, y sale con el estado de COMANDO: 127 si no existe, 126 si no se puede
correr, 125 si falla el mock. Un tope de tiempo lo pone timeout(1).`

// execCommand runs a command with its own mock server, and exits with its status.
func execCommand(args []string) cli.ActionFunc {
	return func(_ context.Context, cmd *cli.Command) error {
		stderr := cmd.Root().ErrWriter
		// From here on signals are for the command.
		signals := make(chan os.Signal, 8)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
		if !signal.Ignored(syscall.SIGHUP) { // nohup: also ignored for the command
			signal.Notify(signals, syscall.SIGHUP)
		}
		defer signal.Stop(signals)

		s := defaultSettings()
		s.addr = "127.0.0.1:0"
		s, err := readSettings(s, cmd)
		if err == nil && len(s.rest) == 0 {
			err = errors.New("falta el comando: fiscope-mock exec [OPCIONES] -- COMANDO [ARGUMENTO...]")
		}
		if err != nil {
			return terminal.Wrong(err, cmd.Name)
		}
		s.rest = asGiven(args, s.rest)
		path, err := exec.LookPath(s.rest[0])
		if err != nil {
			return failed(stderr, notRun(err), err)
		}
		r, err := start(s, newLogger(s.log, stderr))
		if err != nil {
			_ = startError(s, err, stderr)
			return status(execFailed)
		}
		ended, err := r.runCommand(path, signals)
		report(stderr, r.mock)
		if closing := r.close(); err == nil && closing != nil {
			_ = failed(stderr, 0, fmt.Errorf("al cerrar: %w", closing))
		}
		switch {
		case err != nil:
			return failed(stderr, notRun(err), err)
		case ended != 0:
			return ended
		}
		return nil
	}
}

// asGiven returns the command unchanged: the library removes a "--" that is its first argument.
func asGiven(all, rest []string) []string {
	if command := all[len(all)-len(rest):]; command[0] != "--" {
		return command
	}
	return all[len(all)-len(rest)-1:]
}

// notRun is the status if the command could not start.
func notRun(err error) status {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return execNotFound
	}
	return execNotRun
}

// runCommand runs s.rest, forwarding signals, and returns its status: below 0 for the signal that ended it.
func (r *running) runCommand(path string, signals <-chan os.Signal) (status, error) {
	environ, remove, err := r.commandEnv(os.Environ())
	if err != nil {
		return 0, err
	}
	defer remove()
	command := exec.CommandContext(context.Background(), path) //nolint:gosec // the command is the user's
	command.Args, command.Env = r.rest, environ
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Start(); err != nil {
		return 0, err
	}
	atTerminal := terminal.Is(os.Stdin) || terminal.Is(os.Stdout) || terminal.Is(os.Stderr)
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-signals:
				if !atTerminal || sig != os.Interrupt && sig != syscall.SIGQUIT { // a terminal sends these to the command too
					_ = command.Process.Signal(sig) // it may have just ended
				}
			case <-ended:
				return
			}
		}
	}()
	err = command.Wait()
	close(ended)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if how, ok := command.ProcessState.Sys().(syscall.WaitStatus); ok && how.Signaled() {
		return -status(how.Signal()), nil
	}
	return status(command.ProcessState.ExitCode()), nil
}
