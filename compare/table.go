package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
)

// row is a line of the table: a work, and what each contender made of it.
type row struct {
	work  string
	cells []string
}

type table []row

// none stands where a contender has nothing of the kind.
const none = "—"

// text writes the table for a terminal of 80 columns, under what is compared: each work above its cells.
func (t table) text(out io.Writer) error {
	var cells strings.Builder
	aligned := tabwriter.NewWriter(&cells, 0, 0, 2, ' ', 0)
	lines := t.lines()
	for _, line := range lines {
		_, _ = fmt.Fprintln(aligned, strings.Join(line[1:], "\t")) // a Builder takes everything
	}
	_ = aligned.Flush()
	written := append(described(), "")
	for i, line := range strings.Split(strings.TrimSuffix(cells.String(), "\n"), "\n") {
		written = append(written, lines[i][0], "  "+line)
	}
	_, err := io.WriteString(out, strings.Join(written, "\n")+"\n")
	return err
}

// markdown writes the table for docs/comparison.md.
func (t table) markdown(out io.Writer) error {
	var lines []string
	for _, line := range described() {
		lines = append(lines, "- "+line)
	}
	lines = append(lines, "")
	for i, cells := range t.lines() {
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
		if i == 0 {
			lines = append(lines, strings.Repeat("|---", len(cells))+"|")
		}
	}
	_, err := io.WriteString(out, strings.Join(lines, "\n")+"\n")
	return err
}

// lines are the cells of each line, the head first.
func (t table) lines() [][]string {
	head := []string{"work"}
	for _, c := range contenders {
		head = append(head, c.name)
	}
	lines := [][]string{head}
	for _, r := range t {
		lines = append(lines, append([]string{r.work}, r.cells...))
	}
	return lines
}

// inTurn has each contender do a work that gives a cell to each of the rows.
func inTurn(works []string, do func(contender) ([]string, error)) ([]row, error) {
	rows := newRows(works)
	for column, c := range contenders {
		if err := rows.fill(column, c, do); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// atOnce is inTurn of a work that mostly waits: all do it at the same time.
func atOnce(works []string, do func(contender) ([]string, error)) ([]row, error) {
	rows := newRows(works)
	errs := make([]error, len(contenders))
	var all sync.WaitGroup
	for column, c := range contenders {
		all.Go(func() { errs[column] = rows.fill(column, c, do) })
	}
	all.Wait()
	return rows, errors.Join(errs...)
}

func newRows(works []string) table {
	var rows table
	for _, work := range works {
		rows = append(rows, row{work, make([]string, len(contenders))})
	}
	return rows
}

func (t table) fill(column int, c contender, do func(contender) ([]string, error)) error {
	cells, err := do(c)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	for i, cell := range cells {
		t[i].cells[column] = cell
	}
	return nil
}

// grouped writes a number with a space before each three digits.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + " " + digits[at:]
	}
	return digits
}

// times writes a ratio.
func times(ratio float64) string { return fmt.Sprintf("%.2f ×", ratio) }
