package docs_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// README.es.md says what README.md says: the same sections in the same order, and in each the same code and commands,
// links, numbers, names in code marks, rows of tables and items of lists. Comments are in its own language.
func TestTheTranslationIsComplete(t *testing.T) {
	files := repository(t)
	original, translation := sections(files["README.md"]), sections(files["README.es.md"])
	require.Greater(t, len(original), 5)
	require.Equal(t, titles(original), titles(translation), "the levels of the headings")
	for i, of := range original {
		is := translation[i]
		assert.Empty(t, cmp.Diff(of.content, is.content), "%q and %q differ", of.title, is.title)
	}
	assert.Contains(t, files["README.md"], "](README.es.md)")
	assert.Contains(t, files["README.es.md"], "](README.md)")
}

func TestDifferencesOfATranslationAreFound(t *testing.T) {
	const original = "# A\n[b](b.md) `c` and `d`, 10 000\n\n```go\na() // one\n```\n\n```sh\ngo x  # two\n```\n\n```console\n$ go z # three\nprinted\n```\n\n## B\n- e\n\n| f |\n|---|\n| g |\n"
	for name, test := range map[string]struct {
		from, to string
		same     bool
	}{
		"nothing":           {"", "", true},
		"words":             {"and", "y", true},
		"order of names":    {"`c` and `d`", "`d` y `c`", true},
		"a comment":         {"// one", "// uno", true},
		"a comment, longer": {"// one", "// uno\n// dos", true},
		"a shell comment":   {"# two", "# dos", true},
		"one of a console":  {"# three", "# tres", true},
		"a title":           {"## B", "## Be", true},
		"a level":           {"## B", "### B", false},
		"a number":          {"and", "and 3", false},
		"the thousands":     {"10 000", "10.000", true},
		"another number":    {"10 000", "10 001", false},
		"a section":         {"## B", "B", false},
		"code":              {"a()", "b()", false},
		"a string":          {"a()", "a(1)", false},
		"a command":         {"go x", "go y", false},
		"what is printed":   {"printed", "said", false},
		"a block":           {"```sh\ngo x  # two\n```\n", "", false},
		"a link":            {"(b.md)", "(c.md)", false},
		"a name":            {"`c`", "c", false},
		"a row":             {"| g |\n", "", false},
		"an item":           {"- e\n", "e\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, original, test.from)
			a, b := sections(original), sections(strings.Replace(original, test.from, test.to, 1))
			same := cmp.Equal(titles(a), titles(b))
			for i := range min(len(a), len(b)) {
				same = same && cmp.Equal(a[i].content, b[i].content)
			}
			assert.Equal(t, test.same, same)
		})
	}
}

// part is a section of a Markdown file.
type part struct {
	title   string // with its #
	content contents
}

// contents are what a translation has in common with the original.
type contents struct {
	Code         []string // of blocks, in their order, without comments
	Links, Names []string // sorted
	Numbers      []string // of the prose, sorted, as digits alone: each language writes 10 000 and 0.5 as it does
	Rows, Items  int
}

// titles are the levels of the headings.
func titles(parts []part) []string {
	var levels []string
	for _, p := range parts {
		levels = append(levels, strings.Split(p.title, " ")[0])
	}
	return levels
}

var (
	item      = regexp.MustCompile(`^ *(-|\d+\.) `)
	number    = regexp.MustCompile(`\d+([ .,\x{a0}]\d+)*`)
	notDigits = regexp.MustCompile(`\D`)
)

// sections are those of a Markdown file, in order. The links of one to README.md or README.es.md are left out:
// each file has the other.
func sections(markdown string) []part {
	var found []part
	code := blocks(markdown)
	for i, line := range append(prose(markdown), "# the end") {
		if heading.MatchString(line) {
			if len(found) > 0 {
				for len(code) > 0 && code[0].line <= i {
					found[len(found)-1].content.Code = append(found[len(found)-1].content.Code, uncommented(code[0]))
					code = code[1:]
				}
			}
			found = append(found, part{title: line})
		}
		if len(found) == 0 {
			continue
		}
		c := &found[len(found)-1].content
		for _, match := range link.FindAllStringSubmatch(line, -1) {
			if target := match[1] + match[2]; target != "README.md" && target != "README.es.md" {
				c.Links = append(c.Links, target)
			}
		}
		for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
			c.Names = append(c.Names, match[1])
		}
		for _, text := range number.FindAllString(line, -1) {
			c.Numbers = append(c.Numbers, notDigits.ReplaceAllString(text, ""))
		}
		if strings.HasPrefix(line, "|") {
			c.Rows++
		}
		if item.MatchString(line) {
			c.Items++
		}
	}
	for i := range found {
		slices.Sort(found[i].content.Links)
		slices.Sort(found[i].content.Names)
		slices.Sort(found[i].content.Numbers)
	}
	return found[:len(found)-1]
}

// shellComment is one at the end of a line.
var shellComment = regexp.MustCompile(`(?m)(^|\s+)#.*$`)

// uncommented is the code of a block without its comments.
func uncommented(b block) string {
	switch b.language {
	case "sh", "console":
		return shellComment.ReplaceAllString(b.text, "")
	case "go":
		return fmt.Sprint(goTokens(b.text))
	}
	return b.text
}

// goTokens are what Go code consists of, without comments.
func goTokens(text string) []string {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(text)), []byte(text), nil, 0)
	var tokens []string
	for {
		_, kind, literal := s.Scan()
		if kind == token.EOF {
			return tokens
		}
		if literal == "" {
			literal = kind.String()
		}
		tokens = append(tokens, literal)
	}
}
