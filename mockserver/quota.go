package mockserver

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Unlimited is the quota of a key that is never refused, and whose answers carry no rate-limit headers.
const Unlimited = -1

// Quota is where a key stands on the server's day.
type Quota struct {
	Limit     int // calls a day, or Unlimited
	Used      int // of the day that the server's clock is in
	Remaining int // Unlimited for an unlimited key
	Reset     time.Time
	Spent     int // charged on all days since the last reset of the quotas, without what was given back
}

// usage is the quota of one key and what was used of it. It has no lock: every request of every connection
// comes through here.
type usage struct {
	limit atomic.Int64
	today atomic.Pointer[day]
	spent atomic.Int64 // calls charged, on all days
}

// day is what was used between two midnights of the quota's zone.
type day struct {
	since, until time.Time
	reset        string // until, as X-RateLimit-Reset writes it
	used         atomic.Int64
}

// reset makes it as if the key had never been used.
func (u *usage) reset() {
	u.today.Store(nil)
	u.spent.Store(0)
}

// dayOf returns the running day, or begins the one that now is in: also when the clock was set back.
func (u *usage) dayOf(now time.Time, zone *time.Location) *day {
	for {
		d := u.today.Load()
		if d != nil && !now.Before(d.since) && now.Before(d.until) {
			return d
		}
		year, month, date := now.In(zone).Date()
		since := time.Date(year, month, date, 0, 0, 0, 0, zone)
		until := time.Date(year, month, date+1, 0, 0, 0, 0, zone)
		next := &day{since: since, until: until, reset: until.UTC().Format(time.RFC3339)}
		if u.today.CompareAndSwap(d, next) {
			return next
		}
	}
}

func (u *usage) quota(now time.Time, zone *time.Location) Quota {
	d := u.dayOf(now, zone)
	q := Quota{Limit: int(u.limit.Load()), Used: int(d.used.Load()), Remaining: Unlimited, Reset: d.until.UTC(), Spent: int(u.spent.Load())}
	if q.Limit != Unlimited {
		q.Remaining = max(0, q.Limit-q.Used)
	}
	return q
}

// charge is one call as the quota counted it: charged, or refused because nothing was left.
type charge struct {
	usage *usage
	limit int64
	day   *day
	used  int64 // after this call, so that no two answers show the same Remaining
}

// charge takes one call from the quota of the day that now is in, and reports whether one was left.
func (u *usage) charge(now time.Time, zone *time.Location) (charge, bool) {
	c := charge{usage: u, limit: u.limit.Load(), day: u.dayOf(now, zone)}
	for {
		used := c.day.used.Load()
		if c.limit != Unlimited && used >= c.limit {
			c.used = used
			return c, false
		}
		if c.day.used.CompareAndSwap(used, used+1) {
			c.used = used + 1
			u.spent.Add(1)
			return c, true
		}
	}
}

// refund gives the call back.
func (c *charge) refund() {
	c.day.used.Add(-1)
	c.usage.spent.Add(-1)
	c.used--
}

// left is how many queries of the day are left after the call.
func (c charge) left() int {
	if c.limit == Unlimited {
		return Unlimited
	}
	return int(max(0, c.limit-c.used))
}

// rateLimitHeaders are X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset, written as net/http
// keeps names: Header.Set would convert them for every answer.
var rateLimitHeaders = [...]string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}

// setHeaders writes the three headers of docs/contrato.md, 8.
func (c charge) setHeaders(h http.Header) {
	if c.limit == Unlimited {
		return
	}
	values := []string{strconv.FormatInt(c.limit, 10), strconv.Itoa(c.left()), c.day.reset}
	for i, name := range rateLimitHeaders {
		h[name] = values[i : i+1 : i+1]
	}
}
