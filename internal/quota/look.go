package quota

import "time"

// How long apart the attempts leave that look whether a spent quota still is: longer and longer.
const (
	firstPause, longestPause               = 15 * time.Minute, time.Hour  // before the reset
	firstOverduePause, longestOverduePause = time.Second, 5 * time.Minute // after it
)

// look is when an attempt leaves although no query is left, to see whether that is still so. Its times are real.
type look struct {
	next     time.Time     // not before this
	began    moment        // when the last one left; zero for none
	pause    time.Duration // how long it was put off the last time
	underWay bool
	refused  bool // the last one was told that the quota is still spent
}

func (l *look) due(now time.Time) bool { return !l.underWay && !now.Before(l.next) }

func pauses(p phase) (first, longest time.Duration) {
	if p == overdue {
		return firstOverduePause, longestOverduePause
	}
	return firstPause, longestPause
}

// begin is called when an attempt leaves to look. Where it learns nothing, another may follow.
func (l *look) begin(now moment, p phase) {
	first, _ := pauses(p)
	l.underWay, l.began, l.next = true, now, now.real.Add(first)
}

// putOff is called when the quota was found to be spent.
func (l *look) putOff(now time.Time, p phase) {
	first, longest := pauses(p)
	l.refused, l.pause = true, min(max(first, 2*l.pause), longest)
	l.next = now.Add(l.pause)
}

// looked takes note of what came of an attempt that left to look.
func (g *Gate) looked(t Ticket, o Outcome, heard bool, now moment) {
	if t.news < g.since {
		return // it was of another day
	}
	g.look.underWay = false
	switch {
	case t.news != g.news: // a header said more
	case heard, o.Answer == Refused:
		g.look.putOff(now.real, g.phase)
	case o.Answer == Served, o.Answer == Answered && g.phase == overdue: // the header was wrong, or is no longer true
		g.phase = unknown
		g.beginAnew()
	case o.Written == 0 && g.phase == overdue: // it did not leave: another may, at once
		g.look.next, g.look.refused = now.real, false
	case o.Written == 0:
		g.look.next = now.real.Add(firstOverduePause)
	default:
		g.look.refused = false
	}
}

// refused takes note of an attempt that the service refused, without a header. On a day that a look opened
// before its reset it closes it again. Soon after a day ended by our clock it means that the service is behind
// it, and that the old day, now spent, goes on.
func (g *Gate) refused(t Ticket, now moment) {
	if g.phase != unknown || t.news < g.since {
		return
	}
	if now.day.Before(g.reset) {
		g.phase = known
		g.set(0, now)
	} else if near(now.day, g.reset) {
		g.phase, g.remaining, g.told, g.look = overdue, 0, now.day, look{}
		g.look.putOff(now.real, overdue)
	}
}
