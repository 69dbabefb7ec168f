package terminal_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/cmd/internal/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// In a log it is a line now and then, and nothing for what is soon over.
func TestProgressInALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := terminal.ShowProgress("programa", &log)
		for i := range 110 {
			time.Sleep(100 * time.Millisecond)
			p.Report(terminal.Step{What: "leyendo", Done: float64(i) / 110, Rows: int64(30 * i)})
		}
		p.Stop()
		assert.Equal(t, 2, strings.Count(log.String(), "\n"), log.String())
		assert.Regexp(t, `^(programa:  \d\d%  leyendo  \d [49]70 filas\n){2}$`, log.String())
	})
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := terminal.ShowProgress("programa", &log)
		time.Sleep(4 * time.Second)
		p.Report(terminal.Step{What: "leyendo", Done: 1})
		p.Stop()
		assert.Empty(t, log.String())
	})
}
