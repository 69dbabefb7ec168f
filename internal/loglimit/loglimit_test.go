package loglimit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fiscope/fiscope/internal/loglimit"
)

func TestAnOutageIsALineAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o loglimit.Outage
		calls, lasted, ended := o.End()
		assert.False(t, ended || calls > 0 || lasted > 0, "it has not begun")
		var lines []int
		for range 300 { // seconds
			o.Count()
			if calls, logged := o.Log(true); logged {
				lines = append(lines, calls)
			}
			time.Sleep(time.Second)
		}
		assert.Equal(t, []int{1, 60, 60, 60, 60}, lines)
		calls, lasted, ended = o.End()
		assert.True(t, ended)
		assert.Equal(t, 59, calls)
		assert.Equal(t, 300*time.Second, lasted)
		_, _, ended = o.End()
		assert.False(t, ended, "once")
	})
}

func TestABeginningAndAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o loglimit.Outage
		begins := func() bool {
			_, logged := o.Log(false)
			return logged
		}
		assert.True(t, begins())
		assert.False(t, begins(), "once")
		time.Sleep(30 * time.Second)
		_, lasted, ended := o.End()
		assert.True(t, ended)
		assert.Equal(t, 30*time.Second, lasted)
		time.Sleep(30*time.Second - 1)
		assert.False(t, begins(), "within a minute of the last line")
		_, _, ended = o.End()
		assert.False(t, ended, "the beginning was not logged")
		time.Sleep(time.Nanosecond)
		assert.True(t, begins())
	})
}
