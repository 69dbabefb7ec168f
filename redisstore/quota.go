package redisstore

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fiscope/fiscope"
)

const (
	leaseTime = 30 * time.Second // after which what is left of a lease goes back
	waitPause = 10 * time.Millisecond
)

// quota shares the daily quotas of accounts with the other processes.
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
		a = new(account)
		q.accounts[name] = a
	}
	return a
}

// sweep forgets the accounts that hold and know nothing. One that is in use is known anew: what was
// pending for it is lost, as when a process dies.
func (q *quota) sweep(now time.Time) {
	for name, a := range q.accounts {
		if !a.mu.TryLock() {
			continue
		}
		a.expire(now)
		if a.view.epoch == "" && a.pending == (learned{}) && a.filling == nil && a.ended == a.acked {
			delete(q.accounts, name)
		}
		a.mu.Unlock()
	}
}

// reserve takes a query from the lease, or asks Redis for some, or takes one from the share.
func (q *quota) reserve(ctx context.Context, name string, keep int) (fiscope.Reservation, error) {
	a := q.account(name)
	for {
		if err := ctx.Err(); err != nil {
			return fiscope.Reservation{}, err
		}
		a.mu.Lock()
		a.expire(time.Now())
		if r, ok := a.fromLease(keep); ok {
			a.mu.Unlock()
			return r, nil
		}
		if time.Now().Before(a.wait) {
			a.mu.Unlock()
			return fiscope.Reservation{Grant: fiscope.QuotaWait}, nil
		}
		if a.filling != nil { // somebody fetches a lease
			filled := a.filling
			a.mu.Unlock()
			select {
			case <-filled:
			case <-ctx.Done():
			}
			continue
		}
		var filled chan struct{}
		if q.lease > 1 {
			filled = make(chan struct{})
			a.filling = filled
		}
		r, seq := a.request(q.lease, keep, q.share)
		a.mu.Unlock()

		got, err := q.run(ctx, name, a, r, seq)

		a.mu.Lock()
		if filled != nil {
			close(filled)
			a.filling = nil
		}
		reservation, err := q.decide(ctx, name, a, r, got, err)
		a.mu.Unlock()
		return reservation, err
	}
}

// decide makes a reservation of Redis' answer. It is called with the lock held.
func (q *quota) decide(ctx context.Context, name string, a *account, r request, got reply, err error) (fiscope.Reservation, error) {
	now := time.Now()
	if err != nil {
		a.failed(r.news)
		if ctx.Err() != nil {
			return fiscope.Reservation{}, ctx.Err()
		}
		a.expire(now)
		if r.keep == 0 || a.view.left >= r.keep {
			if own, ok := a.fromShare(); ok {
				return own, nil
			}
		}
		return fiscope.Reservation{Grant: fiscope.QuotaSpent}, nil
	}
	a.see(got, r)
	a.expire(now)
	spent := fiscope.Reservation{Grant: fiscope.QuotaSpent, Left: got.left}
	if got.view.kind != "p" && got.view.reset > 0 {
		spent.Until = time.UnixMilli(got.view.reset).UTC()
	}
	switch got.status {
	case statusDay:
		q.deposit(name, a, got, got.units-1)
		return fiscope.Reservation{Token: unitOfDay + strconv.FormatInt(got.view.reset, 10)}, nil
	case statusOpen:
		return fiscope.Reservation{Token: unitOfOpen}, nil
	case statusProbe:
		return fiscope.Reservation{Token: unitOfProbe + r.token}, nil
	case statusWait:
		a.wait = now.Add(waitPause)
		return fiscope.Reservation{Grant: fiscope.QuotaWait}, nil
	case statusSpent:
		if got.left == 0 && r.keep == 0 {
			if own, ok := a.fromShare(); ok {
				return own, nil
			}
		}
		return spent, nil
	}
	return fiscope.Reservation{Grant: fiscope.QuotaSpent}, nil
}

// settle notes what came of a reservation, and tells Redis where the others must know at once.
func (q *quota) settle(ctx context.Context, name string, reservation fiscope.Reservation, o fiscope.Outcome) error {
	a := q.account(name)
	a.mu.Lock()
	a.expire(time.Now())
	var r request
	kind, id := reservation.Token, ""
	if kind != "" {
		kind, id = reservation.Token[:1], reservation.Token[1:]
	}
	urgent := a.note(o, kind == unitOfProbe)
	switch kind {
	case unitOfDay, unitOfShare:
		reset, _ := strconv.ParseInt(id, 10, 64)
		urgent = q.unit(name, a, kind, reset, o.Written) || urgent
	case unitOfOpen, unitOfProbe:
		a.ended++
		r.probe, urgent = strings.TrimSpace(id), true
	}
	if r.verdict = verdict(o); r.verdict == "spent" && a.view.kind != "h" {
		urgent = true
	}
	if !urgent {
		a.mu.Unlock()
		return nil
	}
	a.mu.Unlock()
	return q.tell(ctx, name, a, r)
}

