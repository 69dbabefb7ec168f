package fiscope

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// cacheKey is a question. Being a value, it is looked up without an allocation.
type cacheKey struct {
	op    Operation
	text  string
	n     int
	fecha Fecha
}

func (k cacheKey) parts() []string {
	return []string{string(k.op), k.text, strconv.Itoa(k.n), k.fecha.String()}
}

// entry is an answer that is kept. It is never changed once it is in the cache. What every hit reads comes first.
type entry struct {
	value    any           // the operation's result; nil where missing is not
	answered *atomic.Int64 // counts the calls that it, or what has its place in the cache, answered; nil until it is there
	missing  *Error        // NOT_FOUND
	stored   time.Time     // in the calendar, as limit
	lifetime time.Duration // for which it serves, from then on; forGood has no end
	held     time.Time     // until when, in real time, it serves although it expired, since the service cannot be asked; zero where it can
	limit    time.Time     // ... but not beyond this
	instead  *Error        // ... and why it cannot be, without the answer's body; nil where it can
	asked    time.Time     // when its request left, in real time: of two answers, the one that was asked for later is the newer
	status   int
	warnings []string
}

// A clock, also that of another process, may be ahead by this much.
const ahead = time.Minute

// serves reports whether the answer serves now. One that was kept later than that, since the clock was set back,
// is of no age that is known.
func (e *entry) serves(c clock) bool {
	switch {
	case e == nil:
		return false
	case e.lifetime == forGood:
		return true
	}
	if age := c.since(e.stored); -ahead <= age && age < e.lifetime {
		return true
	}
	return !e.held.IsZero() && c.now().Before(e.limit) && time.Now().Before(e.held)
}

func (e *entry) response(c clock) Response {
	return Response{
		StatusCode: e.status,
		Warnings:   slices.Clone(e.warnings),
		FromCache:  true,
		Age:        max(0, c.since(e.stored)),
		Stale:      !e.held.IsZero(),
	}
}
