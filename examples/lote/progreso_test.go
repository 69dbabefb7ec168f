package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestProgressIsABarOnATerminalAndLinesElsewhere(t *testing.T) {
	for name, caso := range map[string]struct {
		terminal bool
		total    int
		tiene    []string
		lineas   int
	}{
		"a terminal":   {true, 5000, []string{"\rConsultando", "(1/5000)", " \r"}, 0},
		"a log":        {false, 5000, []string{"500 de 5 000 (10 %)\n", "5 000 de 5 000 (100 %)\n"}, 11},
		"a few in one": {false, 7, []string{"7 de 7 (100 %)\n"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := progresoEn(&out, caso.total, caso.terminal)
			for range caso.total {
				p.sumar()
			}
			p.terminar()
			for _, s := range caso.tiene {
				assert.Contains(t, out.String(), s)
			}
			assert.Equal(t, caso.lineas, strings.Count(out.String(), "\n"))
			for linea := range strings.SplitSeq(out.String(), "\r") {
				assert.LessOrEqual(t, len([]rune(strings.TrimRight(linea, "\n"))), 79+500*strings.Count(linea, "\n"))
			}
		})
	}
}
