package redisstore

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/fiscope/fiscope"
)

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
	err := q.tell(ctx, name, a, t)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wait = time.Time{} // who comes now does not wait for it
	if err != nil {
		q.insist(name, a, t)
	}
	return err
}

// settleOfDay settles a reservation of the day with an id.
func (q *quota) settleOfDay(ctx context.Context, name string, a *account, kind, id string, t telling, written int) error {
	t.header.day = id
	a.mu.Lock()
	if id != a.day.id {
		a.mu.Unlock()
		return nil // of another day
	}
	back := 0
	if kind != unitOfLook {
		back = q.unit(name, a, kind, written)
	}
	urgent := a.note(t.header) || t.see
	if a.refuses(t) {
		urgent, t.verdict = true, "stop"
		back, a.lease.units = back+a.lease.units, 0
	}
	if back > 0 {
		a.spent = spent{}
	}
	p := putting{day: id, delta: back}
	if kind == unitOfShare && a.share.sent && a.share.units == 0 { // it is used up, and held no longer
		p.holder, p.used, a.share.sent = a.holder, a.share.given, false
	}
	a.mu.Unlock()
	err := q.giveBackOf(ctx, name, a, p)
	if urgent {
		err = errors.Join(err, q.tell(ctx, name, a, t))
	}
	return err
}

// giveBackOf gives back what a reservation of the day was the last to hold. A share that Redis could not be told of is
// given back by Release.
func (q *quota) giveBackOf(ctx context.Context, name string, a *account, p putting) error {
	if p.delta == 0 && p.holder == "" {
		return nil
	}
	err := q.change(ctx, name, a, p)
	if err == nil || p.holder == "" {
		return err
	}
	a.mu.Lock()
	a.share.sent = a.share.sent || p.holder == a.holder && p.day == a.day.id
	a.mu.Unlock()
	if p.delta == 0 {
		return nil
	}
	return err
}

// unit settles a query of the day's, or of the share, and returns what is to be put back, or taken off. It is
// called with the lock held.
func (q *quota) unit(name string, a *account, kind string, written int) (back int) {
	a.underWay--
	switch {
	case written > 0:
		a.since = append(a.since, time.Now())
		extra := written - 1 // net/http repeated it by itself
		leased := min(extra, a.lease.units)
		a.lease.units -= leased
		return leased - extra
	case kind == unitOfShare && a.share.sent:
		a.share.units++
	case q.lease > 1:
		q.deposit(name, a, 1)
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
