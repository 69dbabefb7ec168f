package fiscope

import "time"

// clock is the client's calendar, see [WithClock]; nil is real time. Waits, durations and a Store's times are always
// real.
type clock func() time.Time

// now returns the calendar time.
func (c clock) now() time.Time {
	if c == nil {
		return time.Now()
	}
	return c()
}

// fromReal converts real time to calendar time. The zero time stays zero.
func (c clock) fromReal(at time.Time) time.Time {
	if c == nil || at.IsZero() {
		return at
	}
	return c().Add(time.Until(at))
}

// toReal converts calendar time to real time. The zero time stays zero.
func (c clock) toReal(at time.Time) time.Time {
	if c == nil || at.IsZero() {
		return at
	}
	return time.Now().Add(at.Sub(c())).In(at.Location())
}

// until returns the time left until a calendar time.
func (c clock) until(at time.Time) time.Duration { return at.Sub(c.now()) }

// since returns the time elapsed since a calendar time.
func (c clock) since(at time.Time) time.Duration {
	if c == nil {
		return time.Since(at) // reads one clock; time.Now reads two
	}
	return c().Sub(at)
}
