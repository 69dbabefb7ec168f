package main

import (
	"context"
	"debug/buildinfo"
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// comparePrograms builds a program that looks up one object with each contender.
func comparePrograms(ctx context.Context, s size) ([]row, error) {
	return inTurn([]string{
		"lines of code for the two calls",
		"a program with one lookup: size",
		"a program with one lookup: modules",
		"a program with one lookup: packages",
	}, func(c contender) ([]string, error) {
		lines, err := linesOfCode(c.code)
		if err != nil {
			return nil, err
		}
		cells := []string{strconv.Itoa(lines), none, none, none}
		if !slices.ContainsFunc(s.programs, func(built contender) bool { return built.name == c.name }) {
			return cells, nil
		}
		p, err := buildProgram(ctx, c)
		return []string{cells[0], fmt.Sprintf("%.1f MB", float64(p.bytes)/1e6), strconv.Itoa(p.modules), strconv.Itoa(p.packages)}, err
	})
}

// program is what was built.
type program struct {
	bytes    int64
	modules  int
	packages int
}

func buildProgram(ctx context.Context, c contender) (p program, err error) {
	folder, err := os.MkdirTemp("", "fiscope-compare-")
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	const own = "github.com/fiscope/fiscope/compare"
	module, err := goCommand(ctx, "", "list", "-m", "-f", "{{.Dir}}", own)
	if err != nil {
		return p, err
	}
	module = strings.TrimSpace(module)
	path, binary := own+"/minimal/"+c.folder, filepath.Join(folder, "program")
	if _, err := goCommand(ctx, module, "build", "-o", binary, path); err != nil {
		return p, err
	}
	file, err := os.Stat(binary)
	if err != nil {
		return p, err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return p, err
	}
	packages, err := goCommand(ctx, module, "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", path)
	if err != nil {
		return p, err
	}
	p.bytes, p.modules = file.Size(), len(info.Deps)
	for built := range strings.FieldsSeq(packages) {
		if !strings.HasPrefix(built, own+"/") {
			p.packages++
		}
	}
	return p, nil
}

// goCommand runs go in a module's folder, without C, so that it builds the same everywhere, and without the workspace,
// whose other modules ask for other versions of what a program is built of. In no folder it runs as this program does.
func goCommand(ctx context.Context, folder string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", args...) //nolint:gosec // of this program's own words
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if command.Dir = folder; folder != "" {
		command.Env = append(command.Env, "GOWORK=off")
	}
	out, err := command.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}

// sources are what the contenders' calls are written in.
//
//go:embed peers
var sources embed.FS

// linesOfCode returns the lines of files of peers, without those that are empty or comments, and without what is
// there for the comparison alone.
func linesOfCode(files []string) (int, error) {
	lines := 0
	for _, name := range files {
		source, err := sources.ReadFile("peers/" + name)
		if err != nil {
			return 0, err
		}
		n, err := linesOf(source)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		lines += n
	}
	return lines, nil
}

func linesOf(source []byte) (int, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	coded := map[int]bool{}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(source))
	s.Init(file, source, nil, 0)
	for at, what, text := s.Scan(); what != token.EOF; at, what, text = s.Scan() {
		if what == token.SEMICOLON && text == "\n" {
			continue // which the scanner adds
		}
		for line := range strings.Count(text, "\n") + 1 {
			coded[file.Line(at)+line] = true
		}
	}
	for _, declared := range parsed.Decls {
		method, ok := declared.(*ast.FuncDecl)
		if !ok || method.Name.Name != "Held" && method.Name.Name != "Close" {
			continue
		}
		for line := files.Position(method.Pos()).Line; line <= files.Position(method.End()).Line; line++ {
			delete(coded, line)
		}
	}
	return len(coded), nil
}
