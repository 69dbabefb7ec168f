// Package docs_test holds no code, only tests: that what the files of this repository cite and link to
// is there.
package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// texts are the files of a repository by their paths, as in "docs/contract.md"; "" for one that is no text.
type texts map[string]string

func repository(t *testing.T) texts {
	t.Helper()
	files := texts{}
	root := os.DirFS("..")
	require.NoError(t, fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.Type().IsRegular(), path == "docs/contract_test.go": // which holds faults on purpose
			return nil
		}
		content, err := fs.ReadFile(root, path)
		if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
			content = nil
		}
		files[path] = string(content)
		return err
	}))
	return files
}

var heading = regexp.MustCompile(`^#{1,6} +(.+?) *$`)

// headings are those of a Markdown file.
func headings(markdown string) []string {
	var found []string
	for _, line := range prose(markdown) {
		if match := heading.FindStringSubmatch(line); match != nil {
			found = append(found, match[1])
		}
	}
	return found
}

// prose are the lines of a Markdown file, with those of code emptied.
func prose(markdown string) []string {
	lines := strings.Split(markdown, "\n")
	code := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if code || fence {
			lines[i] = ""
		}
		code = code != fence
	}
	return lines
}
