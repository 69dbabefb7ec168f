package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is enough to see that each work is done.
var small = size{
	rounds: 2, calls: 2, allocating: 10,
	outageCalls: 40,
	patience:    100 * time.Millisecond,
	goroutines:  50,
	quotaCalls:  40,
	programs:    contenders[:1],
}

// comparison is docs/comparison.md.
func comparison(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "comparison.md"))
	require.NoError(t, err)
	return string(text)
}

// A run gives each contender a cell in each row, and the document has the same rows and columns.
func TestTheTableIsWholeAndThatOfTheDocument(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it takes a second or two
	defer cancel()
	var out bytes.Buffer
	require.NoError(t, compare(ctx, &out, small, true))
	_, table, found := strings.Cut(out.String(), "\n\n")
	require.True(t, found)
	documented := namesOf(comparison(t))
	lines := strings.Split(strings.TrimSpace(table), "\n")
	require.Greater(t, len(lines), 2)
	for i, line := range lines {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		assert.Len(t, cells, 1+len(contenders), line)
		for _, cell := range cells {
			assert.NotEmpty(t, strings.TrimSpace(cell), line)
		}
		switch i {
		case 0:
			assert.Contains(t, comparison(t), line, "the document has other columns")
		case 1:
		default:
			assert.True(t, documented[nameOf(line)], "the document has no row %q", nameOf(line))
			if constant.MatchString(line) {
				assert.Contains(t, comparison(t), line, "the document has other figures: go run ./compare -markdown")
			}
		}
	}
	assert.Len(t, documented, len(lines)-2, "the document has rows that a run has not")
}

// constant are the rows that are the same in every run, of any size.
var constant = regexp.MustCompile(`^\| (12 wrong answers|6 redirects|2 redirects|outputs that show|lines of code) `)

var numbers = regexp.MustCompile(`\d[\d ]*`)

// nameOf is the first cell of a line, without its numbers: they are of the size of the run.
func nameOf(line string) string {
	return strings.TrimSpace(numbers.ReplaceAllString(strings.Split(line, "|")[1], "N "))
}

// namesOf are those of the rows of the table with a column for each contender.
func namesOf(text string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.Count(line, "|") == len(contenders)+2 && !strings.HasPrefix(line, "|---") && !strings.HasPrefix(line, "| work ") {
			names[nameOf(line)] = true
		}
	}
	return names
}

// The document tells the versions that were compared: those of go.mod.
func TestTheDocumentNamesTheVersions(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	for _, c := range contenders {
		if c.module == "" || c.module == ours.module {
			continue
		}
		required := regexp.MustCompile(`(?m)^\s+` + regexp.QuoteMeta(c.module) + ` (v\S+)`).FindStringSubmatch(string(text))
		require.NotNil(t, required, "%s is not in go.mod", c.module)
		assert.Contains(t, comparison(t), c.module+" "+required[1], "measure anew: go run ./compare -markdown")
	}
}

func TestATableForATerminal(t *testing.T) {
	var out bytes.Buffer
	rows, err := inTurn([]string{"a", "b"}, func(c contender) ([]string, error) { return []string{c.name, none}, nil })
	require.NoError(t, err)
	require.NoError(t, table(rows).text(&out))
	for _, c := range contenders {
		assert.Equal(t, 2, strings.Count(out.String(), " "+c.name+" ")+strings.Count(out.String(), " "+c.name+"\n"), "%s in the head and in a row:\n%s", c.name, &out)
	}
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1 000", 1234567: "1 234 567"} {
		assert.Equal(t, want, grouped(n))
	}
}
