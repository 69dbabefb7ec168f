package docs_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// What a Markdown file links to in the repository, a file, a folder or a heading, is there.
func TestLinks(t *testing.T) {
	for _, fault := range brokenLinks(repository(t)) {
		t.Error(fault)
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
