package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
)

const leaseTime = 30 * time.Second // after which what is left of a lease goes back

// quota shares the daily quotas of accounts with the other processes, by the ten rules of doc.go.
type quota struct {
	scripts
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
		a = &account{news: noHeader, holder: rand.Text()}
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
		if a.day.id == "" && a.questions.waiting == 0 && a.questions.asked == nil && len(a.ended) == 0 {
			delete(q.accounts, name)
		}
		a.mu.Unlock()
	}
}

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
		mine, atOnce := a.questions.join(keep, waited, again, a.open && !again) // where all go uncounted, each has a name of its own
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
		if err == nil {
			q.taken(name, a, mine, r, got)
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
		if got.status == "spent" && q.conn.wasStopped() {
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
		a.share.asked, a.share.sent = got.day.id, true
		if got.share > 0 && a.share.given == 0 {
			a.share.units, a.share.given = got.share, got.share
		}
	}
}

// hear returns what takes in an answer of Redis, whenever it comes: f is called with the lock held.
func (q *quota) hear(ctx context.Context, name string, a *account, f func(reply, error)) func(reply, error) {
	return func(got reply, err error) {
		a.mu.Lock()
		if err == nil {
			a.see(got)
		}
		f(got, err)
		off := putting{day: a.day.id, delta: -a.loose}
		a.loose = 0
		u := a.unclaim(q.lease)
		a.mu.Unlock()
		if off.delta < 0 {
			_ = q.change(ctx, name, a, off)
		}
		q.giveUp(ctx, name, a, u)
	}
}

// giveUp gives up what nobody waits for.
func (q *quota) giveUp(ctx context.Context, name string, a *account, u unclaimed) {
	ctx = context.WithoutCancel(ctx)
	for _, r := range u.granted {
		_ = q.settle(ctx, name, r, fiscope.Outcome{})
	}
	if u.units > 0 {
		_ = q.change(ctx, name, a, putting{day: u.day, delta: u.units})
	}
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
	err := q.tell(ctx, name, a, t)
	a.mu.Lock()
	a.wait = time.Time{} // who comes now does not wait for it
	a.mu.Unlock()
	return err
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
	case kind == unitOfShare && a.share.given > 0:
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

// tell tells Redis what came of an attempt.
func (q *quota) tell(ctx context.Context, name string, a *account, t telling) error {
	a.mu.Lock()
	var news header
	news, t.ended = a.along()
	if t.header.remaining < 0 && t.attempt == "" {
		t.header, news = news, noHeader
	}
	a.failed(news, nil) // it goes along another time
	seq := a.call()
	a.mu.Unlock()
	err := q.head(ctx, name, seq, t, q.hear(ctx, name, a, func(reply, error) {}))
	if err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.failed(t.header, t.ended)
	}
	return err
}

// change puts queries back, or takes them off.
func (q *quota) change(ctx context.Context, name string, a *account, p putting) error {
	a.mu.Lock()
	seq := a.call()
	a.mu.Unlock()
	return q.put(ctx, name, seq, p, q.hear(ctx, name, a, func(reply, error) {}))
}

// deposit keeps queries of the day for this process. It is called with the lock held.
func (q *quota) deposit(name string, a *account, units int) {
	if units <= 0 {
		return
	}
	a.lease.units += units
	if q.lease == 1 { // it is for who waits
		return
	}
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
	p := putting{day: a.day.id, delta: a.lease.units}
	a.lease.units = 0
	if all {
		if a.share.sent {
			p.holder, p.used = a.holder, a.share.given-a.share.units
		}
		a.share, a.holder = share{}, rand.Text()
		if a.lease.timer != nil {
			a.lease.timer.Stop()
		}
	}
	a.spent = spent{}
	if p.delta == 0 && p.holder == "" {
		a.mu.Unlock()
		return nil
	}
	a.releasing++
	a.mu.Unlock()
	err := q.change(ctx, name, a, p)
	a.mu.Lock()
	a.releasing--
	a.mu.Unlock()
	return err
}