// verdict says what an answer without a count means.
func verdict(o fiscope.Outcome) string {
	switch {
	case o.RateLimit != nil && o.RateLimit.Remaining != fiscope.NoHeader:
		return "header"
	case o.StatusCode == http.StatusTooManyRequests:
		return "spent"
	case o.StatusCode == 0 || o.StatusCode >= 500:
		return "none"
	}
	return "open"
}

// unit settles a reservation of the day's count, or of the share: what was not sent is there again. It
// reports whether Redis must know at once. It is called with the lock held.
func (q *quota) unit(name string, a *account, kind string, reset int64, written int) (urgent bool) {
	if !sameDay(a.view.reset, reset) || a.view.epoch == "" || a.view.kind == "p" {
		return false // of a day that is over
	}
	switch {
	case written == 0 && kind == unitOfShare:
		a.share.units++
	case written == 0 && q.lease > 1:
		q.deposit(name, a, reply{left: a.view.left, view: a.view}, 1)
	case written == 0:
		a.pending.back++
		return true
	case written > 1: // net/http repeated it by itself
		extra := written - 1
		leased := min(extra, a.lease.units)
		a.lease.units -= leased
		a.pending.extra += extra - leased
		return extra > leased
	}
	return false
}

// run tells Redis of an account what r says, and asks for what it wants.
func (q *quota) run(ctx context.Context, name string, a *account, r request, seq uint64) (reply, error) {
	start := time.Now()
	keys, args := r.keys(q.conn.keys, name), r.args(q.process, start)
	return ask(ctx, q.conn, &q.area, func(ctx context.Context) (reply, error) {
		values, err := quotaScript.Run(ctx, q.conn.client, keys, args...).Slice()
		if err != nil {
			return reply{}, err
		}
		return readReply(values, start, seq)
	}, func(got reply) { q.late(name, a, r.token, got) })
}

// tell says to Redis what is pending, and asks for nothing.
func (q *quota) tell(ctx context.Context, name string, a *account, r request) error {
	a.mu.Lock()
	told, seq := a.request(0, 0, 0)
	told.probe, told.verdict = r.probe, r.verdict
	if r.share < 0 {
		told.share = r.share
	}
	a.mu.Unlock()
	got, err := q.run(ctx, name, a, told, seq)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.failed(told.news)
		return err
	}
	a.see(got, told)
	return nil
}

// deposit keeps queries of the day's count for this process. It is called with the lock held.
func (q *quota) deposit(name string, a *account, of reply, units int) {
	if units <= 0 {
		return
	}
	if a.lease.units == 0 {
		a.lease = lease{left: of.left, reset: of.view.reset, until: of.view.until, timer: a.lease.timer}
	}
	a.lease.units += units
	a.lease.left = min(a.lease.left, of.left)
	if a.lease.timer == nil {
		a.lease.timer = time.AfterFunc(leaseTime, func() { q.unlease(name, a) })
	} else {
		a.lease.timer.Reset(leaseTime)
	}
}

// unlease gives back what is left of a lease.
func (q *quota) unlease(name string, a *account) {
	a.mu.Lock()
	a.expire(time.Now())
	a.pending.back += a.lease.units
	a.lease.units = 0
	nothing := a.pending.back == 0
	a.mu.Unlock()
	if nothing {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), q.conn.timeout)
	defer cancel()
	_ = q.tell(ctx, name, a, request{})
}

// release gives back all that this process holds.
func (q *quota) release(ctx context.Context) error {
	q.mu.Lock()
	accounts := maps.Clone(q.accounts)
	q.mu.Unlock()
	var errs []error
	for name, a := range accounts {
		errs = append(errs, q.releaseAccount(ctx, name, a))
	}
	return errors.Join(errs...)
}

// releaseAccount gives back leases and the share.
func (q *quota) releaseAccount(ctx context.Context, name string, a *account) error {
	a.mu.Lock()
	a.expire(time.Now())
	if a.lease.timer != nil {
		a.lease.timer.Stop()
	}
	a.pending.back += a.lease.units + a.share.units
	a.lease.units, a.share.units = 0, 0
	had := a.share.epoch != ""
	a.share = share{}
	nothing := a.pending.back == 0 && !had
	a.mu.Unlock()
	if nothing {
		return nil
	}
	return q.tell(ctx, name, a, request{share: -1})
}

// late takes an answer for which nobody waited: what it grants is not lost.
func (q *quota) late(name string, a *account, probe string, got reply) {
	a.mu.Lock()
	a.see(got, request{})
	var r request
	switch got.status {
	case statusDay:
		q.deposit(name, a, got, got.units)
		a.mu.Unlock()
		return
	case statusProbe:
		r.probe, r.verdict = probe, "none"
	case statusOpen:
	default:
		a.mu.Unlock()
		return
	}
	a.ended++
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), q.conn.timeout)
	defer cancel()
	_ = q.tell(ctx, name, a, r)
}
