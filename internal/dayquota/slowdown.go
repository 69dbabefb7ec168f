package dayquota

import (
	"sync"
	"time"
)

const (
	firstPause   = time.Second
	longestPause = time.Minute

	closingRow  = 3 // refusals in a row ...
	closingTime = 5 * time.Minute
)

// Slowdown counts the consecutive 429s of one client that say nothing: its calls came too fast. Any other answer ends the
// row. A row of three or more that lasts for five minutes refuses further attempts, except for a probe every 15 minutes.
// Its zero value is ready.
type Slowdown struct {
	mu    sync.Mutex
	count int           // 429s of the row
	first time.Time     // when the first one came
	last  time.Time     // when the last one came
	probe time.Time     // when the last probe was permitted; zero if none was, or it was not sent
	pause time.Duration // before the next attempt
	steps int           // how often the pause has doubled, in all rows
}

// Begin begins an attempt; its number goes to End. If the attempt is refused, next is when to ask again, and refused is
// when the last 429 came; otherwise next is zero.
func (s *Slowdown) Begin(now time.Time) (number int, refused, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count < closingRow || s.last.Sub(s.first) < closingTime {
		return s.steps, refused, next
	}
	sent := s.last
	if s.probe.After(sent) {
		sent = s.probe
	}
	if next = sent.Add(refusedPause); now.Before(next) && !now.Before(sent) { // no wait if the clock was set back
		return s.steps, s.last, next
	}
	s.probe = now
	return s.steps, refused, time.Time{}
}

// Return records that a permitted attempt was not sent.
func (s *Slowdown) Return() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.probe = time.Time{}
}

// End records an answer, and returns the pause that a 429 which says nothing asks for. Of 429s to simultaneous attempts
// only one doubles the pause.
func (s *Slowdown) End(now time.Time, number int, saysNothing bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !saysNothing {
		s.count, s.pause, s.probe = 0, 0, time.Time{}
		return 0
	}
	if s.count++; s.count == 1 {
		s.first = now
	}
	if s.last = now; number == s.steps {
		s.steps, s.pause = s.steps+1, 2*s.pause
	}
	s.pause = min(max(s.pause, firstPause), longestPause)
	return s.pause
}
