package fiscope

import (
	"sync"
	"time"
)

// calendar tells the client's time, see [WithClock]; nil is real time. Waits, durations and a Store's times are always
// real.
type calendar func() time.Time

// now returns the calendar time.
func (c calendar) now() time.Time {
	if c == nil {
		return time.Now()
	}
	return c()
}

// fromReal converts real time to calendar time. The zero time stays zero.
func (c calendar) fromReal(at time.Time) time.Time {
	if c == nil || at.IsZero() {
		return at
	}
	return c().Add(time.Until(at))
}

// toReal converts calendar time to real time. The zero time stays zero.
func (c calendar) toReal(at time.Time) time.Time {
	if c == nil || at.IsZero() {
		return at
	}
	return time.Now().Add(at.Sub(c())).In(at.Location())
}

// since returns the time elapsed since a calendar time.
func (c calendar) since(at time.Time) time.Duration {
	if c == nil {
		return time.Since(at) // reads one clock; time.Now reads two
	}
	return c().Sub(at)
}

// serviceClock is the calendar by which rates are published: the last Date that the service sent, carried on by elapsed
// time. With WithClock it is that clock alone; before a Date came, this machine's.
type serviceClock struct {
	own      calendar
	mu       sync.Mutex
	date, at time.Time // the Date, and when it came; zero before one came
}

// record takes the Date of an answer that came at that time.
func (s *serviceClock) record(date, at time.Time) {
	if s.own != nil || date.IsZero() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.date, s.at = date, at
}

// ahead returns how far the service's clock is ahead of the client's.
func (s *serviceClock) ahead() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.date.IsZero() {
		return 0
	}
	now := time.Now()
	return s.date.Add(max(now.Sub(s.at), now.Round(0).Sub(s.at))).Sub(now) // the first stands still while the machine sleeps
}

func (s *serviceClock) now() time.Time { return s.own.now().Add(s.ahead()) }
