package redisstore

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// An outage is over when what failed succeeds, or has not been called for a minute while the rest goes on.
func TestWhenAnOutageIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		o := outage{log: slog.New(slog.NewTextHandler(&text, nil)), failing: map[string]failure{}}
		lines := func(want int) {
			t.Helper()
			assert.Equal(t, want, bytes.Count(text.Bytes(), []byte("\n")), text.String())
		}
		o.report("Load", nil)
		lines(0)
		for range 3 {
			o.report("Save", full)
			o.report("Load", errors.New("connection refused"))
			o.report("Claim", errors.New("connection refused"))
		}
		lines(1)
		o.report("Load", nil)
		lines(1)
		time.Sleep(time.Minute)
		o.report("Load", nil)
		lines(1)
		time.Sleep(time.Nanosecond)
		o.report("Load", nil)
		lines(2)
		assert.Contains(t, text.String(), "after=1m0.000000001s")
		o.report("Claim", errors.New("connection refused"))
		lines(3)
		o.report("Load", nil)
		lines(4)
		o.report("Save", full)
		o.report("Save", nil)
		lines(6)
		o.report("Claim", reply("WRONGPASS invalid username-password pair or user is disabled."))
		o.report("Load", nil)
		lines(8)
	})
}

// reply is what Redis says instead of an answer.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

const full = reply("OOM command not allowed when used memory > 'maxmemory'.")
