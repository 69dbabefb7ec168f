package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// contract is the service's. A section of it is cited as "docs/contract.md, 4.3".
const contract = "docs/contract.md"

// A citation of the contract, in a comment, an error text or a document, leads to a section that exists.
func TestCitations(t *testing.T) {
	faults, cited := wrongCitations(repository(t))
	for _, fault := range faults {
		t.Error(fault)
	}
	assert.Greater(t, cited, 100, "most citations were not recognised as such")
}

func TestWrongCitationsAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		cited int
		fault string
	}{
		"a section":             {"// A rule (docs/contract.md, 4.3).", 1, ""},
		"several":               {"// docs/contract.md, 4, 4.3 and 8, says", 3, ""},
		"over two lines":        {"// A rule (docs/contract.md,\n\t// 4.3).", 1, ""},
		"a link":                {"[4.3](docs/contract.md#9-none)", 0, ""},
		"none":                  {"// 1.5 s (1.5) as in docs, 9.9, no section 9.9", 0, ""},
		"the whole contract":    {"// The contract (docs/contract.md) is silent.", 0, ""},
		"no such section":       {"\n// A rule (docs/contract.md, 4.5).", 1, "a.go:2: docs/contract.md has no section 4.5"},
		"no such, over lines":   {"// (docs/contract.md,\n// 4.5)", 1, "a.go:2: docs/contract.md has no section 4.5"},
		"no such, second":       {`"(docs/contract.md, 8; 9)"`, 2, "a.go:1: docs/contract.md has no section 9"},
		"no such, after a word": {"// docs/contract.md, 4.3, and 9", 2, "a.go:1: docs/contract.md has no section 9"},
		"no such, the last":     {"// docs/contract.md, 4 to 4.9", 2, "a.go:1: docs/contract.md has no section 4.9"},
		"no such, a dash":       {"// docs/contract.md, 4.3-4.9", 2, "a.go:1: docs/contract.md has no section 4.9"},
		"no such, a colon":      {"// docs/contract.md: 4.9", 1, "a.go:1: docs/contract.md has no section 4.9"},
		"no such, in words":     {"// docs/contract.md, section 4.9", 1, "a.go:1: docs/contract.md has no section 4.9"},
		"no such, a sign":       {"// docs/contract.md, §4.9", 1, "a.go:1: docs/contract.md has no section 4.9"},
		"no such, turned round": {"// section 4.9 of docs/contract.md", 1, "a.go:1: docs/contract.md has no section 4.9"},
		"no such, bare":         {"// docs/contract.md: (see 4.3; 4.9)", 2, "a.go:1: docs/contract.md has no section 4.9"},
		"bare":                  {"// Of docs/contract.md.\n//\n// A rule (4.3, 5: it is so).", 2, "a.go:3: docs/contract.md has no section 5"},
		"value":                 {"{Section: `4.4`}", 1, "a.go:1: docs/contract.md has no section 4.4"},
		"value of JSON":         {`{"section": "8, 4.4"}`, 2, "a.go:1: docs/contract.md has no section 4.4"},
		"column":                {"// docs/contract.md\n//\tName  Section  Reason 9.9\n//\tA b   4.3      9.9\n//\tB     4, 7     1\n//\n// 9.9", 3, "a.go:4: docs/contract.md has no section 7"},
		"column of Markdown":    {"docs/contract.md\n| Name | Section |\n|---|---|\n| 9.9 | 7 |\n\n9.9", 1, "a.go:4: docs/contract.md has no section 7"},
		"another name":          {"// A rule (service.md, 4.3).", 0, "a.go:1: service.md is not in the repository: the contract is docs/contract.md"},
		"another document":      {"// See DESIGN.md.", 0, "a.go:1: DESIGN.md is not in the repository: the contract is docs/contract.md"},
		"another form":          {`"regla (contrato, 4.3)"`, 0, `a.go:1: cite "docs/contract.md, 4.3"`},
		"another form, section": {`"regla (contract.md, sección 8)"`, 0, `a.go:1: cite "docs/contract.md, 8"`},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if test.fault != "" {
				want = []string{test.fault}
			}
			faults, cited := wrongCitations(texts{
				contract: "# The contract\n\n## 4. Endpoints\n\n### 4.3 Receipt\n\n## 8. Limits\n\n```sh\n# 9\n```\n",
				"a.go":   test.text + "\n",
			})
			assert.Equal(t, want, faults)
			assert.Equal(t, test.cited, cited)
		})
	}
}

