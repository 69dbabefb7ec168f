// Package docs_test holds no code, only tests: that what the files of this repository cite and link to
// is there.
package docs_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// texts are the files of a repository by their paths, as in "docs/contract.md"; "" for one that is no text.
type texts map[string]string

// repository returns the files that git has, without .github, which a fork may lack. It skips the test outside of a
// clone, where the other modules are missing too.
func repository(t *testing.T) texts {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Skipf("left out: git does not list the files: %v", err)
	}
	files := texts{}
	for _, path := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(path)))
		if strings.HasPrefix(path, ".github/") || errors.Is(err, os.ErrNotExist) { // deleted, and not yet in a commit
			continue
		}
		require.NoError(t, err)
		if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
			content = nil
		}
		files[path] = string(content)
	}
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

// block is a fenced block of a Markdown file.
type block struct {
	language string // as in "go"; "" where it says none
	line     int    // of the file, where the text begins
	text     string // with the line end of each line
}

func blocks(markdown string) []block {
	var found []block
	inside := false
	line := 0
	for text := range strings.Lines(markdown) {
		line++
		language, fence := strings.CutPrefix(strings.TrimSpace(text), "```")
		switch {
		case fence && !inside:
			found = append(found, block{language: language, line: line + 1})
		case inside && !fence:
			found[len(found)-1].text += text
		}
		inside = inside != fence
	}
	return found
}

// blocksOf returns those of a language.
func blocksOf(markdown, language string) []block {
	var found []block
	for _, b := range blocks(markdown) {
		if b.language == language {
			found = append(found, b)
		}
	}
	return found
}
