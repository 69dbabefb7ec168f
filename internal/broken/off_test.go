package broken_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fiscope/fiscope/internal/broken"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// thatPanics stands in the stack of a panic.
func thatPanics(value any) func() { return func() { panic(value) } }

// apart runs f in a goroutine of its own, and returns how it was broken off.
func apart(f func()) *broken.Off {
	ended := make(chan *broken.Off)
	go broken.Run(f, func(off *broken.Off) { ended <- off })
	return <-ended
}

// raised returns what breaks off a goroutine in which off is raised.
func raised(off *broken.Off) (recovered any, returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recovered = recover() }()
		off.Raise()
		returned = true
	}()
	<-done
	return recovered, returned
}

func TestAPanicIsRaisedInAnotherGoroutine(t *testing.T) {
	boom := errors.New("boom")
	for name, value := range map[string]any{"a text": "boom", "an error": boom, "nil": nil} {
		t.Run(name, func(t *testing.T) {
			recovered, returned := raised(apart(thatPanics(value)))
			assert.False(t, returned)
			p, ok := recovered.(*broken.Panic)
			require.True(t, ok, "%T", recovered)
			if value != nil {
				assert.Equal(t, value, p.Value)
			}
			assert.Contains(t, p.Error(), fmt.Sprint(p.Value))
			assert.Contains(t, p.Error(), "thatPanics", "the stack is of who panicked")
			assert.Equal(t, value == any(boom), errors.Is(p, boom))

			again, _ := raised(apart(thatPanics(p)))
			assert.Same(t, p, again, "over two goroutines it is the same")
		})
	}
}

func TestTheEndOfAGoroutineEndsAnother(t *testing.T) {
	off := apart(runtime.Goexit)
	require.NotNil(t, off)
	assert.Nil(t, off.Panic)
	recovered, returned := raised(off)
	assert.Nil(t, recovered)
	assert.False(t, returned)
}

func TestWhatReturnsBreaksNothingOff(t *testing.T) {
	off := apart(func() {})
	assert.Nil(t, off)
	recovered, returned := raised(off)
	assert.Nil(t, recovered)
	assert.True(t, returned)
}
