package redisstore

import (
	"context"
	"errors"
	"maps"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
)

const leaseTime = 30 * time.Second // after which what is left of a lease goes back

// process is what a process says of itself.
type process struct {
	name      string
	holder    string // random: this process, and not another one of the same name
	daily     int    // what WithDailyQuota says; 0 for nothing
	probeTime time.Duration
}

// quota shares the daily quotas of accounts with the other processes, by the ten rules of doc.go.
type quota struct {
	conn         *connection
	area         area
	process      process
	lease, share int // how much WithLease and WithShare ask for

	mu       sync.Mutex
	accounts map[string]*account
}

// How many accounts are kept without looking for those of days that are over.
const manyAccounts = 1000

func (q *quota) account(name string) *account {
	q.mu.Lock()
	defer q.mu.Unlock()
	a := q.accounts[name]
	if a == nil {
		if len(q.accounts) >= manyAccounts {
			q.sweep(time.Now())
		}
		a = &account{news: noHeader}
		q.accounts[name] = a
	}
	return a
}

// sweep forgets the accounts that know no day. One that is in use is known anew.
func (q *quota) sweep(now time.Time) {
	for name, a := range q.accounts {
		if !a.mu.TryLock() {
			continue
		}
		a.expire(now)
		if a.day.id == "" && a.filling == nil && len(a.ended) == 0 {
			delete(q.accounts, name)
		}
		a.mu.Unlock()
	}
}

// reserve takes a query from the lease, or asks Redis for some, or takes one from the share. Where Redis is
// away it asks again for a second.
func (q *quota) reserve(ctx context.Context, name string, keep int) (fiscope.Reservation, error) {
	a := q.account(name)
	failing, until := false, time.Time{}
	late := &lateReplies{told: make(chan struct{}, 1)}
	defer func() {
		for _, got := range late.close(a) {
			q.late(name, a, got)
		}
	}()
	var r taking
	for {
		if err := ctx.Err(); err != nil {
			return fiscope.Reservation{}, err
		}
		a.mu.Lock()
		now := time.Now()
		a.expire(now)
		if len(late.replies) > 0 {
			got := late.replies[0]
			late.replies = late.replies[1:]
			return q.decided(ctx, name, a, r, got), nil
		}
		if own, ok := a.known(keep, now); ok {
			a.mu.Unlock()
			return own, nil
		}
		if mine := a.filling; mine != nil && mine.free > 0 { // somebody fetches a lease that has one for this
			mine.free--
			a.mu.Unlock()
			select {
			case <-mine.done:
			case <-ctx.Done():
			}
			continue
		}
		mine := &filling{done: make(chan struct{}), free: q.lease - 1}
		switch {
		case a.day.id != "":
			a.filling = mine
		case !a.open: // one asks for all what is known of the day
			mine.free = math.MaxInt
			a.filling = mine
		}
		r = taking{n: q.lease, keep: keep, waited: a.waited}
		if a.day.id == "" { // one that Redis forgot is counted by the service, not by us
			r.daily = q.process.daily
		}
		if a.share.asked == "" || a.share.asked != a.day.id {
			r.share = q.share
		}
		var seq uint64
		seq, r.header, r.ended = a.call()
		a.mu.Unlock()

		if !failing {
			until = q.conn.until(ctx)
		}
		question, cancel := context.WithDeadline(ctx, until)
		got, err := q.take(question, name, r, seq, func(got reply) {
			if !late.add(a, got) {
				q.late(name, a, got)
			}
		})
		cancel()

		a.mu.Lock()
		close(mine.done)
		if a.filling == mine {
			a.filling = nil
		}
		if err == nil {
			return q.decided(ctx, name, a, r, got), nil
		}
		failing = true
		a.failed(r.header, r.ended)
		if ctx.Err() == nil && a.fromShare(keep) {
			own := a.hand(unitOfShare)
			a.mu.Unlock()
			return own, nil
		}
		a.mu.Unlock()
		if !time.Now().Before(until) {
			return fiscope.Reservation{Grant: fiscope.QuotaAway}, ctx.Err()
		}
		q.conn.pause(ctx, late.told, until)
	}
}

// decided is decide, and takes off what is to be taken off. It is called with the lock held, and unlocks.
func (q *quota) decided(ctx context.Context, name string, a *account, r taking, got reply) fiscope.Reservation {
	reservation, loose := q.decide(name, a, r, got)
	of := a.day.id
	a.mu.Unlock()
	q.takeOff(ctx, name, a, of, loose)
	return reservation
}

