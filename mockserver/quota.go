package mockserver

import (
	"net/http"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
)

// Unlimited is the quota of a key that is never refused, without headers.
const Unlimited = -1

// Quota is where a key stands on the server's day.
type Quota struct {
	Limit     int // calls a day, or Unlimited
	Used      int // of the day that the server's clock is in
	Remaining int // Unlimited for an unlimited key
	Reset     time.Time
	Spent     int // charged on all days since the last reset of the quotas, without what was given back
}

// usage is the quota of one key and what was used of it.
type usage struct {
	mu     sync.Mutex
	limit  int
	spent  int    // calls charged, on all days
	days   []*day // that were used, the last used one first
	resets int    // how often it was
}

// daysKept is how many days a key remembers: calls may read the clock before midnight and be charged after it,
// or the clock may be set back, and neither begins a day anew that was used.
const daysKept = 8

// day is what was used on one date of the quota's zone.
type day struct {
	zone  *time.Location
	date  fiscope.Fecha // of the zone
	until time.Time
	reset string // until, as X-RateLimit-Reset writes it
	used  int
}

// newDay returns the unused day that now is in.
func newDay(now time.Time, zone *time.Location) *day {
	date := dateOf(now, zone)
	// The first second of a later date: not every date begins at midnight, nor does every one exist.
	const longest = 50 * 60 * 60 // seconds of a date; some zone has had one twice
	second := sort.Search(longest, func(i int) bool {
		return dateOf(time.Unix(now.Unix()+int64(i), 0), zone).Compare(date) > 0
	})
	until := time.Unix(now.Unix()+int64(second), 0).UTC()
	return &day{zone: zone, date: date, until: until, reset: until.Format(time.RFC3339)}
}

func dateOf(t time.Time, zone *time.Location) fiscope.Fecha {
	return fiscope.NewFecha(t.In(zone).Date())
}

// find returns the index in days of the day that now is in, or -1. It is called with the lock held.
func (u *usage) find(now time.Time, zone *time.Location) int {
	date := dateOf(now, zone)
	return slices.IndexFunc(u.days, func(d *day) bool { return d.date == date && d.zone.String() == zone.String() })
}

// use returns the day that now is in, as the last used one. It is called with the lock held.
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

// daily returns the quota, in calls a day.
func (u *usage) daily() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.limit
}

// setLimit changes the quota and keeps what was used.
func (u *usage) setLimit(limit int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.limit = limit
}

// setUsed makes it as if used calls had been made on the day that now is in.
func (u *usage) setUsed(used int, now time.Time, zone *time.Location) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.use(now, zone).used = used
}

// reset makes it as if the key had never been used.
func (u *usage) reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.days, u.spent = nil, 0
	u.resets++
}

// quota reports how the key stands, and changes nothing.
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

// charge is one call as the quota counted it: charged, or refused because nothing was left.
type charge struct {
	usage  *usage
	limit  int
	day    *day
	reset  string // the day's
	used   int    // after this call, so that no two answers show the same Remaining
	resets int    // of the usage
}

// charge takes one call from the quota of the day that now is in, and reports whether one was left.
func (u *usage) charge(now time.Time, assume *Assumptions) (charge, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	d := u.use(now, assume.ResetZone)
	left := u.limit == Unlimited || d.used < u.limit
	if left {
		d.used++
		u.spent++
	}
	return charge{u, u.limit, d, d.reset, d.used, u.resets}, left
}

// refund gives the call back.
func (c *charge) refund() {
	c.usage.mu.Lock()
	defer c.usage.mu.Unlock()
	c.used--
	if c.resets == c.usage.resets { // or all is forgotten
		c.day.used = max(0, c.day.used-1) // it may have been set since
		c.usage.spent--
	}
}

// stands reports whether the quotas were not reset since.
func (c *charge) stands() bool {
	c.usage.mu.Lock()
	defer c.usage.mu.Unlock()
	return c.resets == c.usage.resets
}

// left is how many queries of the day are left after the call.
func (c charge) left() int {
	if c.limit == Unlimited {
		return Unlimited
	}
	return max(0, c.limit-c.used)
}

// rateLimitHeaders are X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset, written as net/http
// keeps names: Header.Set would convert them for every answer.
var rateLimitHeaders = [...]string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}

// setHeaders writes the three headers of docs/contract.md, 8.
func (c charge) setHeaders(h http.Header) {
	if c.limit == Unlimited {
		return
	}
	values := []string{strconv.Itoa(c.limit), strconv.Itoa(c.left()), c.reset}
	for i, name := range rateLimitHeaders {
		h[name] = values[i : i+1 : i+1]
	}
}
