package docs_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The Markdown files name tests and files in code marks: each is there, so that a row of SECURITY.md never
// outlives its guard.
func TestNames(t *testing.T) {
	for _, fault := range unknownNames(repository(t)) {
		t.Error(fault)
	}
}

func TestUnknownNamesAreFound(t *testing.T) {
	for name, test := range map[string]struct{ text, fault string }{
		"a test":                  {"`TestA`", ""},
		"a fuzz test":             {"`FuzzA`", ""},
		"a file by its path":      {"`y/deep/b.lua`", ""},
		"a file beside it":        {"`c.go`", ""},
		"files by a pattern":      {"`y/op_*.go`", ""},
		"a file and what it has":  {"`x/a.go`: `check`", ""},
		"a file and a rule of it": {"`x/a.go`: it is checked", ""},
		"a command":               {"`go test ./none.go`", ""},
		"outside of code marks":   {"TestNone in none.go", ""},
		"no such test":            {"\n`TestNone`", "docs/a.md:2: no test is named TestNone"},
		"no such file":            {"`none.go`", "docs/a.md:1: no file is named none.go"},
		"no such path":            {"`deep/b.lua`", "docs/a.md:1: no file is named deep/b.lua"},
		"no file of the pattern":  {"`y/none_*.go`", "docs/a.md:1: no file is named y/none_*.go"},
		"nothing of that name":    {"`x/a.go`: `chec`", "docs/a.md:1: x/a.go has no chec"},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if test.fault != "" {
				want = []string{test.fault}
			}
			assert.Equal(t, want, unknownNames(texts{
				"docs/a.md":      test.text,
				"docs/c.go":      "package docs",
				"x/a.go":         "package x\n\nfunc check() {}\n",
				"x/a_test.go":    "func TestA(t *testing.T) {\nfunc FuzzA(f *testing.F) {\n",
				"y/deep/b.lua":   "",
				"y/op_one.go":    "package y",
				"y/none.go.text": "",
			}))
		})
	}
}

var (
	codeMark = regexp.MustCompile("`([^` ]+)`")
	testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]\w*$`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	hasName  = regexp.MustCompile("`([\\w./-]+\\.(?:go|lua))`: `(\\w+)`")
	fileName = regexp.MustCompile(`^[\w./*-]+\.(go|lua|md|yaml|yml|sh)$`)
)

func unknownNames(files texts) []string {
	tests := map[string]bool{}
	for file, content := range files {
		if strings.HasSuffix(file, "_test.go") {
			for _, match := range testFunc.FindAllStringSubmatch(content, -1) {
				tests[match[1]] = true
			}
		}
	}
	var faults []string
	for file, content := range files {
		if path.Ext(file) != ".md" {
			continue
		}
		for i, line := range prose(content) {
			for _, match := range codeMark.FindAllStringSubmatch(line, -1) {
				switch name := match[1]; {
				case testName.MatchString(name) && !tests[name]:
					faults = append(faults, fmt.Sprintf("%s:%d: no test is named %s", file, i+1, name))
				case fileName.MatchString(name) && !files.named(name) && !files.named(path.Join(path.Dir(file), name)):
					faults = append(faults, fmt.Sprintf("%s:%d: no file is named %s", file, i+1, name))
				}
			}
			for _, match := range hasName.FindAllStringSubmatch(line, -1) {
				if !regexp.MustCompile(`\b` + match[2] + `\b`).MatchString(files[match[1]]) {
					faults = append(faults, fmt.Sprintf("%s:%d: %s has no %s", file, i+1, match[1], match[2]))
				}
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// named reports whether the path of a file matches name, which may hold asterisks.
func (files texts) named(name string) bool {
	for file := range files {
		if ok, _ := path.Match(name, file); ok {
			return true
		}
	}
	return false
}
