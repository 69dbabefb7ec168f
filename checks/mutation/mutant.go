package main

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// mutant is a program that differs from the original in one place.
type mutant struct {
	pkg      string // its import path
	file     string // as it is found on disk
	shown    string // the file from the folder of the run on
	function string // in which the place is, as in "(*gate).open"
	operator string // what was done to it
	line     int

	start, end int    // of the place, as bytes of the file
	from, to   string // what stands there, and what stands there now
	again      int    // how many alike stand before it in the function
}

// id is the mutant's name. It has no line, so that code which comes or goes elsewhere changes neither the sample nor
// the names of the mutants that are judged.
func (m *mutant) id() string {
	id := fmt.Sprintf("%s %s %s: %s => %s", m.shown, m.function, m.operator, oneLine(m.from), oneLine(m.to))
	if m.again > 0 {
		id += fmt.Sprintf(" (%d)", m.again+1)
	}
	return id
}

// oneLine is a text without line breaks, cut where it is long.
func oneLine(text string) string {
	const most = 90
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	if text == "" {
		return "nothing"
	}
	return text
}

// in reports whether the mutant is in a slice of the sample: one of so many.
func (m *mutant) in(slice, of int) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(m.id()))
	return int(h.Sum32()%uint32(of)) == slice
}

// apply returns the file with the mutant's change.
func (m *mutant) apply(original []byte) []byte {
	return []byte(string(original[:m.start]) + m.to + string(original[m.end:]))
}

// diff shows the lines that differ.
func (m *mutant) diff(original []byte) string {
	text := string(original)
	begin := strings.LastIndexByte(text[:m.start], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[m.end:], '\n'); n >= 0 {
		end = m.end + n
	}
	var b strings.Builder
	for line := range strings.Lines(text[begin:end]) {
		b.WriteString("\t- " + strings.TrimRight(line, "\n") + "\n")
	}
	for line := range strings.Lines(text[begin:m.start] + m.to + text[m.end:end]) {
		b.WriteString("\t+ " + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}
