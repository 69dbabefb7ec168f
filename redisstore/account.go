package redisstore

import (
	"sync"
	"time"

	"github.com/fiscope/fiscope"
)

// The kinds of reservations: the first letter of a token. What follows is the day's id, or the attempt's own.
const (
	unitOfDay   = "d"
	unitOfShare = "s"
	unitOfLook  = "l" // it goes to see whether the quota still is spent
	unitOfOpen  = "o" // while no day is known
	unitOfProbe = "p" // the first of those
)

// account is what this process knows and holds of an account's quota. All that it holds is of the day that
// it knows, and ends with it.
type account struct {
	mu        sync.Mutex
	day       day
	lease     lease
	share     share
	holder    string                // of the share: random, and another one after each Release, so that what was asked before is known
	granted   []fiscope.Reservation // attempts that may leave beside the day's queries: to look, or while no day is known
	underWay  int                   // queries of the day that were handed out and not settled
	since     []time.Time           // when queries of the day were settled, since Redis last spoke of it
	loose     int                   // queries to be taken off the day, since Redis forgot that they were taken, or could not be told
	releasing int                   // calls under way that give back
	refusals  int                   // answers in a row that refused, and had no header

	news  header   // goes along with the next call to Redis
	ended []string // so do these: attempts of those that left while no day was known
	seq   uint64   // of the last call

	untold *telling // what came of an attempt that left while no day was known, of which Redis is told again; nil for none

	questions questions

	wait  time.Time // until when Redis is not asked again, since it said to wait
	open  bool      // it said that all go on, uncounted
	probe string    // that it said to wait for
	spent spent
}

// lease is a block of the day's queries, reserved for this process.
type lease struct {
	units int
	timer *time.Timer
}

// share is what of the day's queries was set aside for this process.
type share struct {
	units int    // that are left of it
	given int    // of how many
	asked string // the day on which Redis was asked for it, and said
	sent  bool   // it was asked: it may have set one aside, that is not used up
}

// spent is that Redis refused, a moment ago.
type spent struct {
	reservation fiscope.Reservation
	keep        int
	until       time.Time
}

const (
	daysApart    = time.Hour   // two resets that are closer are of the same day
	remembered   = time.Second // for how long a refusal is
	waitPause    = 25 * time.Millisecond
	manyRefusals = 5 // answers in a row that refuse without a header, until the fleet stops
	manyEnded    = 1000
)

func sameDay(reset, other int64) bool {
	return max(reset-other, other-reset) <= daysApart.Milliseconds()
}

// The functions below are called with the lock held.

// expire drops what a day that is over leaves behind. Only the monotonic clock decides.
func (a *account) expire(now time.Time) {
	if a.day.id != "" && !now.Before(a.day.until) {
		a.change(day{})
	}
}

// change makes a day the known one. Nothing that is held is of it.
func (a *account) change(to day) {
	a.day, a.news, a.spent = to, noHeader, spent{}
	a.lease.units, a.share, a.underWay, a.since, a.loose = 0, share{}, 0, a.since[:0], 0
}

// see takes in what Redis says of the day; answers may come in another order than they were asked for. Of a
// day that Redis forgot, or knew without its reset, and learned of anew, those queries are to be taken off of which is not known whether its
// header counts them.
func (a *account) see(got reply) {
	known := a.day
	switch {
	case got.day.id == "" || got.day.seq < known.seq && got.day.id != known.id:
	case got.day.id == known.id:
		if got.day.seq > known.seq {
			a.day, a.since = got.day, a.since[:0]
		}
		a.day.taken = max(known.taken, got.day.taken)
	default:
		loose := 0
		if known.id != "" && (known.kind != "header" || got.day.kind == "assumed" || sameDay(known.reset, got.day.reset)) {
			loose = a.underWay
			for _, t := range a.since {
				if !t.Before(got.day.began) {
					loose++
				}
			}
		}
		a.change(got.day)
		a.loose = loose
	}
}

func (a *account) fromLease(keep int) bool {
	if a.lease.units == 0 || a.day.left < keep {
		return false
	}
	a.lease.units--
	return true
}

// fromShare hands out what was set aside, to those who keep nothing for others, or no more than is left.
func (a *account) fromShare(keep int) bool {
	if a.share.units == 0 || keep > 0 && a.day.left < keep {
		return false
	}
	a.share.units--
	return true
}

