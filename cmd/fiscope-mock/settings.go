package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/fiscope/fiscope/mockserver"
)

// settings are the flags, after the environment.
type settings struct {
	addr    string
	urlFile string

	keys    []apiKey
	quota   *int   // as -quota says; in assume it is in force
	padron  string // the index of a registry; "" for the default taxpayers
	data    []string
	now     time.Time
	frozen  bool
	assume  mockserver.Assumptions
	assumed bool // -assume says a Quota
	journal int
	hold    time.Duration // 0 for without end

	selfSigned bool
	caFile     string
	hosts      []string
	cert, key  string

	adminToken string
	log        string
	logAll     bool
	drain      time.Duration
	timeout    time.Duration // of exec's command; 0 for none

	rest []string // what follows the flags
}

// setting is one flag, with its variable: FISCOPE_MOCK_ and the name, "-addr" as FISCOPE_MOCK_ADDR.
type setting struct {
	name   string
	set    func(s *settings, text string) error
	isBool bool   // given without a value
	list   string // may be repeated: what separates several values in the variable
	secret bool   // no error text repeats its value
}

func (f setting) variable() string {
	return "FISCOPE_MOCK_" + strings.ToUpper(strings.ReplaceAll(f.name, "-", "_"))
}

var allSettings = []setting{
	{name: "addr", set: text(func(s *settings) *string { return &s.addr })},
	{name: "url-file", set: text(func(s *settings) *string { return &s.urlFile })},
	{name: "api-key", set: (*settings).addKey, list: " ", secret: true},
	{name: "quota", set: (*settings).setQuota},
	{name: "padron", set: (*settings).setPadron}, // before -assume, which wins
	{name: "data", set: appended(func(s *settings) *[]string { return &s.data }), list: string(os.PathListSeparator)},
	{name: "now", set: (*settings).setNow},
	{name: "frozen", set: boolean(func(s *settings) *bool { return &s.frozen }), isBool: true},
	// After -quota, which says the same as -assume Quota.
	{name: "assume", set: (*settings).setAssumption, list: " "},
	{name: "journal", set: (*settings).setJournal},
	{name: "hold-limit", set: duration(func(s *settings) *time.Duration { return &s.hold })},
	{name: "tls", set: boolean(func(s *settings) *bool { return &s.selfSigned }), isBool: true},
	{name: "tls-ca-file", set: text(func(s *settings) *string { return &s.caFile })},
	{name: "tls-host", set: appended(func(s *settings) *[]string { return &s.hosts }), list: " "},
	{name: "tls-cert", set: text(func(s *settings) *string { return &s.cert })},
	{name: "tls-key", set: text(func(s *settings) *string { return &s.key })},
	{name: "admin-token", set: (*settings).setAdminToken, secret: true},
	{name: "log", set: (*settings).setLog},
	{name: "log-all", set: boolean(func(s *settings) *bool { return &s.logAll }), isBool: true},
	{name: "shutdown-timeout", set: duration(func(s *settings) *time.Duration { return &s.drain })},
	{name: "timeout", set: duration(func(s *settings) *time.Duration { return &s.timeout })},
}

// given collects what the command line says of one setting, unread: package flag would repeat a wrong
// value, which may be a key.
type given struct {
	values []string
	isBool bool
}

func (g *given) String() string         { return "" }
func (g *given) Set(value string) error { g.values = append(g.values, value); return nil }
func (g *given) IsBoolFlag() bool       { return g.isBool }

func defaultSettings() settings {
	return settings{
		addr: "127.0.0.1:8080", assume: mockserver.DefaultAssumptions(), journal: 1000, hold: time.Minute,
		log: logText, drain: 5 * time.Second,
	}
}

// readSettings takes each value from its flag, else from its variable, else from s.
func readSettings(s settings, args []string, env func(string) string) (settings, error) {
	fs := flag.NewFlagSet("fiscope-mock", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run prints the error, once
	fs.Usage = func() {}
	line := map[string]*given{}
	for _, f := range allSettings {
		line[f.name] = &given{isBool: f.isBool}
		fs.Var(line[f.name], f.name, "")
	}
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	s.rest = fs.Args()
	for _, f := range allSettings {
		if err := f.read(&s, line[f.name].values, env(f.variable())); err != nil {
			return s, err
		}
	}
	return s, s.check()
}

func (f setting) read(s *settings, values []string, variable string) error {
	source := fmt.Sprintf("invalid value %%q for flag -%s", f.name)
	if values == nil {
		if variable == "" {
			return nil
		}
		source, values = f.variable()+"=%q", []string{variable}
		if f.list != "" {
			values = strings.FieldsFunc(variable, func(r rune) bool { return strings.ContainsRune(f.list, r) })
		}
	}
	for _, value := range values {
		if err := f.set(s, value); err != nil {
			if f.secret {
				value = "***"
			}
			return fmt.Errorf(source+": %w", value, err)
		}
	}
	return nil
}

// check refuses flags that contradict each other.
func (s settings) check() error {
	switch pair := s.cert != "" || s.key != ""; {
	case s.quota != nil && *s.quota != s.assume.Quota:
		return fmt.Errorf("-quota %d and -assume Quota=%d contradict each other: give one of them", *s.quota, s.assume.Quota)
	case pair && (s.cert == "" || s.key == ""):
		return errors.New("-tls-cert and -tls-key go together")
	case pair && (s.selfSigned || s.caFile != "" || len(s.hosts) > 0):
		return errors.New("-tls, -tls-ca-file and -tls-host make a certificate: with -tls-cert and -tls-key there is one already")
	case s.urlFile != "" && s.caFile != "" && sameFile(s.urlFile, s.caFile):
		return errors.New("-url-file and -tls-ca-file are one file: give each its own")
	case !s.selfSigned && (s.caFile != "" || len(s.hosts) > 0):
		return errors.New("-tls-ca-file and -tls-host are of no use without -tls")
	}
	return nil
}
