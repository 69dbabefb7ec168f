package docs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

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

func TestBlocks(t *testing.T) {
	const markdown = "# A\n\n```go\na := 1\n\n\tb()\n```\ntext `go`\n```\nplain\n```\n```sh\n```\n"
	assert.Equal(t, []block{{"go", 4, "a := 1\n\n\tb()\n"}, {"", 10, "plain\n"}, {"sh", 13, ""}}, blocks(markdown))
	assert.Equal(t, []block{{"go", 4, "a := 1\n\n\tb()\n"}}, blocksOf(markdown, "go"))
}
