package mockserver

import (
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
)

// Unlimited is the quota of a key that is never refused, and gets no headers.
const Unlimited = -1

// Quota is a key's state on the server's day.
type Quota struct {
	Limit     int // calls per day, or Unlimited
	Used      int // on the present day of the server's clock
	Remaining int // Unlimited for an unlimited key
	Reset     time.Time
	Spent     int // charged on all days since the last reset of the quotas, without refunds
}

// usage is the quota and the usage of one key.
type usage struct {
	mu     sync.Mutex
	limit  int
	spent  int    // calls charged, on all days
	days   []*day // with usage, the last used one first
	resets int    // counts resets
}

// daysKept is how many days a key remembers: calls may arrive before midnight and be charged after it, or the clock may be
// set back, and a day's usage must not start again.
const daysKept = 8

// day is the usage on one date in the quota's zone.
type day struct {
	zone  *time.Location
	date  fiscope.Fecha // in the zone
	until time.Time
	reset string // the reset's time for X-RateLimit-Reset
	used  int
}

// newDay returns an unused day with the date of now.
func newDay(now time.Time, zone *time.Location) *day {
	date := dateOf(now, zone)
	// Find the first second of a later date: some dates do not begin at midnight, or do not exist.
	const longest = 50 * 60 * 60 // the longest date in seconds; some zone has had one twice
	second := sort.Search(longest, func(i int) bool {
		return dateOf(time.Unix(now.Unix()+int64(i), 0), zone).Compare(date) > 0
	})
	until := time.Unix(now.Unix()+int64(second), 0).UTC()
	return &day{zone: zone, date: date, until: until, reset: until.Format(time.RFC3339)}
}

func dateOf(t time.Time, zone *time.Location) fiscope.Fecha {
	return fiscope.NewFecha(t.In(zone).Date())
}

// find returns the index in days of the day of now, or -1. The lock is held.
func (u *usage) find(now time.Time, zone *time.Location) int {
	date := dateOf(now, zone)
	return slices.IndexFunc(u.days, func(d *day) bool { return d.date == date && d.zone.String() == zone.String() })
}

// use returns the day of now, and makes it the last used one. The lock is held.
func (u *usage) use(now time.Time, zone *time.Location) *day {
	i := u.find(now, zone)
	switch {
	case i == 0:
	case i > 0:
		d := u.days[i]
		u.days = slices.Insert(slices.Delete(u.days, i, i+1), 0, d)
	default:
		u.days = slices.Insert(u.days[:min(len(u.days), daysKept-1)], 0, newDay(now, zone))
	}
	return u.days[0]
}

// daily returns the quota, in calls per day.
func (u *usage) daily() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.limit
}

// setLimit changes the quota and keeps the usage.
func (u *usage) setLimit(limit int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.limit = limit
}

// setUsed sets the usage of the day of now.
func (u *usage) setUsed(used int, now time.Time, zone *time.Location) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.use(now, zone).used = used
}

// reset clears the usage.
func (u *usage) reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.days, u.spent = nil, 0
	u.resets++
}

// quota returns the key's state without changing it.
func (u *usage) quota(now time.Time, zone *time.Location) Quota {
	u.mu.Lock()
	defer u.mu.Unlock()
	d := newDay(now, zone)
	if i := u.find(now, zone); i >= 0 {
		d = u.days[i]
	}
	q := Quota{Limit: u.limit, Used: d.used, Remaining: Unlimited, Reset: d.until, Spent: u.spent}
	if q.Limit != Unlimited {
		q.Remaining = max(0, q.Limit-q.Used)
	}
	return q
}
