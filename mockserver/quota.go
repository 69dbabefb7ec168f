package mockserver

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Unlimited is the quota of a key that is never refused, and whose answers carry no rate-limit headers.
const Unlimited = -1

// account is one key's quota. It has no lock: every request of every connection comes through here.
type account struct {
	limit atomic.Int64
	today atomic.Pointer[day]
	spent atomic.Int64 // calls charged, on all days
	id    string       // the key's fingerprint
	ring  *ring        // its part of the journal, which locks it
}

// day is what an account used between two resets.
type day struct {
	since, until time.Time
	reset        string // until, as X-RateLimit-Reset writes it
	used         atomic.Int64
}

// reset makes it as if the key had never been used.
func (a *account) reset() {
	a.today.Store(nil)
	a.spent.Store(0)
}

// charge is one call on the ledger: charged, or refused because nothing was left.
type charge struct {
	account *account
	limit   int64
	day     *day
	used    int64 // after this call, so that no two answers show the same Remaining
}

// charge takes one call from the quota of the day that now is in, and reports whether one was left.
func (a *account) charge(now time.Time, zone *time.Location) (charge, bool) {
	c := charge{account: a, limit: a.limit.Load(), day: a.dayOf(now, zone)}
	for {
		used := c.day.used.Load()
		if c.limit != Unlimited && used >= c.limit {
			c.used = used
			return c, false
		}
		if c.day.used.CompareAndSwap(used, used+1) {
			c.used = used + 1
			a.spent.Add(1)
			return c, true
		}
	}
}

// dayOf returns the running day, or begins the one that now is in: also when the clock was set back.
func (a *account) dayOf(now time.Time, zone *time.Location) *day {
	for {
		d := a.today.Load()
		if d != nil && !now.Before(d.since) && now.Before(d.until) {
			return d
		}
		year, month, date := now.In(zone).Date()
		since := time.Date(year, month, date, 0, 0, 0, 0, zone)
		until := time.Date(year, month, date+1, 0, 0, 0, 0, zone)
		next := &day{since: since, until: until, reset: until.UTC().Format(time.RFC3339)}
		if a.today.CompareAndSwap(d, next) {
			return next
		}
	}
}

// refund gives the call back.
func (c *charge) refund() {
	c.day.used.Add(-1)
	c.account.spent.Add(-1)
	c.used--
}

// left is how many queries of the day are left after the call.
func (c charge) left() int {
	if c.limit == Unlimited {
		return Unlimited
	}
	return int(max(0, c.limit-c.used))
}

// setHeaders writes the three headers of service.md section 8.
func (c charge) setHeaders(h http.Header) {
	if c.limit == Unlimited {
		return
	}
	values := []string{strconv.FormatInt(c.limit, 10), strconv.Itoa(c.left()), c.day.reset}
	h["X-Ratelimit-Limit"] = values[0:1:1] // names as net/http keeps them
	h["X-Ratelimit-Remaining"] = values[1:2:2]
	h["X-Ratelimit-Reset"] = values[2:3:3]
}

func (s *Server) quotaExceeded(c charge) answer {
	return refusal(s.assume.QuotaExceeded.Status, s.assume.QuotaExceeded.Code,
		"se agotó la cuota diaria de %d consultas de esta clave: se renueva el %s; esta llamada no consumió nada (contrato, sección 8)",
		c.limit, c.day.reset)
}
