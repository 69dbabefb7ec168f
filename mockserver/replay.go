package mockserver

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// brokenCalls are the calls of late whose answer never came whole, and that nobody has repeated yet.
type brokenCalls struct {
	any  atomic.Bool // all that a call looks at while there are none
	mu   sync.Mutex
	last []brokenCall // oldest first
}

type brokenCall struct {
	question uint64 // its hash
	key      string // its fingerprint
	n        int64
	at       time.Time // real time, or that of a testing/synctest bubble
}

const (
	brokenMost = 64          // that are remembered
	brokenFor  = time.Minute // after which whoever asks the same does so on their own
)

// add remembers a call.
func (b *brokenCalls) add(call brokenCall) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = slices.Delete(b.last, 0, max(0, len(b.last)-brokenMost+1))
	b.last = append(b.last, call)
	b.any.Store(true)
}

// repeated returns the number of the last call with a question, which is repeated now, or 0.
func (b *brokenCalls) repeated(question uint64, now time.Time) (n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, old := range b.last {
		if old.question == question && now.Sub(old.at) <= brokenFor {
			n = old.n
		}
	}
	b.remove(func(old brokenCall) bool { return old.n == n || now.Sub(old.at) > brokenFor })
	return n
}

// forget drops the calls of a key, or all for "".
func (b *brokenCalls) forget(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(func(old brokenCall) bool { return key == "" || old.key == key })
}

func (b *brokenCalls) remove(which func(brokenCall) bool) {
	b.last = slices.DeleteFunc(b.last, which)
	b.any.Store(len(b.last) > 0)
}
