// Package terminal is common to the programs of cmd: a command line in Spanish, and terminal output.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// commandHelp is the help of each command.
const commandHelp = `{{.FullName}}: {{.Usage}}

Uso: {{.UsageText}}
{{if .Description}}
{{.Description}}
{{end}}{{if .VisibleCommands}}
{{range .VisibleCommands}}  {{.Name}}{{"\t"}}{{.Usage}}
{{end}}{{end}}{{if .VisibleFlags}}
{{range .VisibleFlags}}{{.}}
{{end}}{{end}}`

// SpeakSpanish translates the library's texts.
func SpeakSpanish() {
	cli.CommandHelpTemplate, cli.SubcommandHelpTemplate = commandHelp, commandHelp
	cli.FlagStringer = shownFlag
	cli.HelpFlag = &cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "esta ayuda", Local: true}
	cli.VersionFlag = &cli.BoolFlag{Name: "version", Usage: "la versión y el commit", Local: true}
	cli.VersionPrinter = func(cmd *cli.Command) { _, _ = fmt.Fprintln(cmd.Root().Writer, cmd.Root().Version) }
}

// ShowHelp is the action of the command help: for the command in its arguments, or for all.
func ShowHelp(ctx context.Context, cmd *cli.Command) error {
	var above *cli.Command
	of := cmd.Root()
	for _, name := range cmd.Args().Slice() {
		if above, of = of, of.Command(name); of == nil {
			return UnknownCommand(above, name)
		}
	}
	if above == nil {
		return cli.ShowRootCommandHelp(of)
	}
	return cli.ShowCommandHelp(ctx, above, of.Name)
}

// WrongUsage is an error in the command line or in a variable.
type WrongUsage struct {
	error
	Of string // the command whose help to see
}

// Unwrap returns the error.
func (w WrongUsage) Unwrap() error { return w.error }

// Wrong returns err as a [WrongUsage] of a command.
func Wrong(err error, of string) error { return WrongUsage{err, of} }

// UnknownCommand returns the error for a word that is not a command.
func UnknownCommand(of *cli.Command, word string) error {
	var names []string
	for _, c := range of.VisibleCommands() {
		names = append(names, c.Name)
	}
	all := "los comandos son " + strings.Join(names, ", ")
	switch {
	case word == "":
		return errors.New("falta el comando: " + all)
	case slices.Contains(names, word):
		return fmt.Errorf("el comando %s va primero, y sus opciones detrás", word)
	}
	if name := cli.SuggestCommand(of.VisibleCommands(), word); slices.Contains(names, name) && name[0] == word[0] {
		return fmt.Errorf("no existe el comando %q: ¿quiso decir %s? L%s", word, name, all[1:])
	}
	return fmt.Errorf("no existe el comando %q: %s", word, all)
}

var (
	badValue   = regexp.MustCompile(`^invalid value (".*") for flag -+([a-z-]+): `)
	noSuchFlag = regexp.MustCompile(`^flag provided but not defined: -+(.*)$`)
	noValue    = regexp.MustCompile(`^flag needs an argument: -+(.*)$`)
)

// UsageError translates the library's error about a command line.
func UsageError(_ context.Context, cmd *cli.Command, err error, _ bool) error {
	of := strings.TrimSpace(strings.TrimPrefix(cmd.FullName(), cmd.Root().Name))
	if flag := noSuchFlag.FindStringSubmatch(err.Error()); flag != nil {
		near := strings.TrimLeft(cli.SuggestFlag(cmd.Flags, flag[1], false), "-")
		ofCommand := func(c *cli.Command) bool {
			return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flag[1]) })
		}
		err = fmt.Errorf("no existe la opción -%s", flag[1])
		switch {
		case slices.ContainsFunc(cmd.Commands, ofCommand):
			err = fmt.Errorf("-%s va después del comando", flag[1])
		case near != "" && near[0] == flag[1][0]:
			err = fmt.Errorf("%w: ¿quiso decir -%s?", err, near)
		}
	} else if flag := badValue.FindStringSubmatch(err.Error()); flag != nil {
		err = fmt.Errorf("valor inválido %s de -%s", flag[1], flag[2])
	} else if flag := noValue.FindStringSubmatch(err.Error()); flag != nil {
		err = fmt.Errorf("falta el valor de -%s", flag[1])
	}
	return Wrong(err, of)
}

// Common texts of the system and the library, in Spanish.
var (
	noHost = regexp.MustCompile(`lookup (\S+)( on \S+)?: no such host`)
	badEnv = regexp.MustCompile(`^could not parse (".*") as \S+ value from environment variable "(\w+)".*`)
	usual  = strings.NewReplacer(
		"dial tcp: ", "", "dial tcp ", "", "connect: connection refused", "nadie responde ahí", "context deadline exceeded", "no respondió a tiempo",
		"bind: address already in use", "otro programa ya atiende ahí", "bind: cannot assign requested address", "no es una dirección de esta máquina",
		"missing port in address", "falta el puerto, como en 127.0.0.1:8080", "invalid port", "el puerto va de 0 a 65535",
		"executable file not found in $PATH", "no existe ese comando", "permission denied", "no hay permiso", "no such file or directory", "no existe",
		"no space left on device", "el disco está lleno", "There is not enough space on the disk.", "el disco está lleno",
		"No help topic for", "no existe el comando",
	)
)

// InSpanish returns an error's text, with the system's texts translated.
func InSpanish(err error) string {
	text := strings.TrimPrefix(err.Error(), "mockserver: ")
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		why := file.Err.Error()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			why = "no existe"
		case errors.Is(err, fs.ErrPermission):
			why = "no hay permiso"
		}
		text = strings.Replace(text, file.Error(), file.Path+": "+why, 1)
	}
	text = badEnv.ReplaceAllString(text, "valor inválido $1 de $2")
	return usual.Replace(noHost.ReplaceAllString(text, "no existe la máquina $1"))
}

// shownFlag formats a flag for help; its DefaultText has the placeholder.
func shownFlag(f cli.Flag) string {
	if own, ok := f.(*cli.GenericFlag); ok {
		return own.Value.(interface{ Help() string }).Help()
	}
	flag := f.(cli.DocGenerationFlag)
	return "  " + strings.TrimSpace("-"+f.Names()[0]+" "+flag.GetDefaultText()) + "\n      " + flag.GetUsage()
}

// OneOf is the action of a command that only has subcommands.
func OneOf(_ context.Context, cmd *cli.Command) error {
	return Wrong(UnknownCommand(cmd, cmd.Args().First()), cmd.Name)
}

// Completion adapts the library's command completion to a program.
func Completion(program string) func(*cli.Command) {
	return func(c *cli.Command) {
		c.Hidden, c.Usage, c.UsageText = false, "las palabras que el shell completa con Tab", program+" completion bash|zsh|fish|pwsh"
		c.Description = fmt.Sprintf("bash:  source <(%[1]s completion bash)\nzsh:   source <(%[1]s completion zsh)\n"+
			"fish:  %[1]s completion fish | source\nLa línea va en el archivo con que empieza su shell, como ~/.bashrc.", program)
		c.Action = OneOf
		for _, shell := range c.Commands {
			shell.Usage, shell.UsageText = "para "+shell.Name, program+" completion "+shell.Name
			if shell.Name == "bash" { // its script needs the package bash-completion, which may be missing
				shell.Before = func(ctx context.Context, cmd *cli.Command) (context.Context, error) {
					_, err := io.WriteString(cmd.Root().Writer, "declare -F _get_comp_words_by_ref >/dev/null || _get_comp_words_by_ref() { :; }\n")
					return ctx, err
				}
			}
		}
	}
}
