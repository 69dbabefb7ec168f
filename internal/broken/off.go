// Package broken brings what broke a function off, a panic or the end of its goroutine, to the goroutine of
// the caller for whom it ran in another.
package broken

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Off is how a function was broken off.
type Off struct {
	Panic *Panic // nil where runtime.Goexit ended its goroutine
}

// Panic is a panic as it is raised again in another goroutine.
type Panic struct {
	Value any    // what was panicked with
	Stack []byte // of the goroutine that panicked
}

// Error returns the value and the stack, for the runtime and whoever recovers from it to print.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value where it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Run runs f, and then ended with how it was broken off, or with nil where it returned. After a panic it
// returns; with runtime.Goexit, once ended has returned, the goroutine ends.
func Run(f func(), ended func(*Off)) {
	returned := false
	defer func() {
		var off *Off
		if !returned {
			off = &Off{caught(recover())}
		}
		ended(off)
	}()
	f()
	returned = true
}

// caught returns the panic that was recovered from, and nil for none. It is called where the stack still shows
// who panicked; one that was raised again has that already.
func caught(value any) *Panic {
	switch value := value.(type) {
	case nil:
		return nil
	case *Panic:
		return value
	}
	return &Panic{Value: value, Stack: debug.Stack()}
}

// Raise does to this goroutine what broke the function off: it panics with the *Panic, or ends it. It does
// nothing where o is nil.
func (o *Off) Raise() {
	switch {
	case o == nil:
	case o.Panic != nil:
		panic(o.Panic)
	default:
		runtime.Goexit()
	}
}
