package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// setting is a flag of serve or exec. Its variable is FISCOPE_MOCK_ plus its name: FISCOPE_MOCK_ADDR for -addr.
type setting struct {
	name, value string // value is its placeholder in help; "" for a flag without a value
	what        string // for help, in lines
	set         func(s *settings, text string) error
	list        string // can be repeated: the separator of several values in the variable
	secret      bool   // errors must not contain its value
	group       string // a title above it in help
}

// given collects a flag's values unparsed: the library's errors are in English, and repeat a value.
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

// variable is the environment variable of a flag. An empty one counts as unset.
type variable struct {
	cli.ValueSource
	of *given
}

// Lookup implements [cli.ValueSource]. The library calls it only if the flag is not given.
func (v variable) Lookup() (string, bool) {
	value, _ := v.ValueSource.Lookup()
	v.of.usesEnviron = value != ""
	return value, value != ""
}

func (s setting) variable() string {
	return "FISCOPE_MOCK_" + strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))
}

// Help returns the flag's text in help.
func (g *given) Help() string { return g.help }

// flagsOf returns the library's flags for a table of settings.
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

// read parses the flags and variables of a command into settings.
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
