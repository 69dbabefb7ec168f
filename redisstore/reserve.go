package redisstore

import (
	"context"
	"time"

	"github.com/fiscope/fiscope"
)

// reserve takes a query of the lease, or asks Redis for one, together with others who want one. Where Redis is
// away, it is asked again for a second, and one of the share is taken. waited is the first attempt of the day for
// which the caller waited, empty for none.
func (q *quota) reserve(ctx context.Context, name string, keep int, waited string) (fiscope.Reservation, error) {
	if err := ctx.Err(); err != nil {
		return fiscope.Reservation{}, err
	}
	a := q.account(name)
	a.mu.Lock()
	a.questions.waiting++
	r, err := q.wait(ctx, name, a, keep, waited)
	a.questions.waiting--
	u := a.unclaim(q.lease)
	a.mu.Unlock()
	q.giveUp(ctx, name, a, u)
	return r, err
}

// wait waits for a query. It is called with the lock held, and returns so.
func (q *quota) wait(ctx context.Context, name string, a *account, keep int, waited string) (fiscope.Reservation, error) {
	var until time.Time
	var told fiscope.Reservation
	for again := false; ; {
		now := time.Now()
		a.expire(now)
		own, ok := a.known(keep, now)
		switch {
		case ok:
			return own, nil
		case !again:
			until = q.conn.until(ctx)
		case a.fromShare(keep):
			return a.hand(unitOfShare), nil
		case !now.Before(until):
			return told, nil
		}
		mine, atOnce := a.questions.join(keep, waited, again, a.open) // where all go uncounted, each has a name of its own
		a.mu.Unlock()
		if atOnce {
			q.begin(context.WithoutCancel(ctx), name, a, mine)
		}
		inTime := mine.wait(ctx, until)
		a.mu.Lock()
		switch {
		case ctx.Err() != nil:
			return fiscope.Reservation{}, ctx.Err()
		case mine.failed && mine.waited == waited: // who waited for the first attempt of the day does not wait for the next
			return mine.told, nil
		}
		again, told = !inTime || mine.err != nil, mine.told
	}
}

// begin asks a question in the background: at once, or after a pause.
func (q *quota) begin(ctx context.Context, name string, a *account, mine *question) {
	if mine.again {
		time.AfterFunc(pauseAway(), func() { q.ask(ctx, name, a, mine) })
		return
	}
	go q.ask(ctx, name, a, mine)
}

// ask asks Redis a question, and then the next one, of those who came meanwhile.
func (q *quota) ask(ctx context.Context, name string, a *account, mine *question) {
	err := q.takeFor(ctx, name, a, mine)
	a.mu.Lock()
	next := a.questions.follow(mine, err, a.suffices)
	a.mu.Unlock()
	if next != nil {
		q.begin(ctx, name, a, next)
	}
}

// takeFor asks Redis for queries for the callers of a question.
func (q *quota) takeFor(ctx context.Context, name string, a *account, mine *question) error {
	a.mu.Lock()
	if a.questions.waiting == 0 {
		a.mu.Unlock()
		return context.Canceled
	}
	r := taking{taken: a.day.taken, callers: mine.callers, most: q.lease, keep: mine.keep, waited: mine.waited}
	if a.day.id == "" { // one that Redis forgot is counted by the service, not by us
		r.daily = q.process.daily
	}
	if a.releasing == 0 && a.share.asked == "" && q.share > 0 {
		r.share, r.holder, a.share.sent = q.share, a.holder, true
	}
	r.header, r.ended = a.along()
	r.header.day = a.day.id
	seq := a.call()
	a.mu.Unlock()
	err := q.take(ctx, name, seq, r, q.hear(ctx, name, a, func(got reply, err error) {
		switch {
		case err == nil:
			q.taken(name, a, mine, r, got)
		case r.header.day == "": // it may be one that goes first, and is not told so
			a.failed(noHeader, []string{got.token})
			if a.untold == nil {
				q.insist(name, a, telling{header: noHeader})
			}
		}
		a.questions.replied(mine, err)
	}))
	if err != nil {
		a.mu.Lock()
		a.failed(r.header, r.ended)
		a.mu.Unlock()
	}
	return err
}

// taken takes in what Redis says to a question. It is called with the lock held.
func (q *quota) taken(name string, a *account, mine *question, r taking, got reply) {
	a.open = got.status == "open"
	q.setAside(name, a, r, got)
	switch got.status {
	case "day":
		if got.day.id == a.day.id { // otherwise a later answer told of another one
			q.deposit(name, a, got.units)
		}
	case "look":
		a.granted = append(a.granted, fiscope.Reservation{Token: unitOfLook + got.day.id})
	case "open":
		a.granted = append(a.granted, fiscope.Reservation{Token: unitOfOpen + got.token})
	case "probe":
		a.granted = append(a.granted, fiscope.Reservation{Token: unitOfProbe + got.token})
	case "wait":
		a.wait, a.probe = time.Now().Add(waitPause), got.probe
	case "failed":
		mine.failed = true
	case "spent", "held":
		if q.conn.wasStopped() {
			mine.err = errSlow // it is asked again
		} else {
			a.refused(mine, got)
		}
	}
}

// setAside takes in what Redis says of the share. One that was asked for before a Release goes back. It is called
// with the lock held.
func (q *quota) setAside(name string, a *account, r taking, got reply) {
	switch {
	case r.share == 0 || got.day.id == "" || got.day.kind == "minute":
	case r.holder != a.holder:
		if got.share > 0 {
			go func() {
				_ = q.change(context.Background(), name, a, putting{day: got.day.id, holder: r.holder})
			}()
		}
	case got.day.id == a.day.id:
		if a.share.asked != got.day.id {
			a.share.asked, a.share.sent = got.day.id, true
		}
		if got.share > 0 && a.share.given == 0 {
			a.share.units, a.share.given = got.share, got.share
		}
	}
}
