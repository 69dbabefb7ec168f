package coalesce

import (
	"fmt"
	"runtime/debug"
)

// Panic is the panic of a query, as it is raised again in another goroutine.
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

// Caught returns the panic that was recovered from, and nil for none. It is called where the stack still
// shows who panicked.
func Caught(value any) *Panic {
	if value == nil {
		return nil
	}
	return &Panic{Value: value, Stack: debug.Stack()}
}

// Failed is why a query brought nothing to those who joined it.
type Failed struct{ panicked *Panic } // nil where its goroutine was ended

func (f *Failed) Error() string {
	if f.panicked == nil {
		return "the query of another call, which this one shared, was broken off by runtime.Goexit"
	}
	return fmt.Sprintf("the query of another call, which this one shared, panicked: %v", f.panicked.Value)
}

// Unwrap returns what was panicked with, where it is an error.
func (f *Failed) Unwrap() error {
	if f.panicked == nil {
		return nil
	}
	return f.panicked.Unwrap()
}