// decide makes a reservation of Redis' answer, and returns what is to be taken off the day. It is called with
// the lock held.
func (q *quota) decide(name string, a *account, r taking, got reply) (_ fiscope.Reservation, loose int) {
	loose = a.see(got)
	now := time.Now()
	a.open = got.status == "open"
	if r.share > 0 && got.day.id == a.day.id && got.day.kind != "minute" && a.share.asked == "" {
		a.share.asked = got.day.id
	}
	refused := fiscope.Reservation{Grant: fiscope.QuotaSpent, Left: got.day.left}
	switch got.status {
	case "day":
		if got.day.id != a.day.id { // a later answer told of another one
			return fiscope.Reservation{Token: unitOfDay + got.day.id}, loose
		}
		q.deposit(name, a, got.day.left, got.units-1)
		return a.hand(unitOfDay), loose
	case "look":
		return fiscope.Reservation{Token: unitOfLook + got.day.id}, loose
	case "open":
		return fiscope.Reservation{Token: unitOfOpen + got.token}, loose
	case "probe":
		return fiscope.Reservation{Token: unitOfProbe + got.token}, loose
	case "wait":
		a.wait, a.waited = now.Add(waitPause), got.probe
		return fiscope.Reservation{Grant: fiscope.QuotaWait}, loose
	case "spent":
		if got.day.kind != "minute" {
			refused.Until = time.UnixMilli(got.day.reset).UTC()
		}
		if got.day.left == 0 && r.keep == 0 && got.day.id == a.day.id && a.fromShare(r.keep) {
			return a.hand(unitOfShare), loose
		}
	case "held":
		refused.Left = 0
	default: // who waited for the first attempt of the day does not wait for the next
		return fiscope.Reservation{Grant: fiscope.QuotaAway}, loose
	}
	a.spent = spent{refused, r.keep, now.Add(remembered)}
	return refused, loose
}

// settle notes what came of a reservation, and tells Redis where the others must know at once.
func (q *quota) settle(ctx context.Context, name string, reservation fiscope.Reservation, o fiscope.Outcome) error {
	if reservation.Token == "" {
		return nil
	}
	a := q.account(name)
	kind, id := reservation.Token[:1], reservation.Token[1:]
	t := telling{header: headerOf(o), verdict: verdict(o), see: kind == unitOfLook}
	if kind != unitOfOpen && kind != unitOfProbe {
		return q.settleOfDay(ctx, name, a, kind, id, t, o.Written)
	}
	a.mu.Lock()
	a.ended = append(a.ended, id)
	a.mu.Unlock()
	if t.attempt = id; kind == unitOfOpen && t.header.remaining < 0 && t.verdict != "spent" {
		return nil // it goes along
	}
	return q.tell(ctx, name, a, t)
}

// settleOfDay settles a reservation of the day with an id.
func (q *quota) settleOfDay(ctx context.Context, name string, a *account, kind, id string, t telling, written int) error {
	t.header.day = id
	a.mu.Lock()
	a.expire(time.Now())
	if id != a.day.id {
		a.mu.Unlock()
		return nil // of another day
	}
	back := 0
	if kind != unitOfLook {
		back = q.unit(name, a, kind, written)
	}
	urgent := a.note(t.header) || t.see && t.header.remaining >= 0
	if a.refuses(t) {
		urgent, t.verdict = true, "stop"
		back, a.lease.units = back+a.lease.units, 0
	}
	if back > 0 {
		a.spent = spent{}
	}
	a.mu.Unlock()
	var err error
	if back != 0 {
		err = q.change(ctx, name, a, putting{day: id, delta: back})
	}
	if urgent {
		err = errors.Join(err, q.tell(ctx, name, a, t))
	}
	return err
}

// unit settles a query of the day's, or of the share, and returns what is to be put back, or taken off. It is
// called with the lock held.
func (q *quota) unit(name string, a *account, kind string, written int) (back int) {
	a.underWay--
	switch {
	case written > 0:
		if len(a.since) < manyEnded {
			a.since = append(a.since, time.Now())
		}
		extra := written - 1 // net/http repeated it by itself
		leased := min(extra, a.lease.units)
		a.lease.units -= leased
		return leased - extra
	case kind == unitOfShare:
		a.share.units++
	case q.lease > 1:
		q.deposit(name, a, a.day.left, 1)
	default:
		return 1
	}
	return 0
}

