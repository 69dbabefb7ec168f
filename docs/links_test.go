package docs_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
)

// What a Markdown file links to in the repository, a file, a folder or a heading, is there.
func TestLinks(t *testing.T) {
	for _, fault := range brokenLinks(repository(t)) {
		t.Error(fault)
	}
}

func TestBrokenLinksAreFound(t *testing.T) {
	for name, test := range map[string]struct{ link, fault string }{
		"file":                     {"[b](b.md)", ""},
		"file of another folder":   {"[c](../c.go)", ""},
		"folder":                   {"[d](deep/)", ""},
		"heading":                  {"[b](b.md#21-un-título-y-code)", ""},
		"second of the same name":  {"[b](b.md#again-1)", ""},
		"heading of the same file": {"[a](#a)", ""},
		"another site":             {"[x](https://example.com/none.md#none)", ""},
		"in code":                  {"```\n[b](none.md)\n```", ""},
		"no such file":             {"\n[b](none.md)", "docs/a.md:4: docs/none.md does not exist"},
		"no such file, referred":   {"[b]: none.md", "docs/a.md:3: docs/none.md does not exist"},
		"no such heading":          {"[b](b.md#none)", "docs/a.md:3: docs/b.md has no heading #none"},
		"no heading but code":      {"[b](b.md#comment)", "docs/a.md:3: docs/b.md has no heading #comment"},
		"no such heading here":     {"[b][x] [x](#none)", "docs/a.md:3: docs/a.md has no heading #none"},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if test.fault != "" {
				want = []string{test.fault}
			}
			assert.Equal(t, want, brokenLinks(texts{
				"docs/a.md":      "# A\n\n" + test.link + "\n",
				"docs/b.md":      "## 2.1 Un título, y `code`\n\n# Again\n\n# Again\n\n```sh\n# comment\n```\n",
				"docs/deep/e.md": "",
				"c.go":           "package c\n",
			}))
		})
	}
}

// link is an inline link or the definition of a reference.
var link = regexp.MustCompile(`\]\(([^()\s]+)|^\[[^\]]+\]:\s+(\S+)`)

func brokenLinks(files texts) []string {
	var faults []string
	for file, content := range files {
		if path.Ext(file) != ".md" {
			continue
		}
		for i, line := range prose(content) {
			for _, match := range link.FindAllStringSubmatch(line, -1) {
				if fault := files.miss(file, match[1]+match[2]); fault != "" {
					faults = append(faults, fmt.Sprintf("%s:%d: %s", file, i+1, fault))
				}
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// miss says what a link in a file misses, or "".
func (files texts) miss(from, link string) string {
	target, anchor, anchored := strings.Cut(link, "#")
	if strings.Contains(target, ":") {
		return "" // another site
	}
	name := from
	if target != "" {
		name = path.Join(path.Dir(from), target)
	}
	switch {
	case !files.has(name):
		return name + " does not exist"
	case anchored && !slices.Contains(anchors(files[name]), anchor):
		return name + " has no heading #" + anchor
	}
	return ""
}

// has reports whether there is a file or a folder with that name.
func (files texts) has(name string) bool {
	for file := range files {
		if file == name || strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

// anchors are what the headings of a Markdown file are linked as, by the rules of GitHub.
func anchors(markdown string) []string {
	var found []string
	times := map[string]int{}
	for _, title := range headings(markdown) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, title)
		if times[anchor]++; times[anchor] > 1 {
			anchor = fmt.Sprintf("%s-%d", anchor, times[anchor]-1)
		}
		found = append(found, anchor)
	}
	return found
}
