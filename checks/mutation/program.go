package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// program is the packages that are mutated.
type program struct {
	folder string
	files  map[string]*file // by their names on disk
}

type file struct {
	pkg    *packages.Package
	syntax *ast.File
	text   []byte
}

// load reads packages, without their tests.
func load(folder string, env []string, patterns ...string) (*program, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax,
		Dir: folder, Env: env,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	p := &program{folder: folder, files: map[string]*file{}}
	var errs []error
	for _, pkg := range pkgs {
		for _, err := range pkg.Errors {
			errs = append(errs, err)
		}
		for _, syntax := range pkg.Syntax {
			name := pkg.Fset.Position(syntax.Package).Filename
			text, err := os.ReadFile(name)
			errs = append(errs, err)
			p.files[name] = &file{pkg, syntax, text}
		}
	}
	return p, errors.Join(errs...)
}

// mutants are all of the program, whether they compile or not, in the order of its files.
func (p *program) mutants() ([]*mutant, error) {
	var all []*mutant
	for name, f := range p.files {
		shown, err := filepath.Rel(p.folder, name)
		if err != nil {
			return nil, err
		}
		in := finder{files: f.pkg.Fset, text: f.text, info: f.pkg.TypesInfo}
		in.file(f.syntax)
		alike := map[string]int{}
		for _, m := range in.found {
			m.pkg, m.file, m.shown = f.pkg.PkgPath, name, filepath.ToSlash(shown)
			id := m.id()
			m.again = alike[id]
			alike[id]++
		}
		all = append(all, in.found...)
	}
	slices.SortStableFunc(all, func(a, b *mutant) int {
		if a.file == b.file {
			return a.start - b.start
		}
		return strings.Compare(a.file, b.file)
	})
	return all, nil
}

// text is a mutant's file.
func (p *program) text(m *mutant) []byte { return m.apply(p.files[m.file].text) }

// compiles reports whether a mutant is a program.
func (p *program) compiles(m *mutant) bool {
	of := p.files[m.file]
	mutated, err := parser.ParseFile(of.pkg.Fset, m.file, p.text(m), parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	files := slices.Clone(of.pkg.Syntax)
	files[slices.Index(files, of.syntax)] = mutated
	config := types.Config{Importer: imports(of.pkg.Types.Imports()), Sizes: of.pkg.TypesSizes}
	_, err = config.Check(of.pkg.PkgPath, of.pkg.Fset, files, nil)
	return err == nil
}

// imports are those that a package has: a mutant imports nothing else.
type imports []*types.Package

func (i imports) Import(path string) (*types.Package, error) {
	for _, pkg := range i {
		if pkg.Path() == path {
			return pkg, nil
		}
	}
	return nil, fmt.Errorf("%s is not imported", path)
}
