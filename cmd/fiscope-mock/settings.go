package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"

	"github.com/fiscope/fiscope/mockserver"
)

// settings are the flags, after the environment.
type settings struct {
	addr   string
	apiKey string
	quota  int
}

const usage = `Usage: fiscope-mock [flags]

Serves the mock of the fiscal data service, with its default data, until it is
stopped (Ctrl-C, SIGTERM). The first line of its output is the base URL, the
second the command that runs the quickstart against it.

  -addr HOST:PORT   address to listen on; port 0 takes a free one
                    (FISCOPE_MOCK_ADDR; default 127.0.0.1:8080)
  -api-key KEY      the X-API-KEY it accepts
                    (FISCOPE_MOCK_API_KEY; default clave-de-prueba)
  -quota N          calls a day for that key: 0 refuses all, -1 is unlimited
                    (FISCOPE_MOCK_QUOTA; default 1000)
  -h                this text

A flag wins over its variable; an empty variable counts as not set.
`

// readSettings takes each value from its flag, else from its variable, else the default.
func readSettings(args []string, env func(string) string) (settings, error) {
	s := settings{addr: "127.0.0.1:8080", apiKey: mockserver.DefaultAPIKey, quota: mockserver.DefaultAssumptions().Quota}
	fs := flag.NewFlagSet("fiscope-mock", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run prints the error, once
	fs.Usage = func() {}
	given := map[string]bool{}
	fs.StringVar(&s.addr, "addr", s.addr, "")
	fs.StringVar(&s.apiKey, "api-key", s.apiKey, "")
	fs.Func("quota", "", func(text string) error { return s.setQuota(text) })
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	if fs.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if value := env("FISCOPE_MOCK_ADDR"); value != "" && !given["addr"] {
		s.addr = value
	}
	if value := env("FISCOPE_MOCK_API_KEY"); value != "" && !given["api-key"] {
		s.apiKey = value
	}
	if value := env("FISCOPE_MOCK_QUOTA"); value != "" && !given["quota"] {
		if err := s.setQuota(value); err != nil {
			return s, fmt.Errorf("FISCOPE_MOCK_QUOTA=%q: %w", value, err)
		}
	}
	return s, nil
}

func (s *settings) setQuota(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < mockserver.Unlimited {
		return errors.New("want a number of calls, 0 or more, or -1 for unlimited")
	}
	s.quota = n
	return nil
}

// usageError prints the help that was asked for, or what is wrong with the flags.
func (s settings) usageError(err error, stdout, stderr io.Writer) int {
	if errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(stdout, usage)
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "fiscope-mock: %v\nrun fiscope-mock -h for the flags\n", err)
	return 2
}
