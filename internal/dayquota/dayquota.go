// Package dayquota counts the queries of one account's day: it decides which attempts may be sent, and updates the count
// from their answers.
//
// A header says what is left, but it counts only some of the attempts that were under way. So at most as many queries
// are left as the header says, and at least that minus these attempts. A count within those bounds stays; any other
// moves to the nearer bound.
package dayquota

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fiscope/fiscope/store"
)

// How often an attempt may be sent although, as far as is known, no query is left.
const (
	probePause   = time.Minute      // a header or the count says that none is left, or the day should be over
	refusedPause = 15 * time.Minute // the service refused an attempt
)

const (
	sameDay  = time.Hour      // resets at most this far apart belong to the same day
	farthest = 48 * time.Hour // a reset further ahead is ignored
)

// Day is what is known about the present day. The zero Day knows nothing, and grants everything.
type Day struct {
	Reset  time.Time     `json:"reset,omitzero"` // when the day ends; zero if unknown
	Left   int           `json:"left"`           // the least queries left until then; may be below 0
	Most   int           `json:"most"`           // ... and the most
	Zero   bool          `json:"zero"`           // a header said that none is left
	Doubt  bool          `json:"doubt"`          // a probe was served although none was left: now only a refusal counts
	Pause  time.Duration `json:"pause"`          // between probes while the day is closed; 0 if it is open
	Sent   time.Time     `json:"sent,omitzero"`  // when the last attempt was permitted
	Served bool          `json:"served"`         // an attempt was served, on any day

	Epoch int64 `json:"epoch"` // an attempt of an earlier epoch says nothing about this one
	Used  int   `json:"used"`  // queries of this epoch, including those under way
	Done  int   `json:"done"`  // how many of them were committed
	Lower int   `json:"lower"` // Done when a header last lowered Most
}

// Reserve asks for one query, leaving keep queries for others.
func (d *Day) Reserve(now time.Time, keep int) store.Reservation {
	d.rollOver(now, now)
	left, pause := d.known(), d.Pause
	switch {
	case !d.Reset.IsZero() && keep > 0 && d.Left <= keep:
		return store.Reservation{Grant: store.Spent, Left: max(0, d.Left), Until: d.Reset}
	case left == 0 && pause == 0:
		pause = probePause
	}
	r := store.Reservation{Token: d.token(), Served: d.Served}
	if pause > 0 {
		if next := d.Sent.Add(pause); now.Before(next) && !now.Before(d.Sent) { // no wait if the clock was set back
			if left == 0 {
				next = d.Reset
			}
			return store.Reservation{Grant: store.Spent, Left: left, Until: next}
		}
		r.Grant = store.Probe
	}
	d.Sent = now
	d.use(1)
	r.Left = d.known()
	return r
}

// known returns the least queries left, or -1 if that is not known.
func (d *Day) known() int {
	if d.Reset.IsZero() || d.Left <= 0 && d.Doubt {
		return -1
	}
	return max(0, d.Left)
}

// token marks a reservation with what is known at that time.
func (d *Day) token() string {
	var b [48]byte
	return string(strconv.AppendInt(append(strconv.AppendInt(b[:0], d.Epoch, 10), '.'), int64(d.Done), 10))
}

// Commit records the outcome of a reservation that was Granted or a Probe.
func (d *Day) Commit(now time.Time, r store.Reservation, o store.Outcome) {
	d.rollOver(now, o.Date)
	before, after, _ := strings.Cut(r.Token, ".")
	epoch, _ := strconv.ParseInt(before, 10, 64) // a foreign token has none
	done, _ := strconv.Atoi(after)
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

	d.Served = d.Served || o.Served
	over, known := !o.Reset.IsZero() && !(o.Reset.After(now) && o.Reset.After(o.Date)), d.Reset
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
		d.Pause, d.Doubt = 0, !known.IsZero() && d.Reset.Equal(known) && (d.Zero || d.Left <= 0) // the header was wrong
		d.begin()
	}
}

// applyHeader applies the header of an answer. done is how many queries were committed when its attempt was reserved.
func (d *Day) applyHeader(now time.Time, o store.Outcome, current bool, done int) {
	known, reset := !d.Reset.IsZero(), o.Reset
	if reset.Sub(now) > farthest {
		reset = time.Time{}
	}
	least := o.Remaining - (d.Used - done) // minus those under way when it was reserved, and those reserved since
	if current {
		least += o.Written // itself
	}
	switch distance := reset.Sub(d.Reset); {
	case reset.IsZero() && !known: // it does not say until when
	case !known:
		d.Reset, d.Left, d.Most, d.Lower = reset, least, o.Remaining, d.Done
	case reset.IsZero(), distance.Abs() <= sameDay:
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
		*d = Day{Reset: reset, Left: least, Most: o.Remaining, Sent: d.Sent, Served: d.Served, Epoch: d.Epoch}
		d.begin()
	}
}

// rollOver ends the day at its reset, according to the clock or to the date of an answer. A day that was closed stays
// closed until a probe is served.
func (d *Day) rollOver(now, date time.Time) {
	if d.Epoch == 0 {
		d.Epoch = now.UnixMilli() // differs from the epochs of a state that was lost
	}
	if d.Reset.IsZero() {
		return
	}
	over := !now.Before(d.Reset) || !date.Before(d.Reset)
	if !over && d.Reset.Sub(now) <= farthest {
		return
	}
	next := Day{Served: d.Served, Epoch: d.Epoch}
	if over && (d.Pause > 0 || d.Left <= 0 && !d.Doubt) {
		next.Pause = probePause
	}
	*d = next
	d.begin()
}

// begin begins an epoch: earlier reservations no longer count.
func (d *Day) begin() { d.Epoch, d.Used, d.Done, d.Lower = d.Epoch+1, 0, 0, 0 }

func (d *Day) use(n int) {
	d.Used += n
	if !d.Reset.IsZero() {
		d.Left, d.Most = d.Left-n, d.Most-n
	}
}

// Gate is a Day for concurrent use. Its zero value is ready.
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

// Commit is [Day.Commit].
func (g *Gate) Commit(now time.Time, r store.Reservation, o store.Outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.day.Commit(now, r, o)
}
