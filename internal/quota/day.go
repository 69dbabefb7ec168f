package quota

import "time"

// Unknown stands for a number that no header gave.
const Unknown = -1

// Headers is what the headers of one answer say of the quota.
type Headers struct {
	Remaining int       // 0 or more, or Unknown
	Reset     time.Time // zero where none came
}

// silent reports whether the headers do not say how many queries are left.
func (h *Headers) silent() bool { return h == nil || h.Remaining == Unknown }

// Resets that are closer than this are of the same day.
const daysApart = time.Hour

func near(a, b time.Time) bool { return a.Sub(b).Abs() <= daysApart }

// moment is one moment by two clocks.
type moment struct {
	day  time.Time // by the one that days end by: it may stand still, and jump
	real time.Time // by the one that waits go by
}

func (g *Gate) now() moment {
	real := time.Now()
	if g.Now == nil {
		return moment{day: real, real: real}
	}
	return moment{day: g.Now(), real: real}
}

// endDay notes that the known day is over by our clock, or has not begun, since that was set back.
func (g *Gate) endDay(now moment) {
	if g.phase != unknown && now.day.Add(daysApart).Before(g.told) {
		g.phase = unknown
		g.beginAnew()
		return
	}
	if g.phase != known || now.day.Before(g.reset) {
		return
	}
	g.phase = unknown
	if began := g.look.began; g.remaining == 0 {
		g.phase, g.look = overdue, look{next: now.real}
		if soonest := began.real.Add(firstOverduePause); soonest.After(now.real) && now.day.Before(began.day.Add(firstOverduePause)) {
			g.look.next = soonest
		}
	}
	g.beginAnew()
}

// beginAnew makes attempts that left before now say nothing.
func (g *Gate) beginAnew() {
	g.news++
	g.since = g.news
}

// learn takes in the headers of an answer, and reports whether they say something of the present day.
func (g *Gate) learn(t Ticket, h *Headers, now moment) bool {
	switch {
	case h.silent():
		return false
	case t.news < g.since, !h.Reset.IsZero() && !h.Reset.After(now.day):
		return false
	case h.Reset.IsZero() && g.phase != known: // nobody knows for how long
		return false
	case g.phase == overdue && h.Remaining == 0 && near(h.Reset, g.reset): // the day before goes on
		return true
	case g.phase != known:
		g.believe(t, h, now)
		return true
	}
	latest := t.news == g.news // the attempt left after all that is known was told
	sameDay := h.Reset.IsZero() || near(h.Reset, g.reset)
	switch {
	case h.Remaining <= g.remaining && (sameDay || h.Reset.After(g.reset)): // also where each reset is later than the last
		g.lower(t, h, now)
	case latest, !sameDay && h.Reset.After(g.reset):
		g.beginAnew()
		g.believe(t, h, now)
	case sameDay: // an earlier answer came late: the lower one counts it
		g.cover(t)
	default:
		return false
	}
	return true
}

// believe goes by a header alone, whatever was known.
func (g *Gate) believe(t Ticket, h *Headers, now moment) {
	g.phase, g.covered = known, t.silent
	if !h.Reset.IsZero() {
		g.reset = h.Reset
	}
	g.set(h.Remaining, now)
}

// lower goes by the lower header of two of the same day.
func (g *Gate) lower(t Ticket, h *Headers, now moment) {
	g.cover(t)
	if h.Reset.After(g.reset) {
		g.reset = h.Reset
	}
	if h.Remaining < g.remaining {
		g.set(h.Remaining, now)
	}
}

func (g *Gate) set(remaining int, now moment) {
	g.remaining, g.told = remaining, now.day
	g.news++
	if remaining == 0 {
		g.look = look{began: g.look.began}
		g.look.putOff(now.real, known)
	}
}

// cover notes that remaining counts the silent queries before an attempt.
func (g *Gate) cover(t Ticket) {
	g.covered.answered = max(g.covered.answered, t.silent.answered)
	g.covered.failed = max(g.covered.failed, t.silent.failed)
}
