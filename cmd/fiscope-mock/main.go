// Command fiscope-mock serves the fiscal data service's mock on a local address, for tests in any
// language. Its first line on stdout is the base URL, its second the command that runs the quickstart
// against it. SIGINT and SIGTERM stop it with status 0.
//
// It exits with 2 for a wrong flag or environment variable and with 1 when it cannot listen.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/fiscope/fiscope/mockserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the whole program: it serves until ctx ends and returns the exit status.
func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	s, err := readSettings(args, env)
	if err != nil {
		return s.usageError(err, stdout, stderr)
	}
	srv, err := mockserver.Start(mockserver.WithAddr(s.addr), mockserver.WithAPIKey(s.apiKey), mockserver.WithQuota(s.quota))
	if err != nil {
		return startError(s, err, stderr)
	}
	_, _ = fmt.Fprintf(stdout, "%s\ngo run ./examples/quickstart -base-url %s -api-key %s\n", srv.URL, srv.URL, shellWord(srv.APIKey))
	<-ctx.Done()
	if err := srv.Close(); err != nil {
		_, _ = fmt.Fprintf(stderr, "fiscope-mock: close: %v\n", err)
		return 1
	}
	return 0
}

// startError tells an address that cannot be listened on (1) from a value that can never work (2).
func startError(s settings, err error, stderr io.Writer) int {
	text := strings.TrimPrefix(err.Error(), "mockserver: ")
	if failed := (*net.OpError)(nil); errors.As(err, &failed) {
		if _, bad := net.ResolveTCPAddr("tcp", s.addr); bad == nil {
			_, _ = fmt.Fprintf(stderr, "fiscope-mock: cannot serve on %s: %v\nchoose another address with -addr or FISCOPE_MOCK_ADDR; port 0 takes a free one\n", s.addr, failed.Err)
			return 1
		}
		text = fmt.Sprintf("address %q of -addr or FISCOPE_MOCK_ADDR: %v", s.addr, failed.Err)
	}
	_, _ = fmt.Fprintf(stderr, "fiscope-mock: %s\nrun fiscope-mock -h for the flags\n", text)
	return 2
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellWord writes s so that a POSIX shell reads it back as one word.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
