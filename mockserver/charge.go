package mockserver

import (
	"net/http"
	"strconv"
	"time"

	"github.com/fiscope/fiscope"
)

// charge is what a call costs: one query of a day, or nothing. The zero charge is of no quota.
type charge struct {
	paid   bool // it cost one query
	usage  *usage
	limit  int
	day    *quotaDay
	used   int // including this call, so that each answer shows another Remaining
	resets int // of the usage
}

// charge takes one call from the quota of the day of now, if one is left.
func (u *usage) charge(now time.Time, assume *Assumptions) charge {
	u.mu.Lock()
	defer u.mu.Unlock()
	d, limit := u.on(now, assume.ResetZone), int(u.limit.Load())
	left := limit == Unlimited || d.used < limit
	if left {
		d.used++
		u.spent++
	}
	return charge{left, u, limit, d, d.used, u.resets}
}

// refund returns a call that was charged to the quota.
func (c *charge) refund() {
	if !c.paid {
		return
	}
	c.usage.mu.Lock()
	defer c.usage.mu.Unlock()
	c.paid = false
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
	rateLimitHeaders = [3]string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}
	rateLimitSpelled = [3]string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
)

// setHeaders writes the three headers of docs/contract.md, 8.
func (c *charge) setHeaders(h http.Header) {
	if c.limit == Unlimited {
		return
	}
	values := []string{strconv.Itoa(c.limit), strconv.Itoa(c.left()), c.day.reset}
	for i, name := range rateLimitHeaders {
		h[name] = values[i : i+1 : i+1]
	}
}

func quotaExceeded(c charge, assume *Assumptions) answer {
	return assume.QuotaExceeded.refusal(
		"se agotó la cuota diaria de %d consultas de esta clave de API: se renueva el %s (Lima); esta llamada no consumió nada (docs/contract.md, 8)",
		c.limit, c.day.until.In(fiscope.Lima).Format("2006-01-02 a las 15:04"))
}
