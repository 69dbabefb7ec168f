package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// setting is a flag of serve or exec. Its variable is FISCOPE_MOCK_ and its name: -addr is FISCOPE_MOCK_ADDR.
type setting struct {
	name, value string // value is what help shows for it; "" for a flag that is given without one
	what        string // for help, in lines
	set         func(s *settings, text string) error
	list        string // may be repeated: what separates several values in the variable
	secret      bool   // no error repeats its value
	group       string // a title that help shows above it
}

// given collects what was said of one flag, unread: the library's errors are in English, and repeat a value.
type given struct {
	values      []string
	withoutOne  bool
	help        string
	usesEnviron bool
}

func (g *given) String() string         { return "" }
func (g *given) Set(value string) error { g.values = append(g.values, value); return nil }
func (g *given) Get() any               { return g }
func (g *given) IsBoolFlag() bool       { return g.withoutOne }

// variable is where a flag's value comes from when the command line does not say. An empty one counts as not set.
type variable struct {
	cli.ValueSource
	of *given
}

// Lookup implements [cli.ValueSource]. The library asks it only for a flag that was not given.
func (v variable) Lookup() (string, bool) {
	value, _ := v.ValueSource.Lookup()
	v.of.usesEnviron = value != ""
	return value, value != ""
}

func (s setting) variable() string {
	return "FISCOPE_MOCK_" + strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))
}

// Help is what its command's help shows of it.
func (g *given) Help() string { return g.help }

// flagsOf are the library's flags for a table of settings.
func flagsOf(table []setting) (flags []cli.Flag) {
	for _, s := range table {
		of := &given{withoutOne: s.value == ""}
		flag := &cli.GenericFlag{Name: s.name, Usage: strings.Split(s.what, "\n")[0], Value: of, Local: true}
		of.help = s.group + "  " + strings.TrimSpace("-"+s.name+" "+s.value) + " (" + s.variable() + ")"
		flag.Sources = cli.NewValueSourceChain(variable{cli.EnvVar(s.variable()), of})
		of.help += "\n      " + strings.ReplaceAll(s.what, "\n", "\n      ")
		flags = append(flags, flag)
	}
	return flags
}

// read fills in what the flags and the variables of a command say.
func read(cmd *cli.Command, table []setting, into *settings) error {
	for _, s := range table {
		of, _ := cmd.Generic(s.name).(*given)
		values, source := of.values, "valor inválido %q de -"+s.name
		if of.usesEnviron {
			source = s.variable() + "=%q"
			if s.list != "" {
				values = slices.DeleteFunc(strings.Split(values[0], s.list), func(part string) bool { return part == "" })
			}
		}
		for _, value := range values {
			if err := s.set(into, value); err != nil {
				if s.secret {
					value = "***"
				}
				return fmt.Errorf(source+": %w", value, err)
			}
		}
	}
	return nil
}