// refusedBefore returns what Redis said a moment ago to one who kept no more.
func (a *account) refusedBefore(keep int, now time.Time) (fiscope.Reservation, bool) {
	return a.spent.reservation, now.Before(a.spent.until) && keep >= a.spent.keep
}

// refused keeps for a second what Redis refused, unless a question that is overdue may still bring a query.
func (a *account) refused(mine *question, got reply) {
	r := fiscope.Reservation{Grant: fiscope.QuotaSpent, Left: got.day.left}
	if got.status == "held" {
		r.Left = 0
	} else if got.day.kind != "minute" {
		r.Until = time.UnixMilli(got.day.reset).UTC()
	}
	if a.questions.overdueBut(mine) {
		mine.told, mine.err = r, errSlow
		return
	}
	a.spent = spent{r, mine.keep, time.Now().Add(remembered)}
}

// call begins a call to Redis.
func (a *account) call() (seq uint64) {
	a.seq++
	return a.seq
}

// along returns what goes along with a call.
func (a *account) along() (news header, ended []string) {
	news, ended = a.news, a.ended
	a.news, a.ended = noHeader, nil
	return news, ended
}

// failed takes back what a call that failed may not have told.
func (a *account) failed(news header, ended []string) {
	if len(a.ended) < manyEnded {
		a.ended = append(a.ended, ended...)
	}
	if news.remaining >= 0 && news.day == a.day.id {
		a.learn(news)
	}
}

// learn keeps the lower of two headers of the day.
func (a *account) learn(h header) {
	if a.news.remaining >= 0 {
		h.remaining, h.reset = min(h.remaining, a.news.remaining), max(h.reset, a.news.reset)
	}
	a.news = h
}

// note keeps what a header of the day says, and reports whether the others must know at once.
func (a *account) note(h header) (urgent bool) {
	confirms := h.reset > 0 && a.day.kind != "header"
	later := h.reset > 0 && !confirms && !sameDay(h.reset, a.day.reset)
	switch {
	case h.remaining < 0, later && h.reset < a.day.reset: // it is of another day
		return false
	case confirms, later:
		return true
	case h.remaining < a.day.left:
		urgent = h.remaining == 0
		a.learn(h)
		a.day.left = h.remaining
	}
	return urgent
}

// refuses counts the answers that refuse without a header, and reports whether the fleet is to stop.
func (a *account) refuses(t telling) bool {
	if t.verdict != "spent" || t.header.remaining >= 0 {
		if t.verdict == "open" {
			a.refusals = 0
		}
		return false
	}
	if a.refusals++; a.day.kind == "header" && a.refusals < manyRefusals {
		return false
	}
	a.refusals = 0
	return true
}

// known decides without Redis.
func (a *account) known(keep int, now time.Time) (fiscope.Reservation, bool) {
	if n := len(a.granted); n > 0 {
		r := a.granted[n-1]
		a.granted = a.granted[:n-1]
		return r, true
	}
	if a.fromLease(keep) {
		return a.hand(unitOfDay), true
	}
	if r, ok := a.refusedBefore(keep, now); ok {
		if keep == 0 && r.Left == 0 && r.Until != (time.Time{}) && a.fromShare(keep) {
			return a.hand(unitOfShare), true
		}
		return r, true
	}
	return fiscope.Reservation{Grant: fiscope.QuotaWait, Token: a.probe}, now.Before(a.wait)
}

// hand hands out a query of the day.
func (a *account) hand(kind string) fiscope.Reservation {
	a.underWay++
	return fiscope.Reservation{Token: kind + a.day.id}
}

// suffices reports whether what is known, and held besides what others wait for, is enough for those who wait for
// a question.
func (a *account) suffices(next, others *question) bool {
	now := time.Now()
	_, refused := a.refusedBefore(next.keep, now)
	return refused || now.Before(a.wait) || next.keep <= a.day.left && next.callers <= a.lease.units-others.callers
}

// unclaimed is what was granted, and nobody waits for.
type unclaimed struct {
	granted []fiscope.Reservation
	units   int
	day     string
}

// unclaim takes away what nobody waits for. A lease is kept for those who come.
func (a *account) unclaim(lease int) (u unclaimed) {
	if a.questions.waiting > 0 {
		return u
	}
	u.granted, a.granted = a.granted, nil
	if lease == 1 {
		u.units, u.day, a.lease.units = a.lease.units, a.day.id, 0
	}
	return u
}