// between stands between the numbers of a citation.
const between = `(?:, and |, or |, |; | and | or | to | y | o | a |-|–)`

var (
	absent = regexp.MustCompile(`\b(?:service|DESIGN)\.md\b`)
	// citation also finds one that goes on in the next line of a comment, and one of another form.
	citation = regexp.MustCompile(`(\S*\b(?:contract\.md|contrato))[,:]?\s[\s/#>]*(?:sección |section |§ ?)?(\d+(?:\.\d+)*(?:` + between + `\d+(?:\.\d+)*)*)`)
	// reversed finds one that names the section first.
	reversed = regexp.MustCompile(`(?i)\bsection (\d+(?:\.\d+)*(?:` + between + `\d+(?:\.\d+)*)*) of (?:the contract|docs/contract)`)
	// bare finds a citation by number alone, in a file that names the contract.
	bare = regexp.MustCompile(`[\s"]\((?:see )?([1-9](?:\.\d+)?(?:` + between + `[1-9](?:\.\d+)?)*)[):;,]`)
	// value finds the field of a record that says which section something is of.
	value   = regexp.MustCompile("(?i)\\bsection\"?\\s*[:=]\\s*[\"`]([^\"`]*)")
	section = regexp.MustCompile(`\d+(?:\.\d+)*`)
)

// wrongCitations returns what no reader can look up, by file and line, and how many sections are cited.
func wrongCitations(files texts) (faults []string, cited int) {
	known := map[string]bool{}
	for _, title := range headings(files[contract]) {
		number, _, _ := strings.Cut(title, " ")
		known[strings.TrimSuffix(number, ".")] = true
	}
	for file, text := range files {
		fault := func(offset int, format string, args ...any) {
			line := 1 + strings.Count(text[:offset], "\n")
			faults = append(faults, fmt.Sprintf("%s:%d: ", file, line)+fmt.Sprintf(format, args...))
		}
		check := func(offset int, numbers string) {
			for _, number := range section.FindAllString(numbers, -1) {
				if cited++; !known[number] {
					fault(offset, "%s has no section %s", contract, number)
				}
			}
		}
		for _, at := range absent.FindAllStringIndex(text, -1) {
			fault(at[0], "%s is not in the repository: the contract is %s", text[at[0]:at[1]], contract)
		}
		for _, at := range citation.FindAllStringSubmatchIndex(text, -1) {
			if name, numbers := text[at[2]:at[3]], text[at[4]:at[5]]; strings.HasSuffix(name, contract) {
				check(at[4], numbers)
			} else {
				fault(at[4], `cite "%s, %s"`, contract, numbers)
			}
		}
		for _, at := range reversed.FindAllStringSubmatchIndex(text, -1) {
			check(at[2], text[at[2]:at[3]])
		}
		for _, at := range value.FindAllStringSubmatchIndex(text, -1) {
			check(at[2], text[at[2]:at[3]])
		}
		if !strings.Contains(text, contract) {
			continue
		}
		for _, at := range bare.FindAllStringSubmatchIndex(text, -1) {
			check(at[2], text[at[2]:at[3]])
		}
		for _, c := range sectionColumns(text) {
			check(c.offset, c.text)
		}
	}
	slices.Sort(faults)
	return faults, cited
}

type cell struct {
	offset int // of its line
	text   string
}

var betweenCells = regexp.MustCompile(`\s*\|\s*|\s{2,}|\t`)

// sectionColumns returns the cells under "Section" in tables, be they of Markdown or of aligned text.
func sectionColumns(text string) []cell {
	var cells []cell
	column, offset := 0, 0
	for line := range strings.Lines(text) {
		row := betweenCells.Split(strings.TrimSpace(line), -1)
		if at := slices.Index(row, "Section"); at > 0 {
			column = at
		} else if column >= len(row) {
			column = 0 // the table is over
		} else if column > 0 {
			cells = append(cells, cell{offset, row[column]})
		}
		offset += len(line)
	}
	return cells
}
