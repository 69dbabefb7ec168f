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

// charge is one call counted by the quota: charged, or refused because nothing was left.
type charge struct {
	usage  *usage
	limit  int
	day    *day
	reset  string // the day's
	used   int    // including this call, so that each answer shows another Remaining
	resets int    // of the usage
}

// charge takes one call from the quota of the day of now, and reports whether one was left.
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

// refund returns the call to the quota.
func (c *charge) refund() {
	c.usage.mu.Lock()
	defer c.usage.mu.Unlock()
	c.used--
	if c.resets == c.usage.resets { // otherwise all usage was cleared
		c.day.used = max(0, c.day.used-1) // setUsed may have changed it
		c.usage.spent--
	}
}

// stands reports whether the quotas were not reset since.
func (c *charge) stands() bool {
	c.usage.mu.Lock()
	defer c.usage.mu.Unlock()
	return c.resets == c.usage.resets
}

// left returns how many queries of the day are left after the call.
func (c charge) left() int {
	if c.limit == Unlimited {
		return Unlimited
	}
	return max(0, c.limit-c.used)
}

// The headers of docs/contract.md, 8, in net/http's form and as the contract spells them. Header.Set would canonicalize
// them for every answer.
var (
	rateLimitHeaders = [...]string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}
	rateLimitSpelled = [...]string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
)

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

func quotaExceeded(c charge, assume *Assumptions) answer {
	return assume.QuotaExceeded.refusal(
		"se agotó la cuota diaria de %d consultas de esta clave de API: se renueva el %s (Lima); esta llamada no consumió nada (docs/contract.md, 8)",
		c.limit, c.day.until.In(fiscope.Lima).Format("2006-01-02 a las 15:04"))
}
