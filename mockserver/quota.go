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

// Unlimited is the quota of a key that is never refused, and whose answers carry no rate-limit headers. openapi.yaml
// has them on every lookup, so a validating proxy will refuse the answers to such a key.
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

// day is what was used on one date of the quota's zone, or in 24 hours from a first call.
type day struct {
	zone  *time.Location // nil for 24 hours
	date  fiscope.Fecha  // of the zone
	from  time.Time      // of the 24 hours
	until time.Time
	form  ResetForm
	reset string // until, as X-RateLimit-Reset writes it in that form
	used  int
}

// newDay returns the unused day that now is in.
func newDay(now time.Time, assume *Assumptions) *day {
	if assume.ResetRolling {
		return &day{from: now, until: roundUp(now.Add(24*time.Hour), time.Millisecond).UTC()} // as a fraction shows it
	}
	zone := assume.ResetZone
	date := dateOf(now, zone)
	// The first second of a later date: not every date begins at midnight, nor does every one exist.
	const longest = 50 * 60 * 60 // seconds of a date; some zone has had one twice
	second := sort.Search(longest, func(i int) bool {
		return dateOf(time.Unix(now.Unix()+int64(i), 0), zone).Compare(date) > 0
	})
	return &day{zone: zone, date: date, until: time.Unix(now.Unix()+int64(second), 0).UTC()}
}

// isIn reports whether the day is one of a zone: of one with the same name, in which it ends at the same time.
// The same zone may have been loaded twice.
func (d *day) isIn(zone *time.Location) bool {
	return d.zone == zone || d.zone != nil && d.zone.String() == zone.String() &&
		dateOf(d.until.Add(-time.Second), zone) == d.date && dateOf(d.until, zone) != d.date
}

func dateOf(t time.Time, zone *time.Location) fiscope.Fecha {
	return fiscope.NewFecha(t.In(zone).Date())
}

// find returns where the day that now is in is in days, or -1. It is called with the lock held.
func (u *usage) find(now time.Time, assume *Assumptions) int {
	if !assume.ResetRolling {
		date := dateOf(now, assume.ResetZone)
		return slices.IndexFunc(u.days, func(d *day) bool { return d.date == date && d.isIn(assume.ResetZone) })
	}
	holds := func(early time.Duration) int {
		return slices.IndexFunc(u.days, func(d *day) bool {
			return d.zone == nil && !now.Before(d.from.Add(-early)) && now.Before(d.until)
		})
	}
	if i := holds(0); i >= 0 {
		return i
	}
	return holds(24 * time.Hour) // a call that read the clock before the first one, or a clock that was set back
}

// use returns the day that now is in, as the last used one. It is called with the lock held.
func (u *usage) use(now time.Time, assume *Assumptions) *day {
	i := u.find(now, assume)
	switch {
	case i == 0:
	case i > 0:
		d := u.days[i]
		u.days = slices.Insert(slices.Delete(u.days, i, i+1), 0, d)
	default:
		u.days = slices.Insert(u.days[:min(len(u.days), daysKept-1)], 0, newDay(now, assume))
	}
	d := u.days[0]
	if d.form != assume.ResetForm {
		d.form, d.reset = assume.ResetForm, assume.ResetForm.write(d.until)
	}
	return d
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
func (u *usage) setUsed(used int, now time.Time, assume *Assumptions) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.use(now, assume).used = used
}

// reset makes it as if the key had never been used.
func (u *usage) reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.days, u.spent = nil, 0
	u.resets++
}

// quota tells how the key stands, and changes nothing.
func (u *usage) quota(now time.Time, assume *Assumptions) Quota {
	u.mu.Lock()
	defer u.mu.Unlock()
	d := newDay(now, assume)
	if i := u.find(now, assume); i >= 0 {
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
	reset  string // the day's, in the form of the moment
	used   int    // after this call, so that no two answers show the same Remaining
	resets int    // of the usage
}

// charge takes one call from the quota of the day that now is in, and reports whether one was left.
func (u *usage) charge(now time.Time, assume *Assumptions) (charge, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	d := u.use(now, assume)
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

// setHeaders writes the three headers of docs/contrato.md, 8.
func (c charge) setHeaders(h http.Header) {
	if c.limit == Unlimited {
		return
	}
	values := []string{strconv.Itoa(c.limit), strconv.Itoa(c.left()), c.reset}
	for i, name := range rateLimitHeaders {
		h[name] = values[i : i+1 : i+1]
	}
}
