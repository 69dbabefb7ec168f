package terminal

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// On a terminal something stands there at once, and another word at once; the rest comes as fast as eyes can follow.
func TestTheBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		p := &Progress{name: "programa", out: &screen, terminal: true, every: time.Minute}
		for _, c := range []struct {
			step Step
			want string
		}{
			{Step{What: "leyendo"}, "\r\x1b[K[                    ]   0%  leyendo"},
			{Step{What: "leyendo", Done: 0.2}, ""},
			{Step{What: "esperando", Done: 0.5, Rows: 1}, "\r\x1b[K[==========          ]  50%  esperando  1 fila"},
			{Step{What: "ordenando", Done: -1, Rows: 20000}, "\r\x1b[K[                    ] ordenando  20 000 filas"},
		} {
			p.Report(c.step)
			assert.Equal(t, c.want, screen.String())
			screen.Reset()
		}
		p.Say("Algo.")
		assert.Equal(t, "\r\x1b[KAlgo.\n", screen.String())
	})
}
