// Package daily counts the queries of one account's day: it decides which attempts may leave, and learns from
// what comes of them.
//
// A header says what is left, give or take the attempts that were under way: it counts some of them and not the
// others. So what is left is at most what the header says, and at least that less these attempts. A count within
// those bounds stays as it is; any other is moved to the nearer one.
package daily

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fiscope/fiscope/store"
)

// How often an attempt may leave although none is left as far as is known.
const (
	probePause   = time.Minute      // a header or the count says so, or the day should be over
	refusedPause = 15 * time.Minute // the service refused an attempt
)

const (
	sameDay  = time.Hour      // resets that are no further apart are of one day
	farthest = 48 * time.Hour // a reset further ahead is ignored
)

// Day is what is known of the present day. The zero Day knows nothing, and grants everything.
type Day struct {
	Reset time.Time     `json:"reset,omitzero"` // when the day ends; zero if no header said so
	Left  int           `json:"left"`           // queries that are left until then at least; may be below 0
	Most  int           `json:"most"`           // ... and at most
	Zero  bool          `json:"zero"`           // a header said that none is left
	Doubt bool          `json:"doubt"`          // a probe was served although none was left: only a refusal counts
	Pause time.Duration `json:"pause"`          // closed: one probe in each pause; 0 if open
	Sent  time.Time     `json:"sent,omitzero"`  // when the last attempt was let go

	Epoch int64 `json:"epoch"` // attempts of an earlier one know nothing of what is known now
	Used  int   `json:"used"`  // queries of this epoch, with those under way
	Done  int   `json:"done"`  // those of them that have been committed
	Lower int   `json:"lower"` // Done when a header last lowered Most
}

// Reserve asks for one query, of which keep are left to others.
func (d *Day) Reserve(now time.Time, keep int) store.Reservation {
	d.rollOver(now, now)
	known, pause := !d.Reset.IsZero(), d.Pause
	switch {
	case known && keep > 0 && d.Left <= keep:
		return store.Reservation{Grant: store.Spent, Left: max(0, d.Left), Until: d.Reset}
	case known && d.Left <= 0 && !d.Doubt && pause == 0:
		pause = probePause
	}
	r := store.Reservation{Until: d.Reset, Token: d.token()}
	if pause > 0 {
		if next := d.Sent.Add(pause); now.Before(next) && !now.Before(d.Sent) { // a clock that was set back waits for nothing
			if known {
				next = d.Reset
			}
			return store.Reservation{Grant: store.Spent, Until: next}
		}
		r.Grant = store.Probe
	}
	d.Sent = now
	d.use(1)
	return r
}

// token marks a reservation with what is known when it is made.
func (d *Day) token() string {
	var b [48]byte
	return string(strconv.AppendInt(append(strconv.AppendInt(b[:0], d.Epoch, 10), '.'), int64(d.Done), 10))
}

// Commit records what came of a reservation that was Granted or a Probe.
func (d *Day) Commit(now time.Time, r store.Reservation, o store.Outcome) {
	d.rollOver(now, o.Date)
	var epoch int64
	var done int
	if before, after, ok := strings.Cut(r.Token, "."); ok { // a foreign token is of no epoch
		epoch, _ = strconv.ParseInt(before, 10, 64)
		done, _ = strconv.Atoi(after)
	}
	current := epoch == d.Epoch
	if current {
		d.use(o.Written - 1)
		d.Done += o.Written
	} else {
		done = 0
	}
	if o.Written == 0 {
		if r.Grant == store.Probe {
			d.Sent = time.Time{}
		}
		return
	}

	over, known := !o.Reset.IsZero() && !o.Reset.After(later(now, o.Date)), d.Reset
	if o.Remaining >= 0 && !over {
		d.applyHeader(now, o, current, done)
		d.Zero = d.Zero || o.Remaining == 0
	}
	switch {
	case o.Refused && current && (over || d.Pause == probePause):
		d.Pause = probePause
	case o.Refused && current:
		d.Pause = refusedPause
	case o.Served && r.Grant == store.Probe:
		d.Pause, d.Doubt = 0, !known.IsZero() && d.Reset.Sub(known).Abs() <= sameDay && (d.Zero || d.Left <= 0) // the header was wrong
		d.begin()
	}
}

// applyHeader takes in the header of an answer to an attempt before whose reservation so many had been committed.
func (d *Day) applyHeader(now time.Time, o store.Outcome, current bool, done int) {
	known, reset := !d.Reset.IsZero(), o.Reset
	if reset.Sub(now) > farthest {
		reset = time.Time{}
	}
	least := o.Remaining - (d.Used - done) // less those under way when it was reserved, or reserved since
	if current {
		least += o.Written // itself
	}
	switch apart := reset.Sub(d.Reset); {
	case reset.IsZero() && !known: // nobody knows for how long
	case !known:
		d.Reset, d.Left, d.Most, d.Lower = reset, least, o.Remaining, d.Done
	case reset.IsZero(), apart.Abs() <= sameDay:
		if o.Remaining < d.Most {
			d.Most, d.Lower = o.Remaining, d.Done
		} else if current && done >= d.Lower {
			d.Most = max(d.Most, least)
		}
		if current {
			d.Left = max(d.Left, least)
		}
		d.Left = min(d.Left, d.Most)
	case current: // another day
		*d = Day{Reset: reset, Left: least, Most: o.Remaining, Sent: d.Sent, Epoch: d.Epoch}
		d.begin()
	}
}

// rollOver ends the day at its reset, by the clock or by the date of an answer. A day that was closed stays closed
// until a probe is served.
func (d *Day) rollOver(now, date time.Time) {
	if d.Epoch == 0 {
		d.Epoch = now.UnixMilli() // no token of a state that was lost is of this one
	}
	if d.Reset.IsZero() {
		return
	}
	over := !later(now, date).Before(d.Reset)
	if !over && d.Reset.Sub(now) <= farthest {
		return
	}
	next := Day{Epoch: d.Epoch}
	if over && (d.Pause > 0 || d.Left <= 0 && !d.Doubt) {
		next.Pause = probePause
	}
	*d = next
	d.begin()
}

// begin makes what was reserved so far count no more.
func (d *Day) begin() { d.Epoch, d.Used, d.Done, d.Lower = d.Epoch+1, 0, 0, 0 }

func (d *Day) use(n int) {
	d.Used += n
	if !d.Reset.IsZero() {
		d.Left, d.Most = d.Left-n, d.Most-n
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Gate is a Day that many goroutines use. Its zero value is ready.
type Gate struct {
	mu  sync.Mutex
	day Day
}

// Reserve is [Day.Reserve].
func (g *Gate) Reserve(now time.Time, keep int) store.Reservation {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.day.Reserve(now, keep)
}

// Known reports whether a header of the present day said what is left.
func (g *Gate) Known() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.day.Reset.IsZero()
}

// Commit is [Day.Commit].
func (g *Gate) Commit(now time.Time, r store.Reservation, o store.Outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.day.Commit(now, r, o)
}
