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
		"a file by its name":      {"`a.go`", ""},
		"a file by its path":      {"`deep/b.lua`", ""},
		"files by a pattern":      {"`op_*.go`", ""},
		"a file and what is said": {"`a.go`: `check`", ""},
		"a command":               {"`go test ./none.go`", ""},
		"outside of code marks":   {"TestNone in none.go", ""},
		"no such test":            {"\n`TestNone`", "docs/a.md:2: no test is named TestNone"},
		"no such file":            {"`none.go`", "docs/a.md:1: no file is named none.go"},
		"no such path":            {"`other/b.lua`", "docs/a.md:1: no file is named other/b.lua"},
		"no file of the pattern":  {"`none_*.go`", "docs/a.md:1: no file is named none_*.go"},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if test.fault != "" {
				want = []string{test.fault}
			}
			assert.Equal(t, want, unknownNames(texts{
				"docs/a.md":      test.text,
				"x/a.go":         "package x",
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
				case fileName.MatchString(name) && !files.named(name):
					faults = append(faults, fmt.Sprintf("%s:%d: no file is named %s", file, i+1, name))
				}
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// named reports whether the end of a file's path matches name, which may hold asterisks.
func (files texts) named(name string) bool {
	elements := strings.Count(name, "/") + 1
	for file := range files {
		parts := strings.Split(file, "/")
		if len(parts) < elements {
			continue
		}
		if ok, _ := path.Match(name, path.Join(parts[len(parts)-elements:]...)); ok {
			return true
		}
	}
	return false
}
