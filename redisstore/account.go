package redisstore

import (
	"crypto/rand"
	"strconv"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
)

// The kinds of reservations: the first letter of a token.
const (
	unitOfDay   = "d" // and the day's reset
	unitOfShare = "s" // and the day's reset
	unitOfOpen  = "o"
	unitOfProbe = "p" // and the probe's token
)

// account is what this process knows and holds of an account's quota.
type account struct {
	mu      sync.Mutex
	view    view
	lease   lease
	share   share
	pending learned       // goes along with the next call to Redis
	filling chan struct{} // closed when the lease that is being fetched is there; nil while none is
	wait    time.Time     // until when Redis is not asked again, since it said to wait
	seq     uint64        // of the last call
	ended   int           // attempts that ended of those that left while there was no count
	acked   int           // of which Redis knows
}

// lease is a block of the day's count, reserved for this process.
type lease struct {
	units int
	left  int // what was left to others when it was reserved
	reset int64
	until time.Time
	timer *time.Timer
}

// share is what of the day's count was set aside for this process.
type share struct {
	units int
	reset int64
	until time.Time
	epoch string // the epoch in which Redis knows of it, or gave none
}

// Two resets that are closer than this are of the same day: some services compute them anew each time.
const daysApart = time.Hour

func sameDay(reset, other int64) bool {
	return max(reset-other, other-reset) <= daysApart.Milliseconds()
}

// expire drops what a day that is over leaves behind. A computer that slept has a monotonic clock that
// lags: either clock ends the day. The functions below are called with the lock held.
func (a *account) expire(now time.Time) {
	over := func(reset int64, until time.Time) bool {
		return !now.Before(until) || now.UnixMilli() >= reset
	}
	if a.lease.units > 0 && over(a.lease.reset, a.lease.until) {
		a.lease.units = 0
	}
	if a.share.epoch != "" && over(a.share.reset, a.share.until) {
		a.share = share{}
	}
	if a.view.epoch != "" && over(a.view.reset, a.view.until) {
		a.view = view{}
		a.pending = learned{}
	}
}

func (a *account) fromLease(keep int) (fiscope.Reservation, bool) {
	if a.lease.units == 0 || a.lease.left < keep {
		return fiscope.Reservation{}, false
	}
	a.lease.units--
	return fiscope.Reservation{Token: unitOfDay + strconv.FormatInt(a.lease.reset, 10)}, true
}

func (a *account) fromShare() (fiscope.Reservation, bool) {
	if a.share.units == 0 {
		return fiscope.Reservation{}, false
	}
	a.share.units--
	return fiscope.Reservation{Token: unitOfShare + strconv.FormatInt(a.share.reset, 10)}, true
}

// request begins a call to Redis, with all that is pending. share is what WithShare says.
func (a *account) request(want, keep, share int) (request, uint64) {
	a.seq++
	r := request{want: want, keep: keep, token: rand.Text(), news: a.pending, view: a.view, ended: a.ended, acked: a.acked}
	a.pending = learned{}
	if want > 0 && share > 0 && (a.share.epoch == "" || a.share.epoch != a.view.epoch) {
		r.share, r.held = share, a.share.units
	}
	return r, a.seq
}

// failed takes back what a call that failed may not have told. What was given back may have been
// counted, so it is not given back again.
func (a *account) failed(l learned) {
	a.pending.extra += l.extra
	if l.news {
		a.learn(l.remaining, l.reset)
	}
}

// note keeps what a header says, and reports whether the others must know at once.
func (a *account) note(o fiscope.Outcome, wentToSee bool) (urgent bool) {
	h := o.RateLimit
	if h == nil || h.Remaining == fiscope.NoHeader {
		return false
	}
	var reset int64
	if !h.Reset.IsZero() {
		reset = h.Reset.UnixMilli()
	}
	if wentToSee { // after all that is known: it is believed upwards, too
		p := &a.pending
		p.news, p.remaining, p.reset = true, h.Remaining, reset
		return true
	}
	known := a.view.epoch != ""
	if known && a.view.kind == "h" && h.Remaining >= a.view.left && (reset == 0 || reset <= a.view.reset) {
		return false // no news
	}
	a.learn(h.Remaining, reset)
	return !known || // it begins the day
		a.view.kind != "h" && reset > 0 || // it confirms it
		reset > a.view.reset && !sameDay(reset, a.view.reset) || // it is of the next one
		h.Remaining == 0 && a.view.left > 0
}

// learn keeps the lower of two headers of the same day, and the one of the later day.
func (a *account) learn(remaining int, reset int64) {
	p := &a.pending
	switch {
	case !p.news || reset > p.reset && p.reset > 0 && !sameDay(reset, p.reset):
		p.news, p.remaining, p.reset = true, remaining, reset
	case reset == 0 || p.reset == 0 || sameDay(reset, p.reset):
		p.remaining, p.reset = min(p.remaining, remaining), max(p.reset, reset)
	}
}

// see takes in what Redis says of the day. Answers may come in another order than they were asked for.
func (a *account) see(got reply, r request) {
	a.acked = max(a.acked, r.ended)
	v := got.view
	switch {
	case v.epoch == "":
		return
	case a.view.epoch == v.epoch:
		if v.granted < a.view.granted {
			v.left, v.granted = a.view.left, a.view.granted
		}
		v.mine = a.view.mine
	case v.seq < a.view.seq:
		return
	case a.view.epoch != "" && a.view.kind == "h" && v.kind == "h" && !sameDay(a.view.reset, v.reset):
		a.lease.units, a.share = 0, share{}
	}
	a.view = v
	if got.status == statusDay {
		a.view.mine += got.units
	}
	if got.status != statusDay && got.status != statusSpent || r.share <= 0 || v.kind == "p" {
		return
	}
	switch { // Redis was asked for the share, or told of it
	case r.held > 0:
		a.share.epoch = v.epoch
	case got.share > 0 && a.share.units == 0 && a.share.epoch != v.epoch:
		a.share = share{units: got.share, reset: v.reset, until: v.until, epoch: v.epoch}
		a.view.mine += got.share
	default:
		a.share.epoch, a.share.reset, a.share.until = v.epoch, v.reset, v.until
	}
}
