package coalesce

import (
	"fmt"

	"github.com/fiscope/fiscope/internal/broken"
)

// Failed is why a query brought nothing to those who joined it.
type Failed struct{ off *broken.Off }

func (f *Failed) Error() string {
	if f.off.Panic == nil {
		return "the query of another call, which this one shared, was broken off by runtime.Goexit"
	}
	return fmt.Sprintf("the query of another call, which this one shared, panicked: %v", f.off.Panic.Value)
}

// Unwrap returns what was panicked with, where it is an error.
func (f *Failed) Unwrap() error {
	if f.off.Panic == nil {
		return nil
	}
	return f.off.Panic.Unwrap()
}
