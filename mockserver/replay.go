package mockserver

import (
	"hash/maphash"
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

// question is what a call asks, and with which key, hashed.
func (c *call) question() uint64 {
	var h maphash.Hash
	h.SetSeed(headerSeed)
	for _, part := range [...]string{c.key, c.r.Method, c.r.URL.Path, c.r.URL.RawQuery} {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	if c.op == OpValidar { // another one's body is not read, unless a fault does
		_, _ = h.Write(c.body)
	}
	return h.Sum64()
}

// wasCut notes that the call's answer does not come whole.
func (c *call) wasCut() {
	if c.broken || c.journal.limit == 0 {
		return
	}
	c.broken = true
	c.journal.broken.add(brokenCall{c.question(), c.fingerprint(), c.n, time.Now()})
}

// findRepeated notes which call this one repeats, if it does.
func (c *call) findRepeated() {
	unread := c.op == OpValidar && !c.wasRead // what it asks is not known yet
	if c.replay == 0 && !c.broken && !unread && c.journal.broken.any.Load() {
		c.replay = c.journal.broken.repeated(c.question(), time.Now())
	}
}
