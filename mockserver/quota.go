package mockserver

import (
	"sort"
	"sync"
	"sync/atomic"
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
	limit atomic.Int64 // calls per day, or Unlimited

	mu     sync.Mutex
	spent  int // calls charged, on all days
	days   map[dayID]*quotaDay
	resets int // counts resets
}

// dayID is a date in the quota's zone. The clock may be set back, and a day's usage must not start again.
type dayID struct {
	fiscope.Fecha
	zone string
}

// quotaDay is the usage on one date.
type quotaDay struct {
	until time.Time
	reset string // the reset's time for X-RateLimit-Reset
	used  int
}

// newDay returns an unused day with the date of now.
func newDay(now time.Time, zone *time.Location) *quotaDay {
	today := dateOf(now, zone)
	// Find the first second of a later date: some dates do not begin at midnight, or do not exist.
	const longest = 50 * 60 * 60 // the longest date in seconds; some zone has had one twice
	second := sort.Search(longest, func(i int) bool {
		return dateOf(time.Unix(now.Unix()+int64(i), 0), zone).Compare(today) > 0
	})
	until := time.Unix(now.Unix()+int64(second), 0).UTC()
	return &quotaDay{until: until, reset: until.Format(time.RFC3339)}
}

func dateOf(t time.Time, zone *time.Location) fiscope.Fecha {
	return fiscope.NewFecha(t.In(zone).Date())
}

// on returns the day of now. The lock is held.
func (u *usage) on(now time.Time, zone *time.Location) *quotaDay {
	id := dayID{dateOf(now, zone), zone.String()}
	d := u.days[id]
	if d == nil {
		if u.days == nil {
			u.days = map[dayID]*quotaDay{}
		}
		d = newDay(now, zone)
		u.days[id] = d
	}
	return d
}

// setUsed sets the usage of the day of now.
func (u *usage) setUsed(used int, now time.Time, zone *time.Location) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.on(now, zone).used = used
}

// reset clears the usage.
func (u *usage) reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.days, u.spent = nil, 0
	u.resets++
}

// quota returns the key's state.
func (u *usage) quota(now time.Time, zone *time.Location) Quota {
	u.mu.Lock()
	defer u.mu.Unlock()
	d, limit := u.on(now, zone), int(u.limit.Load())
	q := Quota{Limit: limit, Used: d.used, Remaining: Unlimited, Reset: d.until, Spent: u.spent}
	if limit != Unlimited {
		q.Remaining = max(0, limit-d.used)
	}
	return q
}
