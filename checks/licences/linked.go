package licences

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// module is one that is linked, other than fiscope's own.
type module struct {
	path, version string
	folders       []string // its own, and those of its packages that are linked
	into          []string // the packages that it is linked into
}

// own is what the modules of this repository begin with.
const own = "github.com/fiscope/fiscope"

// linked are the modules that are linked into packages of the module in a folder, on an operating system.
func linked(folder, system string, patterns ...string) ([]module, error) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
		Dir:  folder,
		Env:  append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOARCH=amd64", "GOOS="+system),
	}, patterns...)
	if err != nil {
		return nil, err
	}
	var found []module
	var errs []error
	for _, of := range pkgs {
		packages.Visit([]*packages.Package{of}, nil, func(pkg *packages.Package) {
			for _, err := range pkg.Errors {
				errs = append(errs, err)
			}
			if m := pkg.Module; m != nil && m.Path != own && !strings.HasPrefix(m.Path, own+"/") {
				found = with(found, module{m.Path, m.Version, foldersOf(m.Dir, pkg.Dir), []string{of.PkgPath}})
			}
		})
	}
	return found, errors.Join(errs...)
}

// with adds a module, or what it is linked into to the one that is there.
func with(modules []module, m module) []module {
	for i, other := range modules {
		if other.path == m.path && other.version == m.version {
			modules[i].into = union(other.into, m.into)
			modules[i].folders = union(other.folders, m.folders)
			return modules
		}
	}
	return append(modules, m)
}

func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// foldersOf are those from a module's down to a package's: code that somebody else wrote may have its licence beside it.
func foldersOf(module, pkg string) []string {
	folders := []string{module}
	for ; strings.HasPrefix(pkg, module+string(filepath.Separator)); pkg = filepath.Dir(pkg) {
		folders = append(folders, pkg)
	}
	return folders
}

// row is a module as a row of a Markdown table.
func (m module) row(licence string) string {
	var into []string
	for _, pkg := range m.into {
		into = append(into, "`"+pkg[strings.LastIndexByte(pkg, '/')+1:]+"`")
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", m.path, m.version, licence, strings.Join(into, ", "))
}