// headerOf returns what the headers of an attempt say.
func headerOf(o fiscope.Outcome) header {
	h := noHeader
	if o.RateLimit != nil && o.RateLimit.Remaining != fiscope.NoHeader {
		h.remaining = max(0, o.RateLimit.Remaining)
		if !o.RateLimit.Reset.IsZero() {
			h.reset = o.RateLimit.Reset.UnixMilli()
		}
	}
	return h
}

// verdict says what an answer means whose header says nothing.
func verdict(o fiscope.Outcome) string {
	switch {
	case o.Written == 0:
		return "" // it did not leave
	case o.StatusCode == http.StatusTooManyRequests:
		return "spent"
	case o.StatusCode == 0 || o.StatusCode >= 500:
		return "none"
	}
	return "open"
}

// tell tells Redis what came of an attempt.
func (q *quota) tell(ctx context.Context, name string, a *account, t telling) error {
	a.mu.Lock()
	var seq uint64
	var news header
	seq, news, t.ended = a.call()
	if t.header.remaining < 0 && t.attempt == "" {
		t.header, news = news, noHeader
	}
	a.failed(news, nil) // it goes along another time
	a.mu.Unlock()
	got, err := q.head(ctx, name, a, t, seq)
	if err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.failed(t.header, t.ended)
		return err
	}
	q.heard(ctx, name, a, got)
	return nil
}

// change puts queries back, or takes them off.
func (q *quota) change(ctx context.Context, name string, a *account, p putting) error {
	a.mu.Lock()
	a.seq++
	seq := a.seq
	a.mu.Unlock()
	got, err := q.put(ctx, name, a, p, seq)
	if err == nil {
		q.heard(ctx, name, a, got)
	}
	return err
}

// heard takes in what Redis says of the day.
func (q *quota) heard(ctx context.Context, name string, a *account, got reply) {
	a.mu.Lock()
	loose, of := a.see(got), a.day.id
	a.mu.Unlock()
	q.takeOff(ctx, name, a, of, loose)
}

// takeOff takes off a day what this process had under way when Redis forgot the day before.
func (q *quota) takeOff(ctx context.Context, name string, a *account, of string, loose int) {
	if loose > 0 {
		_ = q.change(context.WithoutCancel(ctx), name, a, putting{day: of, delta: -loose})
	}
}

// deposit keeps queries of the day for this process. It is called with the lock held.
func (q *quota) deposit(name string, a *account, left, units int) {
	if units <= 0 {
		return
	}
	if a.lease.units == 0 {
		a.lease.left = left
	}
	a.lease.units += units
	a.lease.left = min(a.lease.left, left)
	if a.lease.timer == nil {
		a.lease.timer = time.AfterFunc(leaseTime, func() { _ = q.giveBack(context.Background(), name, a, false) })
	} else {
		a.lease.timer.Reset(leaseTime)
	}
}

// release gives back all that this process holds.
func (q *quota) release(ctx context.Context) error {
	q.mu.Lock()
	accounts := maps.Clone(q.accounts)
	q.mu.Unlock()
	var errs []error
	for name, a := range accounts {
		errs = append(errs, q.giveBack(ctx, name, a, true))
	}
	return errors.Join(errs...)
}

// giveBack gives back the lease, and all with the share.
func (q *quota) giveBack(ctx context.Context, name string, a *account, all bool) error {
	a.mu.Lock()
	a.expire(time.Now())
	p := putting{day: a.day.id, delta: a.lease.units, share: all && a.share.asked != ""}
	a.lease.units = 0
	if all {
		p.delta += a.share.units
		a.share = share{}
		if a.lease.timer != nil {
			a.lease.timer.Stop()
		}
	}
	a.spent = spent{}
	a.mu.Unlock()
	if p.delta == 0 && !p.share {
		return nil
	}
	return q.change(ctx, name, a, p)
}

// late takes an answer for which nobody waited: what it grants is not lost.
func (q *quota) late(name string, a *account, got reply) {
	a.mu.Lock()
	loose, of := a.see(got), a.day.id
	switch {
	case got.status == "day" && got.day.id == of:
		q.deposit(name, a, got.day.left, got.units)
	case got.status == "open" || got.status == "probe":
		a.ended = append(a.ended, got.token)
	}
	a.mu.Unlock()
	ctx := context.Background()
	q.takeOff(ctx, name, a, of, loose)
	if got.status == "probe" {
		_ = q.tell(ctx, name, a, telling{header: noHeader, attempt: got.token})
	}
}
