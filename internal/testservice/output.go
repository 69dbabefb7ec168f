package testservice

import (
	"bytes"
	"strings"
	"sync"
)

// Output is a buffer that a running program writes to.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the text.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns the text so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Until is an output that calls Then once when it holds Says.
type Until struct {
	Output
	Says string
	Then func()
}

// Write adds to the text.
func (u *Until) Write(p []byte) (int, error) {
	n, err := u.Output.Write(p)
	if u.Then != nil && strings.Contains(u.String(), u.Says) {
		u.Then()
		u.Then = nil
	}
	return n, err
}
