package fiscope

import "time"

// clock is the client's calendar, see [WithClock]; nil is real time. Waits, durations and the times of a Store are always
// real.
type clock func() time.Time

// now returns the time of the calendar.
func (c clock) now() time.Time {
	if c == nil {
		return time.Now()
	}
	return c()
}

// fromReal returns the calendar's time of a moment in real time. The zero time stays what it is.
func (c clock) fromReal(at time.Time) time.Time {
	if c == nil || at.IsZero() {
		return at
	}
	return c().Add(time.Until(at))
}

// toReal returns the real time of a moment of the calendar. The zero time stays what it is.
func (c clock) toReal(at time.Time) time.Time {
	if c == nil || at.IsZero() {
		return at
	}
	return time.Now().Add(at.Sub(c())).In(at.Location())
}

// until returns how far ahead a moment of the calendar is.
func (c clock) until(at time.Time) time.Duration { return at.Sub(c.now()) }

// since returns how long ago a moment of the calendar was.
func (c clock) since(at time.Time) time.Duration {
	if c == nil {
		return time.Since(at) // which reads one clock, where Now reads two
	}
	return c().Sub(at)
}
