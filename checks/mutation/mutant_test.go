package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func at(original, from, to string) *mutant {
	start := strings.Index(original, from)
	return &mutant{shown: "a.go", function: "f", operator: remove, start: start, end: start + len(from), from: from, to: to}
}

func TestApplyAndDiff(t *testing.T) {
	const original = "package a\n\nfunc f() {\n\tg(\n\t\t1)\n\th()\n}\n"
	m := at(original, "g(\n\t\t1)", "i()")
	assert.Equal(t, "package a\n\nfunc f() {\n\ti()\n\th()\n}\n", string(m.apply([]byte(original))))
	assert.Equal(t, "\t- \tg(\n\t- \t\t1)\n\t+ \ti()\n", m.diff([]byte(original)))
	assert.Equal(t, "a.go f remove: g( 1) => i()", m.id())
}

func TestIDs(t *testing.T) {
	m := at("x", "x", "")
	assert.Equal(t, "a.go f remove: x => nothing", m.id())
	m.again = 1
	assert.Equal(t, "a.go f remove: x => nothing (2)", m.id())
	m.from = strings.Repeat("ñ", 91)
	assert.Equal(t, "a.go f remove: "+strings.Repeat("ñ", 90)+"… => nothing (2)", m.id())
}

// The slices of a sample are about of one size, and every mutant is in one.
func TestSlices(t *testing.T) {
	sizes := make([]int, 4)
	for i := range 4000 {
		in := 0
		m := &mutant{shown: fmt.Sprintf("%d.go", i)}
		for slice := range sizes {
			if m.in(slice, len(sizes)) {
				sizes[slice]++
				in++
			}
		}
		assert.Equal(t, 1, in, m.id())
	}
	for _, size := range sizes {
		assert.InDelta(t, 1000, size, 150)
	}
}

// A sample stays the same where code comes elsewhere.
func TestASampleKnowsNoLines(t *testing.T) {
	m := at("x", "x", "")
	before := m.id()
	m.line, m.start, m.end = 7, 70, 71
	assert.Equal(t, before, m.id())
}
