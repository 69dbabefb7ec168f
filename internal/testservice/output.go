package testservice

import (
	"bytes"
	"strings"
	"sync"
)

// Output is a buffer that a running program writes to. Once it holds Says, it calls Then, if there is one.
type Output struct {
	Says string
	Then func()

	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the text.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.text.Write(p)
	if o.Then != nil && strings.Contains(o.text.String(), o.Says) {
		o.Then()
		o.Then = nil
	}
	return n, err
}

// String returns the text so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
