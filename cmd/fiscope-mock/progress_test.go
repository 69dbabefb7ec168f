package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/padron"
)

// eighty are the columns of a usual terminal.
const eighty = 80

func TestProgressSaysHowFarItIs(t *testing.T) {
	began := time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		step  step
		since time.Duration // the step began after so long
		now   time.Duration
		want  string
	}{
		"the beginning":           {step{what: "reading", to: .4}, 0, 0, "  0%  reading"},
		"not a second yet":        {step{what: "reading", to: .4, done: .1, rows: 700, bytes: 5e6}, 0, 500 * time.Millisecond, "  4%  reading  700 rows  10 MB/s"},
		"half of a part":          {step{what: "reading", to: .4, done: .5, rows: 9_000_000, bytes: 800e6}, 0, 10 * time.Second, " 20%  reading  9000000 rows  80 MB/s  40s left"},
		"the last of all":         {step{what: "writing", to: 1, done: 1, rows: 300, bytes: 5e6}, 0, 2 * time.Second, "100%  writing  300 rows  2 MB/s  0s left"},
		"minutes":                 {step{what: "writing", to: 1, done: .01, rows: 300, bytes: 5e6}, 0, 2 * time.Second, "  1%  writing  300 rows  2 MB/s  3m18s left"},
		"a part that begins":      {step{what: "sorting", from: .4, to: .8, done: -1, rows: 300}, 20 * time.Second, 20 * time.Second, " 40%  sorting  300 rows  30s left"},
		"as fast as before":       {step{what: "sorting", from: .4, to: .8, done: -1, rows: 300}, 20 * time.Second, 30 * time.Second, " 60%  sorting  300 rows  20s left"},
		"slower than before":      {step{what: "sorting", from: .4, to: .8, done: -1, rows: 300}, 20 * time.Second, 60 * time.Second, " 80%  sorting  300 rows  15s left"},
		"after a part of no time": {step{what: "sorting", from: .4, to: .8, done: -1}, 0, 0, " 40%  sorting"},
	} {
		t.Run(name, func(t *testing.T) {
			p := progress{step: c.step, began: began, since: began.Add(c.since)}
			assert.Equal(t, c.want, p.text(began.Add(c.now)))
		})
	}
}

func TestBarFitsTheTerminal(t *testing.T) {
	const text = " 20%  reading  9000000 rows  80 MB/s  40s left"
	for name, c := range map[string]struct {
		done  float64
		text  string
		width int
		want  string
	}{
		"usual":      {.5, text, eighty, "[===============               ] " + text},
		"wide":       {.5, text, 200, "[===============               ] " + text},
		"narrow":     {.5, text, 58, "[====    ] " + text},
		"no room":    {.5, text, 57, text},
		"cut":        {.5, text, 10, " 20%  rea"},
		"one column": {.5, text, 1, ""},
		"nothing":    {0, "", 20, "[                ] "},
		"all":        {1, "100%", 20, "[============] 100%"},
	} {
		t.Run(name, func(t *testing.T) {
			got := bar(c.done, c.text, c.width)
			assert.Equal(t, c.want, got)
			assert.Less(t, len(got), c.width)
		})
	}
}

// The longest line that there can be has room for a bar on a terminal of 80 columns.
func TestEachPhaseOfAnImportHasABar(t *testing.T) {
	last := 1.0
	for _, phase := range []string{padron.PhaseHash, padron.PhaseEncoding, padron.PhaseRead, padron.PhaseOrder, padron.PhaseWords, padron.PhaseInner} {
		s := importStep(padron.Progress{Phase: phase, Rows: 18_300_000, Bytes: 1_560_000_000, Size: 1_560_000_000})
		if last == 1 {
			last = 0 // a bar of its own
		}
		assert.InDelta(t, last, s.from, 0, phase)
		last = s.to
		now := time.Now()
		p := progress{step: s, began: now.Add(-time.Hour), since: now.Add(-time.Minute)}
		line := bar(p.done(now), p.text(now), eighty)
		assert.Equal(t, "[", line[:1], line)
		assert.Less(t, len(line), eighty)
	}
	assert.InDelta(t, 1, last, 0)
}

// What was before a bar of its own tells nothing of the time that is left.
func TestAStepFromTheBeginningCountsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p progress
		p.tell(step{what: "hashing", to: 1, done: 1, bytes: 9e6})
		time.Sleep(time.Minute)
		p.tell(step{what: "reading", to: .4, done: .5, bytes: 9e6})
		time.Sleep(10 * time.Second)
		assert.Equal(t, " 20%  reading  1 MB/s  40s left", p.text(time.Now()))
		p.tell(step{what: "sorting", from: .4, to: 1, done: -1})
		assert.Equal(t, " 40%  sorting  15s left", p.text(time.Now()))
	})
}

// In a log it is a line now and then, and nothing for what is soon over.
func TestProgressInALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log buffer
		p := showProgress(&log)
		synctest.Wait()
		time.Sleep(inLog + time.Second)
		assert.Empty(t, log.String(), "nothing was told")
		for i := range 100 {
			p.tell(step{what: "reading", to: 1, done: float64(i) / 100, rows: int64(i), bytes: 1e6})
			time.Sleep(100 * time.Millisecond)
		}
		p.stop()
		assert.Equal(t, 2, strings.Count(log.String(), "\n"), log.String())
		assert.Regexp(t, `^fiscope-mock:  \d\d%  reading  \d+ rows  0 MB/s  \d+s left\nfiscope-mock:  \d\d%  reading  .* left\n$`, log.String())
	})
	synctest.Test(t, func(t *testing.T) {
		var log buffer
		p := showProgress(&log)
		p.tell(step{what: "reading", to: 1, done: 1})
		time.Sleep(inLog - time.Second)
		p.stop()
		assert.Empty(t, log.String())
	})
}
